// What a build is told apart by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

// Of the contents of files, in that order. Throws std::runtime_error for one that cannot be read.
std::uint64_t hash_of_files(const std::vector<std::string>& files);

}  // namespace tutti
