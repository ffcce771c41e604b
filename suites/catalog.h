// The backends that there are: folders found beside the binary, and plugins named on the command
// line.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "fixtures/claims/claims.h"
#include "fixtures/world/worker_process.h"

namespace tutti {

struct BackendEntry {
  std::string name;
  std::string folder;
  std::string plugin;     // shared library; empty for a backend that brings a worker of its own
  bool is_named = false;  // given as a path on the command line
  Claims claims;
  std::vector<Expected> expected;
};

// Where the parts of this installation lie, relative to the running binary.
struct Places {
  std::string lib;    // .../lib/tutti
  std::string share;  // .../share/tutti
};
Places places();

struct CatalogError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The program that should host a backend is not on this machine.
struct NotInstalledError : CatalogError {
  using CatalogError::CatalogError;
};

// Every backend folder, by name. Throws CatalogError or ClaimsError when a folder is malformed.
std::vector<BackendEntry> installed_backends(const Places& places);
// The entry for a name, or for a path (it contains a slash or ends in .so): a plugin with its
// claims beside it in <plugin>.toml or claims.toml, or a folder as installed backends have. Throws
// CatalogError with the nearest names.
BackendEntry find_backend(const Places& places, const std::string& name_or_path);

// The backends of a run: those named, or all that are installed. Throws CatalogError when two have
// the same name: their records could not be told apart.
std::vector<BackendEntry> choose_backends(const Places& places,
                                          const std::vector<std::string>& names);

// What keeps workers safe: the variables that any installed backend declares, since a backend may
// use the library of another one, and those of `own`, which win.
std::map<std::string, std::string> worker_environment(
    const Places& places, const std::map<std::string, std::string>& own = {});

// Why a job cannot host a backend: `in_rank` is --isolation none, `hosts` those that its ranks are
// on. Empty when it can.
std::string hosting_problem(const BackendEntry& backend, bool in_rank, int hosts);

// How its workers are started. Throws CatalogError when one cannot be hosted in a rank and shall.
WorkerCommand worker_command(const BackendEntry& backend, const Places& places, bool in_rank);

}  // namespace tutti
