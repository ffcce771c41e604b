#include "suites/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "fixtures/cases/types.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".so");
}

BackendEntry read_folder(const fs::path& folder) {
  BackendEntry entry;
  entry.name = folder.filename().string();
  entry.folder = folder.string();
  entry.claims = load_claims((folder / "claims.toml").string());
  entry.expected = load_expected((folder / "expected.toml").string());
  const fs::path plugin = folder / ("lib" + entry.name + ".so");
  if (fs::exists(plugin)) entry.plugin = plugin.string();
  if (entry.plugin.empty() && entry.claims.launch.empty()) {
    throw CatalogError(fmt::format("{} has neither {} nor a [worker] launch line in claims.toml",
                                   folder.string(), plugin.filename().string()));
  }
  return entry;
}

std::vector<BackendEntry> read_folders(const fs::path& parent) {
  std::vector<BackendEntry> entries;
  std::error_code ignored;
  for (const auto& folder : fs::directory_iterator(parent, ignored)) {
    if (folder.is_directory()) entries.push_back(read_folder(folder.path()));
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

BackendEntry read_plugin(const std::string& path) {
  if (!fs::exists(path)) throw CatalogError(fmt::format("there is no plugin {}", path));
  if (fs::is_directory(path)) {
    BackendEntry entry = read_folder(fs::canonical(path));
    entry.is_named = true;
    return entry;
  }
  BackendEntry entry;
  // One path for one file, and the name that it was given under.
  const fs::path named = fs::absolute(path);
  entry.plugin = (fs::canonical(named.parent_path()) / named.filename()).string();
  entry.folder = fs::path(entry.plugin).parent_path().string();
  entry.is_named = true;
  std::string stem = fs::path(path).stem().string();
  const fs::path beside = fs::path(entry.plugin).replace_extension(".toml");
  if (stem.starts_with("lib")) stem = stem.substr(3);
  entry.name = stem;
  const fs::path folder_claims = fs::path(entry.folder) / "claims.toml";
  entry.claims = load_claims((fs::exists(beside) ? beside : folder_claims).string());
  entry.expected = load_expected((fs::path(entry.folder) / "expected.toml").string());
  return entry;
}

}  // namespace

Places places() {
  const fs::path root = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  return {(root / "lib" / "tutti").string(), (root / "share" / "tutti").string()};
}

std::vector<BackendEntry> installed_backends(const Places& places) {
  return read_folders(fs::path(places.lib) / "backends");
}

BackendEntry find_backend(const Places& places, const std::string& name_or_path) {
  if (is_path(name_or_path)) return read_plugin(name_or_path);
  std::vector<std::string> names;
  for (BackendEntry& entry : installed_backends(places)) {
    if (entry.name == name_or_path) return entry;
    names.push_back(entry.name);
  }
  throw CatalogError(
      fmt::format("unknown backend '{}'; nearest: {}. A plugin, or the folder of one, is named by "
                  "its path: ./libmine.so",
                  name_or_path, nearest(name_or_path, names)));
}

std::vector<BackendEntry> choose_backends(const Places& places,
                                          const std::vector<std::string>& names) {
  if (names.empty()) return installed_backends(places);
  std::vector<BackendEntry> chosen;
  for (const std::string& name : names) {
    BackendEntry entry = find_backend(places, name);
    for (const BackendEntry& other : chosen) {
      if (other.name != entry.name) continue;
      throw CatalogError(fmt::format(
          "two backends are called {} ({} and {}): name one of them, or rename a plugin",
          entry.name, other.plugin.empty() ? other.folder : other.plugin,
          entry.plugin.empty() ? entry.folder : entry.plugin));
    }
    chosen.push_back(std::move(entry));
  }
  return chosen;
}

std::map<std::string, std::string> worker_environment(
    const Places& places, const std::map<std::string, std::string>& own) {
  std::map<std::string, std::string> all = own;
  for (const BackendEntry& entry : installed_backends(places))
    all.insert(entry.claims.environment.begin(), entry.claims.environment.end());
  return all;
}

std::string hosting_problem(const BackendEntry& backend, bool in_rank, int hosts) {
  if (in_rank && !backend.claims.launch.empty())
    return backend.name + " brings a worker of its own, so --isolation none cannot host it";
  if (in_rank && backend.claims.mpi_world)
    return backend.name + " needs an MPI world of its own, so --isolation none cannot host it";
  if (hosts > 1 && backend.claims.mpi_world) {
    return fmt::format(
        "{} needs an MPI world of its own, which is started on one host only, and these ranks are "
        "on {}",
        backend.name, hosts);
  }
  return "";
}

WorkerCommand worker_command(const BackendEntry& backend, const Places& places, bool in_rank) {
  WorkerCommand command;
  command.environment = worker_environment(places, backend.claims.environment);
  command.environment["TUTTI_WORKER_LIBRARY"] = places.lib + "/libtutti_worker.so";
  command.plugin = backend.plugin;
  command.in_rank = in_rank;
  if (const std::string problem = hosting_problem(backend, in_rank, 1); !problem.empty())
    throw CatalogError(problem);
  const std::string native = places.lib + "/tutti-worker";
  if (backend.claims.mpi_world) command.mpi.member = native;
  if (backend.claims.launch.empty()) {
    command.arguments = {native, backend.plugin};
    return command;
  }
  command.arguments = backend.claims.launch;
  for (std::string& argument : command.arguments) {
    const fs::path file = fs::path(backend.folder) / argument;
    if (&argument != &command.arguments.front() && fs::exists(file)) argument = file.string();
  }
  return command;
}

}  // namespace tutti
