#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "reports/report.h"

namespace tutti {
namespace {

constexpr auto kSyncEvery = std::chrono::seconds(1);  // it takes a millisecond or more

[[noreturn]] void fail(const std::string& path, const std::string& what, int error) {
  throw std::runtime_error(fmt::format("{}: {}: {}; is the folder writable, and is there space?",
                                       path, what, std::strerror(error)));
}

std::string journal_path(const std::string& folder) {
  return (std::filesystem::path(folder) / "records.jsonl").string();
}

// Length of the journal up to and with its last line end.
off_t whole_lines(int file, const std::string& path) {
  struct stat status;
  if (fstat(file, &status) != 0) fail(path, "cannot be examined", errno);
  char byte = 0;
  for (off_t end = status.st_size; end > 0; --end) {
    if (pread(file, &byte, 1, end - 1) != 1) fail(path, "cannot be read", errno);
    if (byte == '\n') return end;
  }
  return 0;
}

// A pipe or a special file cannot be synced, and does not need to be.
bool is_synced(int file) { return fdatasync(file) == 0 || errno == EINVAL; }

}  // namespace

Journal::Journal(const std::string& folder) : path_(journal_path(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(folder, "cannot be created", error.value());
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) fail(path_, "cannot be opened", errno);
  try {
    if (ftruncate(file_, whole_lines(file_, path_)) != 0) fail(path_, "cannot be shortened", errno);
  } catch (...) {
    close(file_);
    throw;
  }
}

Journal::~Journal() {
  // What it holds is in report.json, too.
  if (!is_synced(file_))
    fmt::print(stderr, "tutti: {}: cannot be synced: {}\n", path_, std::strerror(errno));
  close(file_);
}

void Journal::append(const Record& record) {
  const std::string line = to_json(record).dump() + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = write(file_, line.data() + written, line.size() - written);
    if (count < 0 && errno != EINTR) fail(path_, "cannot be written", errno);
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  const auto now = std::chrono::steady_clock::now();
  if (colour_of(record.verdict) != Colour::red && now - synced_ < kSyncEvery) return;
  synced_ = now;
  if (!is_synced(file_)) fail(path_, "cannot be synced", errno);
}

void require_new_folder(const std::string& folder) {
  if (!std::filesystem::exists(journal_path(folder))) return;
  throw std::runtime_error(
      fmt::format("{} exists: an earlier run wrote it; name a folder that has none, or remove it",
                  journal_path(folder)));
}

std::vector<Record> read_journal(const std::string& folder) {
  const std::string path = journal_path(folder);
  std::vector<Record> records;
  if (!std::filesystem::exists(path)) return records;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "cannot be opened", errno);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (file.eof()) break;  // no line end: a killed run left half a line
    try {
      records.push_back(record_from_json(nlohmann::json::parse(line)));
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format(
          "{}:{}: {}; remove the line, or start a new report folder", path, number, error.what()));
    }
  }
  return records;
}

}  // namespace tutti
