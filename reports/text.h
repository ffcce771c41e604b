// Texts from backends (last words, backtraces) may hold any bytes; here they are made fit for each
// output.
#pragma once

#include <cstdint>
#include <string>

namespace tutti {

// The text as valid UTF-8: each bad byte becomes U+FFFD.
std::string valid_utf8(const std::string& text);

// The text for XML 1.0, as content or inside a quoted attribute: valid UTF-8 with markup escaped.
// Characters that XML cannot hold are spelled out: the escape character becomes the four characters
// \x1b.
std::string escape_xml(const std::string& text);

// The text for a terminal: printable ASCII and line ends stay, any other byte becomes \xNN.
std::string printable(const std::string& text);

// The text as one word for a POSIX shell.
std::string shell_quoted(const std::string& text);

// "8 KiB": bytes in the largest unit, up to MiB, that leaves them whole.
std::string size_in_words(std::uint64_t bytes);

}  // namespace tutti
