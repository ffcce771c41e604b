// Calls into the backend under test, kept apart from tutti's own work: what leaves the backend by
// an exception is the backend's failure, anything else is the suite's.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "backends/backend.h"

namespace tutti {

struct BackendThrew : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A status that is not OK, from a function that is called on behalf of a case's calls (allocate,
// register_buffer): it is the answer to those calls.
struct BackendDeclined : std::runtime_error {
  BackendDeclined(tutti_status status, const std::string& reason)
      : std::runtime_error(reason), status(status) {}
  tutti_status status;
};

// `function` with an exception turned into BackendThrew.
template <typename Function, typename... Arguments>
auto backend_call(Function function, Arguments... arguments) {
  try {
    return function(arguments...);
  } catch (const std::exception& error) {
    throw BackendThrew(error.what());
  } catch (...) {
    throw BackendThrew("an exception that is no std::exception");
  }
}

inline std::string reason_of(const tutti_backend& backend, void* communicator) {
  const char* reason = backend_call(backend.reason, communicator);
  return reason ? reason : "";
}

inline std::string name_of(tutti_status status) {
  constexpr const char* kNames[] = {"ok",        "unsupported", "error",        "peer_failed",
                                    "timed_out", "aborted",     "not_installed"};
  const int number = static_cast<int>(status);
  if (number >= 0 && number < 7) return kNames[number];
  return "unknown status " + std::to_string(number);
}

}  // namespace tutti
