#include "backends/sabotaged/correct.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "fixtures/data/bfloat16.h"

namespace tutti::sabotaged {
namespace {

constexpr uint64_t kChunkBytes = 65536;

// What peers see of a rank: the input of the current chunk, and how far the rank has come.
struct Workspace {
  std::atomic<uint64_t> written;
  std::atomic<uint64_t> read;
  alignas(8) unsigned char data[kChunkBytes];
};

struct Communicator {
  tutti_world world;
  std::vector<Workspace*> all;
  Workspace* mine = nullptr;
  uint64_t chunks = 0;  // only touched on the stream
  std::atomic<tutti_status> failure{TUTTI_OK};
  const char* reason = "nothing has failed";
};

struct Work {
  Communicator* communicator;
  Call call;
};

Sabotage sabotage;
uint64_t calls = 0;
const char* create_reason = "no create has failed";

const char* refuses(const tutti_facts& facts, const tutti_request* request) {
  for (int rank = 0; rank < facts.world; ++rank) {
    if (std::memchr(facts.ranks[rank].peer_access, 0, facts.world))
      return "needs peer access between all ranks";
  }
  if (!request) return nullptr;
  const bool dtype = request->dtype == TUTTI_FLOAT32 || request->dtype == TUTTI_BFLOAT16 ||
                     request->dtype == TUTTI_INT32;
  const bool op = request->op == TUTTI_SUM || request->op == TUTTI_MAX;
  if (request->collective != TUTTI_ALLREDUCE || request->extension) return "only plain allreduce";
  return dtype && op ? nullptr : "only fp32, bf16 and int32, sum and max";
}

tutti_status plan(const tutti_facts* facts, int32_t, const tutti_request* request,
                  tutti_plan* plan) {
  const char* refusal = refuses(*facts, request);
  plan->answer = refusal ? TUTTI_PLAN_REFUSED : TUTTI_PLAN_PATH;
  std::strncpy(plan->text, refusal ? refusal : "direct", sizeof plan->text - 1);
  plan->text[sizeof plan->text - 1] = 0;
  return TUTTI_OK;
}

bool wait_for_all(Communicator& communicator, std::atomic<uint64_t> Workspace::*counter,
                  uint64_t number) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(communicator.world.deadline_ms);
  for (Workspace* peer : communicator.all) {
    while ((peer->*counter).load(std::memory_order_acquire) < number) {
      tutti_status expected = TUTTI_OK;
      if (std::chrono::steady_clock::now() > deadline) {
        communicator.failure.compare_exchange_strong(expected, TUTTI_TIMED_OUT);
      }
      if (communicator.failure != TUTTI_OK) return false;
      std::this_thread::yield();
    }
  }
  return communicator.failure == TUTTI_OK;
}

// Partial results are kept as what these convert to; a NaN wins a max.
float widen(float value) { return value; }
float widen(bfloat16 value) { return value.to_float(); }
uint32_t widen(int32_t value) { return static_cast<uint32_t>(value); }
void narrow(float value, float& to) { to = value; }
void narrow(float value, bfloat16& to) { to = bfloat16::from_float(value); }
void narrow(uint32_t value, int32_t& to) { to = static_cast<int32_t>(value); }
float larger(float one, float other) { return std::isnan(one) || one >= other ? one : other; }
uint32_t larger(uint32_t one, uint32_t other) {
  return static_cast<int32_t>(one) >= static_cast<int32_t>(other) ? one : other;
}

template <typename Element>
void reduce(const Work& work, uint64_t first, uint64_t count) {
  auto* to = static_cast<Element*>(work.call.request.recv) + first;
  for (uint64_t i = 0; i < count; ++i) {
    bool any = false;
    decltype(widen(Element{})) result{};
    for (int rank = 0; rank < work.call.world; ++rank) {
      if (sabotage.counts && !sabotage.counts(work.call, rank, first + i)) continue;
      const auto value =
          widen(reinterpret_cast<const Element*>(work.communicator->all[rank]->data)[i]);
      if (!any) {
        result = value;
      } else {
        result = work.call.request.op == TUTTI_SUM ? result + value : larger(result, value);
      }
      any = true;
    }
    narrow(result, to[i]);
  }
}

// Runs on the stream.
void allreduce(void* argument) {
  const std::unique_ptr<Work> work(static_cast<Work*>(argument));
  Communicator& communicator = *work->communicator;
  const tutti_request& request = work->call.request;
  const uint64_t size = work->call.element_bytes(), chunk = kChunkBytes / size;
  for (uint64_t first = 0; first < request.count; first += chunk) {
    const uint64_t count = std::min(chunk, request.count - first), number = ++communicator.chunks;
    if (!wait_for_all(communicator, &Workspace::read, number - 1)) return;
    std::memcpy(communicator.mine->data, static_cast<const char*>(request.send) + first * size,
                count * size);
    communicator.mine->written.store(number, std::memory_order_release);
    if (!wait_for_all(communicator, &Workspace::written, number)) return;
    if (request.dtype == TUTTI_FLOAT32) reduce<float>(*work, first, count);
    if (request.dtype == TUTTI_BFLOAT16) reduce<bfloat16>(*work, first, count);
    if (request.dtype == TUTTI_INT32) reduce<int32_t>(*work, first, count);
    communicator.mine->read.store(number, std::memory_order_release);
  }
  if (sabotage.after) sabotage.after(work->call);
}

bool all_ranks(const tutti_world& world, bool fine) {
  std::vector<char> answers(world.world);
  const char mine = fine;
  if (world.exchange(world.self, &mine, answers.data(), 1) != TUTTI_OK) return false;
  return std::memchr(answers.data(), 0, answers.size()) == nullptr;
}

bool open_workspaces(Communicator& communicator) {
  const tutti_world& world = communicator.world;
  const tutti_device* device = world.device;
  void* memory = nullptr;
  tutti_memory_handle handle{};
  bool fine = device->allocate(device->self, sizeof(Workspace), &memory) == 0;
  communicator.mine = static_cast<Workspace*>(memory);
  fine = fine && device->export_memory(device->self, memory, &handle) == 0;
  std::vector<tutti_memory_handle> handles(world.world);
  fine = world.exchange(world.self, &handle, handles.data(), sizeof handle) == TUTTI_OK && fine;
  if (!all_ranks(world, fine)) return false;
  communicator.all.assign(world.world, nullptr);
  for (int rank = 0; rank < world.world && fine; ++rank) {
    void* imported = memory;
    if (rank != world.rank)
      fine = device->import_memory(device->self, &handles[rank], rank, &imported) == 0;
    communicator.all[rank] = fine ? static_cast<Workspace*>(imported) : nullptr;
  }
  return all_ranks(world, fine);
}

tutti_status create(const tutti_world* world, void** result) {
  if (const char* refusal = refuses(*world->facts, nullptr)) {
    create_reason = refusal;
    return TUTTI_UNSUPPORTED;
  }
  auto communicator = std::make_unique<Communicator>();
  communicator->world = *world;
  if (!open_workspaces(*communicator)) {
    create_reason = "a rank could not allocate, export or import a workspace";
    correct_destroy(communicator.release());
    return TUTTI_UNSUPPORTED;
  }
  *result = communicator.release();
  return TUTTI_OK;
}

tutti_status poll_error(void* self) { return static_cast<Communicator*>(self)->failure; }

tutti_status abort_pending(void* self) {
  tutti_status expected = TUTTI_OK;
  static_cast<Communicator*>(self)->failure.compare_exchange_strong(expected, TUTTI_ABORTED);
  return TUTTI_OK;
}

const char* reason(void* self) {
  if (!self) return create_reason;
  const auto& communicator = *static_cast<Communicator*>(self);
  if (communicator.failure == TUTTI_TIMED_OUT) return "a peer did not come before the deadline";
  return communicator.failure == TUTTI_ABORTED ? "abort was called" : communicator.reason;
}

const char* version() { return "1"; }

}  // namespace

