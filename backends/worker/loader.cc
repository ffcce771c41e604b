#include "backends/worker/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdio>

#include "backends/worker/worker.h"

namespace tutti {

std::string problem_of(const tutti_backend* backend) {
  if (!backend) return "tutti_plugin returned a null table";
  if (backend->abi_version != TUTTI_ABI_VERSION) {
    return fmt::format(
        "it was built for ABI version {}, this tutti speaks version {}; rebuild it against {}",
        backend->abi_version, TUTTI_ABI_VERSION, "backends/backend.h of this tutti");
  }
  if (backend->size < sizeof(tutti_backend)) {
    return fmt::format(
        "its table has {} bytes, version {} needs {}; set size = sizeof(tutti_backend)",
        backend->size, TUTTI_ABI_VERSION, sizeof(tutti_backend));
  }
  const std::pair<const char*, bool> required[] = {
      {"name", backend->name != nullptr},       {"paths", backend->paths && backend->paths[0]},
      {"version", backend->version != nullptr}, {"plan", backend->plan != nullptr},
      {"create", backend->create != nullptr},   {"run", backend->run != nullptr},
      {"abort", backend->abort != nullptr},     {"poll_error", backend->poll_error != nullptr},
      {"destroy", backend->destroy != nullptr}, {"reason", backend->reason != nullptr}};
  for (const auto& [field, there] : required) {
    if (!there)
      return fmt::format("its table has no '{}', which every backend must fill in", field);
  }
  const int own_buffers = (backend->allocate != nullptr) + (backend->free_buffer != nullptr) +
                          (backend->register_buffer != nullptr);
  if (own_buffers % 3 != 0)
    return "allocate, free_buffer and register_buffer belong together: fill in all three or none";
  if (!(backend->memory & (TUTTI_MEMORY_HOST | TUTTI_MEMORY_CUDA))) {
    return "its table takes no kind of memory; set memory to TUTTI_MEMORY_HOST, TUTTI_MEMORY_CUDA "
           "or both";
  }
  return "";
}

const tutti_backend& load_plugin(const std::string& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw PluginError(fmt::format("cannot load the plugin {}: {}", file, ::dlerror()));
  auto plugin = reinterpret_cast<const tutti_backend* (*)()>(::dlsym(library, "tutti_plugin"));
  if (!plugin) {
    throw PluginError(fmt::format(
        "{} exports no function 'tutti_plugin'; export it with C linkage and default visibility",
        file));
  }
  const tutti_backend* backend = plugin();
  const std::string problem = problem_of(backend);
  if (!problem.empty()) throw PluginError(fmt::format("{}: {}", file, problem));
  return *backend;
}

}  // namespace tutti

extern "C" __attribute__((visibility("default"))) int tutti_check_backend(
    const tutti_backend* backend, char* message, size_t message_bytes) {
  const std::string problem = tutti::problem_of(backend);
  if (message_bytes) std::snprintf(message, message_bytes, "%s", problem.c_str());
  return problem.empty() ? 1 : 0;
}
