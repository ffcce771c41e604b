// Loads a plugin: a shared library that exports `tutti_plugin` (backends/backend.h).
#pragma once

#include <stdexcept>
#include <string>

#include "backends/backend.h"

namespace tutti {

struct PluginError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The library stays loaded. Throws PluginError that names the file, what is wrong and the remedy.
const tutti_backend& load_plugin(const std::string& file);

// What is wrong with a table; empty when it is sound.
std::string problem_of(const tutti_backend* backend);

}  // namespace tutti
