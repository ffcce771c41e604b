#include "suites/selection/ask_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

constexpr std::size_t kPlacesAtOnce = 512;
constexpr std::size_t kBrokenMost = 16;  // each costs a worker, and its backtrace
constexpr std::chrono::milliseconds kTimeout{60'000};

// The answers of more places, behind those that are there.
void append(const PlanAnswers& more, PlanAnswers& all) {
  std::vector<std::uint16_t> text_of;
  for (const std::string& text : more.texts) {
    auto found = std::find(all.texts.begin(), all.texts.end(), text);
    if (found == all.texts.end()) found = all.texts.insert(found, text);
    text_of.push_back(static_cast<std::uint16_t>(found - all.texts.begin()));
  }
  std::vector<std::uint32_t> row_of;
  for (std::vector<std::uint16_t> row : more.rows) {
    for (std::uint16_t& text : row) text = text_of[text];
    auto found = std::find(all.rows.begin(), all.rows.end(), row);
    if (found == all.rows.end()) found = all.rows.insert(found, std::move(row));
    row_of.push_back(static_cast<std::uint32_t>(found - all.rows.begin()));
  }
  for (const std::uint32_t row : more.row_of) all.row_of.push_back(row_of[row]);
  all.calls += more.calls;
  all.seconds += more.seconds;
}

class Asking {
 public:
  Asking(Runner& runner, const BackendEntry& backend, const PlanSweep& sweep)
      : runner_(runner), backend_(backend), sweep_(sweep) {}

  // Places `first` to `end`; those behind one that kills the worker are asked in another one.
  void ask(std::size_t first, std::size_t end) {
    while (first < end) {
      const std::size_t broken_at = ask_some(first, end);
      if (broken_at == end) return;
      ask(first, broken_at);               // what the dead worker knew is lost
      asked_.answers.row_of.push_back(0);  // nobody looks at it
      first = broken_at + 1;
      if (asked_.broken.size() >= kBrokenMost) break;
    }
  }
  AskedPlan take() { return std::move(asked_); }
  bool gave_up() const { return asked_.broken.size() >= kBrokenMost; }
  void leave_out_the_rest() {
    for (std::size_t place = asked_.answers.row_of.size(); place < sweep_.places.size(); ++place) {
      asked_.answers.row_of.push_back(0);
      asked_.broken.emplace(place, Problem{Verdict::missing, "not asked: too many workers died"});
    }
  }

 private:
  // The place that broke the worker; `end` when none did, and then the answers are there.
  std::size_t ask_some(std::size_t first, std::size_t end) {
    PlanSweep some{sweep_.base, {}, sweep_.requests, sweep_.with_reasons};
    some.places.assign(sweep_.places.begin() + static_cast<std::ptrdiff_t>(first),
                       sweep_.places.begin() + static_cast<std::ptrdiff_t>(end));
    const Reply reply = runner_.ask_alone(backend_, Kind::sweep, to_text(some), kTimeout);
    if (reply.state == Reply::State::answered) {
      if (!reply.body.contains("answers"))
        throw CatalogError(fmt::format("the worker of {} could not ask its plan: {}", backend_.name,
                                       reply.body.dump()));
      append(plan_answers_from(reply.body["answers"].get<std::string>()), asked_.answers);
      return end;
    }
    const long at = place_of_phase(reply.evidence.value("phase", std::string()));
    const std::string how = reply.evidence.value("end", std::string("no answer"));
    if (at < 0 || static_cast<std::size_t>(at) >= end - first)
      throw CatalogError(
          fmt::format("the worker of {} ended before it asked its plan: {}", backend_.name, how));
    const std::size_t place = first + static_cast<std::size_t>(at);
    const bool hung = reply.state == Reply::State::hung;
    asked_.broken.emplace(
        place, Problem{hung ? Verdict::hang : Verdict::crash,
                       hung ? "plan does not return" : "the worker dies in plan: " + how});
    return place;
  }

  Runner& runner_;
  const BackendEntry& backend_;
  const PlanSweep& sweep_;
  AskedPlan asked_;
};

}  // namespace

AskedPlan ask_plan(Runner& runner, const BackendEntry& backend, const PlanSweep& sweep) {
  Asking asking(runner, backend, sweep);
  const std::size_t total = sweep.places.size();
  for (std::size_t first = 0; first < total && !asking.gave_up(); first += kPlacesAtOnce)
    asking.ask(first, std::min(first + kPlacesAtOnce, total));
  if (asking.gave_up()) asking.leave_out_the_rest();
  return asking.take();
}

}  // namespace tutti
