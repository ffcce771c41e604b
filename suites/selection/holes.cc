#include "suites/selection/holes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "fixtures/nodes/compose.h"
#include "reports/compare.h"

namespace tutti {

namespace {

using Points = std::vector<Point>;

// Claims at one place: which of them hold is known but for what the request decides.
class ClaimsByParts {
 public:
  explicit ClaimsByParts(const Claims& claims) : claims_(claims) {
    for (const Claim& claim : claims.claims) {
      Predicate of_place = claim.when, of_request = claim.when;
      const auto split = [](auto& place, auto& request) {
        std::erase_if(place, [](const auto& one) { return is_of_request(one.first); });
        std::erase_if(request, [](const auto& one) { return !is_of_request(one.first); });
      };
      split(of_place.any_of, of_request.any_of);
      split(of_place.within, of_request.within);
      of_request.equals.clear();
      of_place_.push_back(std::move(of_place));
      of_request_.push_back(std::move(of_request));
    }
  }

  // By claim, whether it holds at the place.
  std::vector<bool> at(const Situation& place) const {
    std::vector<bool> holds;
    for (const Predicate& predicate : of_place_) holds.push_back(predicate.holds(place));
    return holds;
  }
  // The claim that decides a request; -1: none.
  int deciding(const std::vector<bool>& at_place, const Situation& request) const {
    for (std::size_t claim = 0; claim < at_place.size(); ++claim) {
      if (at_place[claim] && of_request_[claim].holds(request)) return static_cast<int>(claim);
    }
    return -1;
  }
  ClaimState state(int claim) const {
    return claim < 0 ? ClaimState::unspecified
                     : claims_.claims[static_cast<std::size_t>(claim)].state;
  }
  std::string path(int claim) const {
    return claim < 0 ? "" : claims_.claims[static_cast<std::size_t>(claim)].path;
  }

 private:
  static bool is_of_request(const std::string& field) {
    static const std::set<std::string> kFields{"dtype", "op",    "place",
                                               "count", "bytes", "alignment"};
    return kFields.contains(field);
  }

  const Claims& claims_;
  std::vector<Predicate> of_place_, of_request_;
};

using Found = std::map<Problem, Points>;  // by problem, the requests that meet it

// What one row of answers comes to where the claims `at_place` hold.
Found found_in(const std::vector<std::uint16_t>& row, const PlanAnswers& answers,
               const ClaimsByParts& claims, const std::vector<bool>& at_place,
               const std::vector<Situation>& requests) {
  std::map<std::pair<std::uint16_t, int>, std::vector<Problem>> known;
  Found found;
  for (Point request = 0; request < row.size(); ++request) {
    const int claim = claims.deciding(at_place, requests[request]);
    auto [at, is_new] = known.try_emplace({row[request], claim});
    if (is_new) {
      at->second =
          problems_of(answers.texts[row[request]], claims.state(claim), claims.path(claim));
    }
    for (const Problem& problem : at->second) found[problem].push_back(request);
  }
  return found;
}

// Everywhere that a problem is met: sets of requests, each with the places where they meet it.
using Extent = std::map<Points, Points>;

Hole hole_of(const SweepPlan& plan, const Problem& problem, const Extent& extent) {
  Hole hole{problem, {}, 0, SIZE_MAX, 0};
  std::vector<Box> boxes;
  for (const auto& [requests, places] : extent) {
    hole.points += requests.size() * places.size();
    if (places.front() < hole.place) {
      hole.place = places.front();
      hole.request = requests.front();
    }
    const std::vector<Box> of_requests = boxes_of(plan.request_axes, requests);
    for (const Box& place : boxes_of(plan.place_axes, places)) {
      for (const Box& request : of_requests) {
        Box whole = place;
        whole.insert(whole.end(), request.begin(), request.end());
        boxes.push_back(std::move(whole));
      }
    }
  }
  std::vector<Axis> axes = plan.place_axes;
  axes.insert(axes.end(), plan.request_axes.begin(), plan.request_axes.end());
  for (const Box& box : joined(std::move(boxes))) hole.rules.push_back(text_of(axes, box));
  return hole;
}

std::vector<Situation> situations_of(const SweepPlan& plan) {
  Case one_case;
  std::vector<Situation> situations;
  Node alone = plan.sweep.base;
  for (const Allreduce& call : plan.sweep.requests)
    situations.push_back(situation_of(one_case, call, alone));
  return situations;
}

Situation situation_at(const SweepPlan& plan, Point place) {
  const Case one_case = case_at(plan, place, 0);
  Node node = plan.sweep.base;
  change(node, parts_of_node(plan.sweep.places[place].changes));
  return situation_of(one_case, Allreduce{}, node);
}

}  // namespace

std::vector<Problem> problems_of(const std::string& answer, ClaimState state,
                                 const std::string& path) {
  if (answer.starts_with(kPlanFailed)) {
    std::set<std::string> problems;  // two lines may differ in numbers only
    std::istringstream lines(answer.substr(std::string_view(kPlanFailed).size()));
    for (std::string line; std::getline(lines, line);)
      problems.insert("plan failed: " + without_numbers(line));
    if (problems.empty()) problems.insert("plan failed without a text");
    std::vector<Problem> all;
    for (const std::string& what : problems) all.push_back({Verdict::crash, what});
    return all;
  }
  if (answer.starts_with(kPlanSplit)) return {{Verdict::split, "plan " + without_numbers(answer)}};
  if (answer == kPlanSilent) return {{Verdict::lost_path, "refused without a reason"}};
  if (answer == kPlanUnknown) return {};
  if (answer.starts_with(kPlanRefused)) {
    if (state != ClaimState::claimed) return {};
    return {{Verdict::lost_path,
             fmt::format("refused, but {} is claimed", path.empty() ? "it" : "path " + path)}};
  }
  const std::string taken = answer.substr(std::string_view(kPlanPath).size());
  if (state == ClaimState::refuses)
    return {{Verdict::lost_path, fmt::format("takes path {}, but the claims refuse it", taken)}};
  if (state == ClaimState::claimed && !path.empty() && path != taken)
    return {{Verdict::lost_path, fmt::format("takes path {}, but {} is claimed", taken, path)}};
  return {};
}

std::vector<Hole> holes_of(const SweepPlan& plan, const PlanAnswers& answers,
                           const std::map<std::size_t, Problem>& broken, const Claims& claims) {
  const ClaimsByParts parts(claims);
  const std::vector<Situation> requests = situations_of(plan);
  std::map<std::pair<std::uint32_t, std::vector<bool>>, Found> known;
  std::map<Problem, Extent> extents;
  Points all_requests(plan.sweep.requests.size());
  for (Point request = 0; request < all_requests.size(); ++request) all_requests[request] = request;
  for (Point place = 0; place < plan.sweep.places.size(); ++place) {
    if (const auto known_here = broken.find(place); known_here != broken.end()) {
      extents[known_here->second][all_requests].push_back(place);
      continue;
    }
    const std::uint32_t row = answers.row_of[place];
    const std::vector<bool> at_place = parts.at(situation_at(plan, place));
    auto [found, is_new] = known.try_emplace({row, at_place});
    if (is_new) found->second = found_in(answers.rows[row], answers, parts, at_place, requests);
    for (const auto& [problem, points] : found->second) extents[problem][points].push_back(place);
  }
  std::vector<Hole> holes;
  for (const auto& [problem, extent] : extents) holes.push_back(hole_of(plan, problem, extent));
  return holes;
}

}  // namespace tutti