tutti_status correct_run(void* self, const tutti_request* request, const char** path) {
  auto& communicator = *static_cast<Communicator*>(self);
  if (const char* refusal = refuses(*communicator.world.facts, request)) {
    communicator.reason = refusal;
    return TUTTI_UNSUPPORTED;
  }
  *path = "direct";
  const tutti_world& world = communicator.world;
  auto work =
      std::make_unique<Work>(Work{&communicator, {*request, world.rank, world.world, ++calls}});
  if (world.device->enqueue(world.device->self, request->stream, allreduce, work.get()) != 0) {
    communicator.reason = "the device's stream took no work";
    return TUTTI_ERROR;
  }
  work.release();  // `allreduce` deletes it
  return TUTTI_OK;
}

tutti_status correct_destroy(void* self) {
  const std::unique_ptr<Communicator> communicator(static_cast<Communicator*>(self));
  const tutti_world& world = communicator->world;
  const tutti_device* device = world.device;
  for (int rank = 0; rank < static_cast<int>(communicator->all.size()); ++rank) {
    if (rank != world.rank && communicator->all[rank])
      device->close_memory(device->self, communicator->all[rank]);
  }
  std::vector<char> ignored(world.world);
  const tutti_status status = world.exchange(world.self, "", ignored.data(), 1);
  if (communicator->mine) device->release(device->self, communicator->mine);
  return status;
}

const tutti_world& world_of(void* communicator) {
  return static_cast<Communicator*>(communicator)->world;
}

void set_reason(void* communicator, const char* reason) {
  static_cast<Communicator*>(communicator)->reason = reason;
}

tutti_backend* broken(const char* name, const Sabotage& chosen) {
  static const char* const paths[] = {"direct", nullptr};
  static tutti_backend table = {
      .size = sizeof(tutti_backend),
      .abi_version = TUTTI_ABI_VERSION,
      .name = "",
      .memory = TUTTI_MEMORY_HOST,
      .paths = paths,
      .version = version,
      .plan = plan,
      .create = create,
      .run = correct_run,
      .poll_error = poll_error,
      .abort = abort_pending,
      .destroy = correct_destroy,
      .reason = reason,
      .allocate = nullptr,
      .free_buffer = nullptr,
      .register_buffer = nullptr,
  };
  sabotage = chosen;
  table.name = name;
  if (chosen.run) table.run = chosen.run;
  return &table;
}

}  // namespace tutti::sabotaged
