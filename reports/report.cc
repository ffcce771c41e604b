// The run directory and the registry of formats.
#include "reports/report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <stdexcept>

namespace tutti {
namespace {

namespace fs = std::filesystem;

std::vector<Format>& registry() {
  static std::vector<Format> all;
  return all;
}

std::string file_name_of(const std::string& text, const std::string& when_empty) {
  std::string name;
  for (const char character : text) {
    const bool plain =
        (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
        (character >= '0' && character <= '9') || character == '.' || character == '_';
    name += plain ? character : '-';
  }
  // A leading dot would hide the folder, a leading dash would look like an option.
  name.erase(0, std::min(name.find_first_not_of(".-"), name.size()));
  return name.empty() ? when_empty : name;
}

std::string time_in_name() {
  const std::time_t now = std::time(nullptr);
  std::tm utc;
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return text;
}

// Writes beside `path` and renames, so that a reader sees the old file or the new one.
void replace_file(const fs::path& path, const std::string& content) {
  const std::string beside = fmt::format("{}.{}.partial", path.string(), getpid());
  const auto fail = [&](const char* what) {
    const std::string cause = std::strerror(errno);
    unlink(beside.c_str());
    throw std::runtime_error(fmt::format("{}: {}: {}; is the folder writable, and is there space?",
                                         path.string(), what, cause));
  };
  std::FILE* file = std::fopen(beside.c_str(), "wbe");
  if (file == nullptr) fail("cannot be created");
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size() &&
                       std::fflush(file) == 0 && fdatasync(fileno(file)) == 0;
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written) errno = error;
  if (!written || !closed) fail("cannot be written");
  if (std::rename(beside.c_str(), path.c_str()) != 0) fail("cannot be replaced");
}

}  // namespace

FormatRegistration::FormatRegistration(Format format) {
  std::vector<Format>& all = registry();
  for (const Format& other : all) {
    if (other.name != format.name && other.file_name != format.file_name) continue;
    fmt::print(stderr,
               "tutti: two report formats are called {} or write {}; rename one in reports/\n",
               format.name, format.file_name);
    std::abort();
  }
  const auto later = [](const Format& left, const Format& right) { return left.name < right.name; };
  all.insert(std::upper_bound(all.begin(), all.end(), format, later), format);
}

const std::vector<Format>& formats() { return registry(); }

void write_reports(const std::string& folder, const RunInfo& run,
                   const std::vector<Record>& records) {
  fs::create_directories(folder);
  for (const Format& format : formats())
    replace_file(fs::path(folder) / format.file_name, format.render(run, records));
}

std::string default_folder(const std::string& base, const std::string& machine,
                           const std::string& driver) {
  const fs::path out = fs::path(base) / "reports" / "out";
  fs::create_directories(out);
  const std::string name = fmt::format("{}-{}-{}", file_name_of(machine, "machine"),
                                       file_name_of(driver, "no_driver"), time_in_name());
  // Making the folder is what claims the name: two runs that start together get two folders.
  for (int attempt = 1; attempt <= 1000; ++attempt) {
    const fs::path folder = out / (attempt == 1 ? name : fmt::format("{}-{}", name, attempt));
    if (fs::create_directory(folder)) return folder.string();
  }
  throw std::runtime_error(
      fmt::format("{}: 1000 folders called {} exist; remove some", out.string(), name));
}

void point_latest(const std::string& folder) {
  const fs::path target = fs::absolute(fs::path(folder) / "").lexically_normal().parent_path();
  const fs::path link = target.parent_path() / "latest";
  const fs::path beside = target.parent_path() / fmt::format("latest.{}.partial", getpid());
  fs::remove(beside);
  fs::create_symlink(target.filename(), beside);
  std::error_code error;
  fs::rename(beside, link, error);
  if (!error) return;
  fs::remove(beside);
  throw std::runtime_error(
      fmt::format("{}: cannot be replaced: {}; move it away, it should be a link", link.string(),
                  error.message()));
}

}  // namespace tutti
