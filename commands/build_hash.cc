#include "commands/build_hash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "fixtures/data/data.h"

namespace tutti {

namespace {

// Mapped, because ranks of one host then read the same pages.
std::uint64_t hash_of_file(const std::string& name) {
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  void* bytes = MAP_FAILED;
  if (file >= 0 && ::fstat(file, &status) == 0 && status.st_size > 0) {
    bytes =
        ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  }
  const int error = errno;
  if (file >= 0) ::close(file);
  if (bytes == MAP_FAILED) {
    throw std::runtime_error(
        fmt::format("{} cannot be read: {}; install tutti again", name, std::strerror(error)));
  }
  const std::uint64_t hash = hash_bytes(bytes, static_cast<std::uint64_t>(status.st_size));
  ::munmap(bytes, static_cast<std::size_t>(status.st_size));
  return hash;
}

}  // namespace

std::uint64_t hash_of_files(const std::vector<std::string>& files) {
  std::vector<std::uint64_t> hashes;
  for (const std::string& file : files) hashes.push_back(hash_of_file(file));
  return hash_bytes(hashes.data(), hashes.size() * sizeof hashes[0]);
}

}  // namespace tutti
