// A whole backend on one page, to be copied by newcomers: fp32 sums of ranks that share a host's
// memory.
//
// Every rank owns a workspace that its peers can read. A call copies the input there in chunks,
// publishes each chunk by a number, waits for the same number of every peer, and adds the chunks up
// in rank order, so all ranks get the same bits.
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "backends/backend.h"

namespace {

constexpr uint64_t kChunk = 16384;  // elements

struct Workspace {
  std::atomic<uint64_t> written;  // chunks that may be read from `data`
  std::atomic<uint64_t> read;     // chunks that this rank has read of all peers
  float data[kChunk];
};

struct Communicator {
  tutti_world world;
  Workspace* mine = nullptr;
  std::vector<Workspace*> all;  // by rank, with our own
  uint64_t chunks = 0;          // done so far, only touched on the stream
  std::atomic<tutti_status> failure{TUTTI_OK};
  const char* refusal = "";  // why the last run was unsupported, empty when it was not
};

struct Call {
  Communicator* communicator;
  const float* send;
  float* recv;
  uint64_t count;
};

const char* create_refusal = "no create has failed";

// The one place that decides, for `plan`, `create` and `run` alike: nullptr, or why not. It only
// looks at what all ranks know, so all ranks decide the same.
const char* refuses(const tutti_facts& facts, const tutti_request* request) {
  for (int rank = 0; rank < facts.world; ++rank) {
    for (int peer = 0; peer < facts.world; ++peer) {
      if (!facts.ranks[rank].peer_access[peer])
        return "example needs peer access between all ranks";
    }
  }
  if (request && request->collective != TUTTI_ALLREDUCE) return "example has only allreduce";
  if (request && request->dtype != TUTTI_FLOAT32) return "example has only fp32";
  if (request && request->op != TUTTI_SUM) return "example has only sum";
  if (request && request->extension) return "example has no fused forms";
  return nullptr;
}

tutti_status plan(const tutti_facts* facts, int32_t, const tutti_request* request,
                  tutti_plan* plan) {
  const char* refusal = refuses(*facts, request);
  plan->answer = refusal ? TUTTI_PLAN_REFUSED : TUTTI_PLAN_PATH;
  std::strncpy(plan->text, refusal ? refusal : "chunks", sizeof plan->text - 1);
  plan->text[sizeof plan->text - 1] = 0;
  return TUTTI_OK;
}

// Waits until all peers have reached `number`. Every wait is bounded; the first failure ends all
// later work too, because the ranks' numbers no longer agree.
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

// Runs on the stream.
void allreduce(void* argument) {
  const std::unique_ptr<Call> call(static_cast<Call*>(argument));
  Communicator& communicator = *call->communicator;
  for (uint64_t first = 0; first < call->count; first += kChunk) {
    const uint64_t count = call->count - first < kChunk ? call->count - first : kChunk;
    const uint64_t number = ++communicator.chunks;
    // A slow peer may still be reading our last chunk.
    if (!wait_for_all(communicator, &Workspace::read, number - 1)) return;
    std::memcpy(communicator.mine->data, call->send + first, count * sizeof(float));
    communicator.mine->written.store(number, std::memory_order_release);
    if (!wait_for_all(communicator, &Workspace::written, number)) return;
    for (uint64_t i = 0; i < count; ++i) {
      float sum = communicator.all[0]->data[i];
      for (size_t rank = 1; rank < communicator.all.size(); ++rank)
        sum += communicator.all[rank]->data[i];
      call->recv[first + i] = sum;
    }
    communicator.mine->read.store(number, std::memory_order_release);
  }
}

tutti_status run(void* self, const tutti_request* request, const char** path) {
  auto& communicator = *static_cast<Communicator*>(self);
  const char* refusal = refuses(*communicator.world.facts, request);
  communicator.refusal = refusal ? refusal : "";
  if (refusal) return TUTTI_UNSUPPORTED;
  *path = "chunks";
  if (request->count == 0) return TUTTI_OK;
  auto call = std::make_unique<Call>(Call{&communicator, static_cast<const float*>(request->send),
                                          static_cast<float*>(request->recv), request->count});
  const tutti_device* device = communicator.world.device;
  if (device->enqueue(device->self, request->stream, allreduce, call.get()) != 0)
    return TUTTI_ERROR;
  call.release();  // `allreduce` deletes it
  return TUTTI_OK;
}

// Collective, and every rank gets here whatever happened to it, so no rank waits for one that gave
// up.
tutti_status destroy(void* self) {
  const std::unique_ptr<Communicator> communicator(static_cast<Communicator*>(self));
  const tutti_world& world = communicator->world;
  const tutti_device* device = world.device;
  for (int rank = 0; rank < static_cast<int>(communicator->all.size()); ++rank) {
    if (rank != world.rank && communicator->all[rank])
      device->close_memory(device->self, communicator->all[rank]);
  }
  // Nobody frees memory that a peer still has open.
  std::vector<char> ignored(world.world);
  const tutti_status status = world.exchange(world.self, "", ignored.data(), 1);
  if (communicator->mine) device->release(device->self, communicator->mine);
  return status;
}

// True when every rank says `fine`: what one rank lacks, all must refuse.
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
  communicator.mine = static_cast<Workspace*>(memory);  // zero-filled
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
  const char* refusal = refuses(*world->facts, nullptr);
  if (refusal) {
    create_refusal = refusal;
    return TUTTI_UNSUPPORTED;
  }
  auto communicator = std::make_unique<Communicator>();
  communicator->world = *world;
  if (!open_workspaces(*communicator)) {
    create_refusal = "a rank could not allocate, export or import a workspace";
    destroy(communicator.release());
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
  if (!self) return create_refusal;
  const auto& communicator = *static_cast<Communicator*>(self);
  if (*communicator.refusal) return communicator.refusal;
  switch (communicator.failure) {
    case TUTTI_TIMED_OUT:
      return "a peer did not publish or read a chunk before the deadline";
    case TUTTI_ABORTED:
      return "abort was called";
    default:
      return "the stream took no work";
  }
}

const char* version() { return "1"; }

}  // namespace

extern "C" __attribute__((visibility("default"))) const tutti_backend* tutti_plugin(void) {
  static const char* const paths[] = {"chunks", nullptr};
  static const tutti_backend table = {
      .size = sizeof(tutti_backend),
      .abi_version = TUTTI_ABI_VERSION,
      .name = "example",
      .memory = TUTTI_MEMORY_HOST,
      .paths = paths,
      .version = version,
      .plan = plan,
      .create = create,
      .run = run,
      .poll_error = poll_error,
      .abort = abort_pending,
      .destroy = destroy,
      .reason = reason,
      .allocate = nullptr,
      .free_buffer = nullptr,
      .register_buffer = nullptr,
  };
  return &table;
}
