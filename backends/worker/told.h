// What a worker tells its rank of a piece of work, whatever becomes of it.
#pragma once

#include <exception>
#include <nlohmann/json.hpp>

#include "backends/worker/backend_call.h"
#include "fixtures/world/worker_page.h"

namespace tutti {

// An exception is an answer, too; so is what fired.
template <typename Body>
nlohmann::json told(const WorkerPage* page, Body body) {
  nlohmann::json answer;
  try {
    answer = body();
  } catch (const BackendThrew& error) {
    answer = {{"threw", error.what()}};
  } catch (const std::exception& error) {
    answer = {{"suite_error", error.what()}};
  }
  if (page->fired[0]) answer["fired"] = page->fired;
  return answer;
}

}  // namespace tutti
