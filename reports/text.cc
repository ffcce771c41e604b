#include "reports/text.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

namespace tutti {
namespace {

constexpr unsigned char kDelete = 0x7f;

// What a byte of valid UTF-8 becomes in XML. Line ends are escaped because parsers normalise them
// in attributes.
std::string xml_of(char character) {
  switch (character) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&apos;";
    case '\t':
      return "&#9;";
    case '\n':
      return "&#10;";
    case '\r':
      return "&#13;";
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(character);
  return byte < ' ' || byte == kDelete ? fmt::format("\\x{:02x}", byte) : std::string(1, character);
}

// U+FFFE and U+FFFF are valid UTF-8, but no XML characters.
void spell_out(std::string& text, const std::string& character, const std::string& spelling) {
  for (std::size_t at = text.find(character); at != std::string::npos;
       at = text.find(character, at)) {
    text.replace(at, character.size(), spelling);
    at += spelling.size();
  }
}

}  // namespace

std::string valid_utf8(const std::string& text) {
  const auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, replace))
      .get<std::string>();
}

std::string escape_xml(const std::string& text) {
  std::string escaped;
  for (const char character : valid_utf8(text)) escaped += xml_of(character);
  spell_out(escaped, "\xEF\xBF\xBE", "\\ufffe");
  spell_out(escaped, "\xEF\xBF\xBF", "\\uffff");
  return escaped;
}

std::string printable(const std::string& text) {
  std::string result;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool plain = character == '\n' || (byte >= ' ' && byte < kDelete);
    result += plain ? std::string(1, character) : fmt::format("\\x{:02x}", byte);
  }
  return result;
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char character : text)
    quoted += character == '\'' ? "'\\''" : std::string(1, character);
  return quoted + "'";
}

std::string size_in_words(std::uint64_t bytes) {
  constexpr std::array kUnits{"bytes", "KiB", "MiB"};
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

}  // namespace tutti
