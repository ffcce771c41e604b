#include "backends/worker/plan_answers.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <map>
#include <unordered_map>

#include "backends/worker/backend_call.h"
#include "fixtures/nodes/compose.h"

namespace tutti {

namespace {

using Row = std::vector<std::uint16_t>;

// Numbers for texts, and for rows of them.
class Interned {
 public:
  std::uint16_t text(const std::string& text) {
    const auto [found, is_new] = texts_.try_emplace(text, answers_.texts.size());
    if (is_new) answers_.texts.push_back(text);
    return static_cast<std::uint16_t>(found->second);
  }
  const std::string& text_of(std::uint16_t number) const { return answers_.texts[number]; }
  void add_place(const Row& row) {
    const auto [found, is_new] = rows_.try_emplace(row, answers_.rows.size());
    if (is_new) answers_.rows.push_back(row);
    answers_.row_of.push_back(static_cast<std::uint32_t>(found->second));
  }
  PlanAnswers& answers() { return answers_; }

 private:
  PlanAnswers answers_;
  std::unordered_map<std::string, std::size_t> texts_;
  std::map<Row, std::size_t> rows_;
};

// Addresses that are never looked at, each aligned to 256 bytes, and far from each other.
constexpr std::uintptr_t kSend = std::uintptr_t{1} << 40;
constexpr std::uintptr_t kRecv = std::uintptr_t{2} << 40;

tutti_request request_of(const Allreduce& call) {
  const std::uintptr_t element = bytes_of(call.dtype);
  const std::uintptr_t send = kSend + call.send_offset * element;
  tutti_request request{};
  request.size = sizeof request;
  request.collective = TUTTI_ALLREDUCE;
  request.send = reinterpret_cast<const void*>(send);
  request.recv =
      reinterpret_cast<void*>(call.place == Place::in ? send : kRecv + call.recv_offset * element);
  request.count = call.count;
  request.dtype = call.dtype;
  request.op = call.op;
  return request;
}

class Asker {
 public:
  Asker(const tutti_backend& backend, Interned& interned, bool with_reasons)
      : backend_(backend),
        interned_(interned),
        with_reasons_(with_reasons),
        refused_(interned.text(kPlanRefused)),
        unknown_(interned.text(kPlanUnknown)) {
    for (const char* const* path = backend.paths; *path; ++path)
      paths_.emplace_back(*path, interned.text(std::string(kPlanPath) + *path));
  }

  std::uint16_t ask(const tutti_facts& facts, int rank, const tutti_request& request) {
    plan_.text[0] = '\0';
    plan_.answer = TUTTI_PLAN_UNKNOWN;
    ++interned_.answers().calls;
    try {
      const tutti_status status = backend_call(backend_.plan, &facts, rank, &request, &plan_);
      plan_.text[sizeof plan_.text - 1] = '\0';
      if (status != TUTTI_OK)
        return interned_.text(fmt::format("{}{}: {}", kPlanFailed, name_of(status), plan_.text));
    } catch (const BackendThrew& error) {
      return interned_.text(kPlanFailed + std::string(error.what()));
    }
    return number_of_answer();
  }

 private:
  std::uint16_t number_of_refusal() {
    if (plan_.text[0] == '\0') return interned_.text(kPlanSilent);
    return with_reasons_ ? interned_.text(fmt::format("{}: {}", kPlanRefused, plan_.text))
                         : refused_;
  }

  std::uint16_t number_of_answer() {
    if (plan_.answer == TUTTI_PLAN_UNKNOWN) return unknown_;
    if (plan_.answer == TUTTI_PLAN_REFUSED) return number_of_refusal();
    for (const auto& [name, number] : paths_) {
      if (plan_.answer == TUTTI_PLAN_PATH && std::strcmp(name, plan_.text) == 0) return number;
    }
    return interned_.text(fmt::format("{}answer {} with '{}', which is no path of this backend",
                                      kPlanFailed, static_cast<int>(plan_.answer), plan_.text));
  }

  const tutti_backend& backend_;
  Interned& interned_;
  const bool with_reasons_;
  std::uint16_t refused_, unknown_;
  std::vector<std::pair<const char*, std::uint16_t>> paths_;
  tutti_plan plan_{.size = sizeof(tutti_plan), .answer = TUTTI_PLAN_UNKNOWN, .text = ""};
};

Row row_of(Asker& asker, Interned& interned, const tutti_facts& facts,
           const std::vector<tutti_request>& requests) {
  const int last = facts.world - 1;
  Row row;
  row.reserve(requests.size());
  for (const tutti_request& request : requests) {
    const std::uint16_t answer = asker.ask(facts, 0, request);
    const std::uint16_t other = last > 0 ? asker.ask(facts, last, request) : answer;
    const auto is_refusal = [&](std::uint16_t one) {
      return interned.text_of(one).starts_with(kPlanRefused);  // reasons may name the rank
    };
    const bool is_alike = answer == other || (is_refusal(answer) && is_refusal(other));
    row.push_back(is_alike ? answer
                           : interned.text(fmt::format("{}rank 0: {}; rank {}: {}", kPlanSplit,
                                                       interned.text_of(answer), last,
                                                       interned.text_of(other))));
  }
  return row;
}

}  // namespace

PlanAnswers answers_of_plan(const tutti_backend& backend, const PlanSweep& sweep,
                            WorkerPage* page) {
  using Clock = std::chrono::steady_clock;
  std::vector<tutti_request> requests;
  for (const Allreduce& call : sweep.requests) requests.push_back(request_of(call));
  Interned interned;
  Asker asker(backend, interned, sweep.with_reasons);
  Clock::duration asked{};
  for (std::size_t place = 0; place < sweep.places.size(); ++place) {
    Node node = sweep.base;
    change(node, parts_of_node(sweep.places[place].changes));
    const Facts facts(node, sweep.places[place].world);
    set_phase(page, phase_of_place(place).c_str());
    const auto start = Clock::now();
    const Row row = row_of(asker, interned, facts.abi(), requests);
    asked += Clock::now() - start;
    interned.add_place(row);
  }
  interned.answers().seconds = std::chrono::duration<double>(asked).count();
  return interned.answers();
}

}  // namespace tutti
