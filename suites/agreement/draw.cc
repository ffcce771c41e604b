#include "suites/agreement/draw.h"

#include <rapidcheck.h>

#include <algorithm>
#include <bit>

namespace tutti::draw {

namespace {

constexpr std::uint64_t kUsualBytes = 16u << 10;  // most calls have no more
constexpr std::uint64_t kMediumBytes = 1u << 20;  // one in kMediumOneIn may have so many
constexpr std::uint64_t kMediumOneIn = 16;
// Of all ranks together where they share the cores of a host: a slow backend comes through, too,
// before the deadline.
constexpr std::uint64_t kSharedBytes = 64u << 20;
constexpr std::uint64_t kSpecialCount = 4096;  // one scenario an element: few show them all
constexpr std::uint64_t kPrimes[] = {2,   3,   5,   7,    13,   31,   61,
                                     127, 251, 509, 1021, 4093, 8191, 65521};
constexpr std::uint64_t kAlignment = 256;  // bytes: a second part there is aligned as the first
constexpr std::uint32_t kSkewsUs[] = {0, 0, 50, 200, 1000};

std::uint64_t bytes_most(const Cell& cell, const Profile& profile) {
  if (cell.node->device_kind != "host") return profile.bytes_max;
  return std::min(profile.bytes_max, kSharedBytes / static_cast<std::uint64_t>(cell.world));
}

std::uint64_t near_power_of_two(std::uint64_t most) {
  const std::uint64_t exponent = between(0, static_cast<std::uint64_t>(std::bit_width(most)) - 1);
  const std::uint64_t power = std::uint64_t{1} << exponent;
  return std::min(most, power - 1 + between(0, 2));
}

std::uint64_t log_uniform(std::uint64_t most) {
  const std::uint64_t high = std::uint64_t{1}
                             << between(0, static_cast<std::uint64_t>(std::bit_width(most)) - 1);
  return std::min(most, between(high, 2 * high - 1));
}

// Whether the claims say of both parts what they say of the whole.
bool is_claimed_alike(const Cell& cell, const Allreduce& call) {
  const Case one_case = case_of(cell);
  const auto claim_of = [&](const Allreduce& part) {
    return cell.backend->claims.state_of(situation_of(one_case, part, *cell.node));
  };
  const auto [first, rest] = parts_of(call);
  const auto whole = claim_of(call);
  return claim_of(first) == whole && claim_of(rest) == whole;
}

}  // namespace

// Without RapidCheck's size: what a case may cost is decided by the profile.
std::uint64_t between(std::uint64_t low, std::uint64_t high) {
  return *rc::gen::noShrink(
      rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(low, high + 1)));
}

bool one_in(std::uint64_t n) { return between(1, n) == 1; }

std::uint64_t count(const Cell& cell, const Profile& profile, bool zero) {
  const std::uint64_t element = bytes_of(cell.dtype);
  const auto world = static_cast<std::uint64_t>(cell.world);
  if (one_in(static_cast<std::uint64_t>(profile.large_one_in))) {
    const std::uint64_t most = bytes_most(cell, profile) / element;
    return one_in(2) ? most - between(0, std::min(most - 1, world)) : log_uniform(most);
  }
  const std::uint64_t most =
      std::min(one_in(kMediumOneIn) ? kMediumBytes : kUsualBytes, bytes_most(cell, profile)) /
      element;
  switch (between(zero ? 0 : 1, 9)) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return std::min(most, kPrimes[between(0, std::size(kPrimes) - 1)]);
    case 3:
      return std::max<std::uint64_t>(1, world - 1 + between(0, 2));
    case 4:
      return std::max<std::uint64_t>(1, world * between(1, 64) + between(0, 2) - 1);
    case 5:
    case 6:
      return std::max<std::uint64_t>(1, near_power_of_two(most));
    default:
      return std::max<std::uint64_t>(1, log_uniform(most));
  }
}

Allreduce call(const Cell& cell, const Profile& profile, DataClass data, bool zero) {
  Allreduce one;
  one.dtype = cell.dtype;
  one.op = cell.op;
  one.count = count(cell, profile, zero);
  if (data == DataClass::special && !one_in(kMediumOneIn))
    one.count = std::min(one.count, kSpecialCount);
  one.place = one_in(2) ? Place::in : Place::out;
  if (one_in(2)) one.send_offset = static_cast<std::uint32_t>(between(0, 16));
  one.recv_offset = one.send_offset;
  if (one.place == Place::out && one_in(2))
    one.recv_offset = static_cast<std::uint32_t>(between(0, 16));
  one.data = data;
  return one;
}

std::uint32_t rotation_of(const Cell& cell) {
  return static_cast<std::uint32_t>(between(1, static_cast<std::uint64_t>(cell.world) - 1));
}

std::uint64_t split_of(const Cell& cell, Allreduce call) {
  if (call.count < 2) return 0;
  const std::uint64_t step = kAlignment / bytes_of(call.dtype);
  call.split = between(1, call.count - 1);
  if (is_claimed_alike(cell, call)) return call.split;
  call.split = call.split / step * step;
  return call.split > 0 && is_claimed_alike(cell, call) ? call.split : 0;
}

std::vector<Step> program(const std::function<Allreduce()>& one_call, std::uint64_t calls_least) {
  const std::uint64_t calls = one_in(3) ? between(2, 4) : calls_least;
  std::vector<Step> steps;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < calls; ++i) {
    const Allreduce next = one_call();
    const std::uint64_t more = next.count * bytes_of(next.dtype);
    if (i > 0 && bytes + more > 2 * kMediumBytes) break;  // large calls come alone
    bytes += more;
    if (i > 0 && one_in(3)) steps.emplace_back(Sync{});
    steps.emplace_back(next);
  }
  return steps;
}

Case surroundings(Case one_case) {
  one_case.seed = between(0, UINT32_MAX);
  if (one_case.device == "host" && one_in(8)) one_case.delays = between(1, UINT32_MAX);
  if (one_case.world > 1 && one_in(8)) {
    for (int rank = 0; rank < one_case.world; ++rank) {
      one_case.skews_us.push_back(kSkewsUs[between(0, std::size(kSkewsUs) - 1)]);
    }
  }
  return one_case;
}

Case case_with(const Cell& cell, const Profile& profile, DataClass data,
               std::uint64_t calls_least) {
  Case one_case = surroundings(case_of(cell));
  one_case.steps = program([&] { return call(cell, profile, data, true); }, calls_least);
  return one_case;
}

SkipCause always(const Cell&) { return SkipCause::none; }

}  // namespace tutti::draw
