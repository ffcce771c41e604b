#include "backends/sabotaged/correct.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "backends/plugin.h"
#include "fixtures/data/narrow_float.h"

namespace tutti::sabotaged {
namespace {

constexpr uint64_t kChunkBytes = 65536;

// What peers see of a rank: the input of the current chunk, and how far the rank has come.
struct Workspace {
  std::atomic<uint64_t> written;
  std::atomic<uint64_t> read;
  alignas(8) unsigned char data[kChunkBytes];
};

Sabotage sabotage;
uint64_t calls = 0;

class Correct : public plugin::Communicator {
 public:
  static constexpr const char* kName = "correct";
  static constexpr uint32_t kMemory = TUTTI_MEMORY_HOST;
  static constexpr const char* kPaths[] = {"direct", nullptr};
  static const char* version() { return "1"; }
  static plugin::Decision decide(const tutti_facts& facts, const tutti_request* request);

  using Communicator::Communicator;
  tutti_status create() { return workspaces_.open("workspace"); }
  tutti_status run(const tutti_request& request, const char*) {
    const Call call{request, world().rank, world().world, ++calls};
    return enqueue(request.stream, [this, call] { allreduce(call); });
  }
  tutti_status destroy() { return workspaces_.close(); }

 private:
  void allreduce(const Call& call);
  bool wait_for_all(std::atomic<uint64_t> Workspace::*counter, uint64_t number) const;
  template <typename Element>
  void reduce(const Call& call, uint64_t first, uint64_t count) const;

  uint64_t chunks_ = 0;  // only touched on the stream
  plugin::PeerMemory<Workspace> workspaces_{*this};
};

plugin::Decision Correct::decide(const tutti_facts& facts, const tutti_request* request) {
  if (!plugin::can_share_memory(facts))
    return plugin::refuse("needs peer access between all ranks, and CUDA IPC");
  if (!request) return plugin::take("direct");
  const bool dtype = request->dtype == TUTTI_FLOAT32 || request->dtype == TUTTI_BFLOAT16 ||
                     request->dtype == TUTTI_INT32;
  const bool op = request->op == TUTTI_SUM || request->op == TUTTI_MAX;
  if (request->collective != TUTTI_ALLREDUCE || request->extension)
    return plugin::refuse("only plain allreduce");
  return dtype && op ? plugin::take("direct")
                     : plugin::refuse("only fp32, bf16 and int32, sum and max");
}

// Partial results are kept as what these convert to; a NaN wins a max, and +0 wins against -0.
float widen(float value) { return value; }
float widen(bfloat16 value) { return value.to_float(); }
uint32_t widen(int32_t value) { return static_cast<uint32_t>(value); }
void narrow(float value, float& to) { to = value; }
void narrow(float value, bfloat16& to) { to = bfloat16::from_float(value); }
void narrow(uint32_t value, int32_t& to) { to = static_cast<int32_t>(value); }
float larger(float one, float other) {
  if (one == other) return std::signbit(one) ? other : one;
  return std::isnan(one) || one > other ? one : other;
}
uint32_t larger(uint32_t one, uint32_t other) {
  return static_cast<int32_t>(one) >= static_cast<int32_t>(other) ? one : other;
}

template <typename Element>
void Correct::reduce(const Call& call, uint64_t first, uint64_t count) const {
  auto* to = static_cast<Element*>(call.request.recv) + first;
  for (uint64_t i = 0; i < count; ++i) {
    bool any = false;
    decltype(widen(Element{})) result{};
    const int start = sabotage.starts ? sabotage.starts(call, first + i) : 0;
    for (int step = 0; step < call.world; ++step) {
      const int rank = (start + step) % call.world;
      if (sabotage.counts && !sabotage.counts(call, rank, first + i)) continue;
      const auto value = widen(reinterpret_cast<const Element*>(workspaces_[rank].data)[i]);
      if (!any) {
        result = value;
      } else {
        result = call.request.op == TUTTI_SUM ? result + value : larger(result, value);
      }
      any = true;
    }
    narrow(result, to[i]);
  }
}

bool Correct::wait_for_all(std::atomic<uint64_t> Workspace::*counter, uint64_t number) const {
  return workspaces_.wait_for_all([&](const Workspace& workspace) {
    return (workspace.*counter).load(std::memory_order_acquire) >= number;
  });
}

// Runs on the stream.
void Correct::allreduce(const Call& call) {
  const tutti_request& request = call.request;
  const uint64_t size = call.element_bytes(), chunk = kChunkBytes / size;
  Workspace& mine = workspaces_[call.rank];
  for (uint64_t first = 0; first < request.count; first += chunk) {
    const uint64_t count = std::min(chunk, request.count - first), number = ++chunks_;
    if (!wait_for_all(&Workspace::read, number - 1)) return;
    std::memcpy(mine.data, static_cast<const char*>(request.send) + first * size, count * size);
    mine.written.store(number, std::memory_order_release);
    if (!wait_for_all(&Workspace::written, number)) return;
    if (request.dtype == TUTTI_FLOAT32) reduce<float>(call, first, count);
    if (request.dtype == TUTTI_BFLOAT16) reduce<bfloat16>(call, first, count);
    if (request.dtype == TUTTI_INT32) reduce<int32_t>(call, first, count);
    mine.read.store(number, std::memory_order_release);
  }
  if (sabotage.after) sabotage.after(call);
}

using Table = plugin::Table<Correct>;

}  // namespace

tutti_status correct_run(void* communicator, const tutti_request* request, const char** path) {
  return Table::run(communicator, request, path);
}

tutti_status correct_plan(const tutti_facts* facts, int32_t rank, const tutti_request* request,
                          tutti_plan* plan) {
  return Table::plan(facts, rank, request, plan);
}

const tutti_world& world_of(void* communicator) {
  return static_cast<Correct*>(communicator)->world();
}

tutti_status plan_unknown(const tutti_facts*, int32_t, const tutti_request*, tutti_plan* plan) {
  plan->answer = TUTTI_PLAN_UNKNOWN;
  plan->text[0] = 0;
  return TUTTI_OK;
}

void set_reason(void* communicator, const char* reason) {
  static_cast<Correct*>(communicator)->say(TUTTI_UNSUPPORTED, reason);
}

tutti_backend* broken(const char* name, const Sabotage& chosen) {
  static tutti_backend table = Table::make();
  sabotage = chosen;
  table.name = name;
  if (chosen.run) table.run = chosen.run;
  if (chosen.plan) table.plan = chosen.plan;
  return &table;
}

}  // namespace tutti::sabotaged
