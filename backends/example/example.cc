// A whole backend on one page, to be copied: fp32 sums of ranks that read each other's memory.
//
// Every rank has a mailbox of two slots. Call n copies its input to slot n % 2, publishes n, waits
// until all ranks have published n, and adds their slots up in rank order: the same bits for all.
// Whoever published n - 1 has done call n - 2, so nobody still reads the slot that call n fills.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "backends/backend.h"

namespace {
constexpr uint64_t kMost = 262144;  // elements of a call

struct Mailbox {
  std::atomic<uint64_t> published;  // the last call whose input is there
  float slots[2][kMost];
};
struct Communicator {
  tutti_world world;
  std::vector<void*> boxes;                     // Mailbox of each rank
  uint64_t calls = 0;                           // only touched on the stream
  std::atomic<tutti_status> failure{TUTTI_OK};  // stays, as the ranks are out of step then
  const Mailbox& box(int rank) const { return *static_cast<const Mailbox*>(boxes[rank]); }
};
struct Call {
  Communicator* self;
  tutti_request request;
};
const char* why = nullptr;  // of the last refusal

// The one place that decides, for plan, create and run: null, or why not. It looks only at what all
// ranks know, so that all decide the same.
const char* refuses(const tutti_facts& facts, const tutti_request* call) {
  for (int rank = 0; rank < facts.world; ++rank)
    if (std::memchr(facts.ranks[rank].peer_access, 0, facts.world)) return "needs peer access";
  if (!call) return nullptr;
  if (call->collective != TUTTI_ALLREDUCE || call->extension) return "only plain allreduce";
  if (call->dtype != TUTTI_FLOAT32 || call->op != TUTTI_SUM) return "only fp32 sums";
  return call->count > kMost ? "at most 262144 elements" : nullptr;
}

tutti_status plan(const tutti_facts* facts, int32_t, const tutti_request* call, tutti_plan* plan) {
  const char* refusal = refuses(*facts, call);
  plan->answer = refusal ? TUTTI_PLAN_REFUSED : TUTTI_PLAN_PATH;
  std::snprintf(plan->text, sizeof plan->text, "%s", refusal ? refusal : "mailbox");
  return TUTTI_OK;
}

void fail(Communicator& self, tutti_status status) {
  tutti_status none = TUTTI_OK;
  self.failure.compare_exchange_strong(none, status);
}

void allreduce(void* argument) {  // runs on the stream
  const std::unique_ptr<Call> call(static_cast<Call*>(argument));
  Communicator& self = *call->self;
  const tutti_request& request = call->request;
  const uint64_t number = ++self.calls, slot = number % 2;
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::milliseconds limit(self.world.deadline_ms);
  if (self.failure != TUTTI_OK) return;
  auto& mine = *static_cast<Mailbox*>(self.boxes[self.world.rank]);
  std::memcpy(mine.slots[slot], request.send, request.count * sizeof(float));
  mine.published.store(number, std::memory_order_release);
  for (int rank = 0; rank < self.world.world; ++rank) {
    while (self.box(rank).published.load(std::memory_order_acquire) < number) {
      if (std::chrono::steady_clock::now() - start > limit) fail(self, TUTTI_TIMED_OUT);
      if (self.failure != TUTTI_OK) return;
      std::this_thread::yield();
    }
  }
  for (uint64_t i = 0; i < request.count; ++i) {
    float sum = self.box(0).slots[slot][i];
    for (int rank = 1; rank < self.world.world; ++rank) sum += self.box(rank).slots[slot][i];
    static_cast<float*>(request.recv)[i] = sum;
  }
}

tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  auto* self = static_cast<Communicator*>(communicator);
  const tutti_device* device = self->world.device;
  if ((why = refuses(*self->world.facts, request))) return TUTTI_UNSUPPORTED;
  *path = "mailbox";
  if (request->count == 0) return TUTTI_OK;
  auto call = std::make_unique<Call>(Call{self, *request});
  if (device->enqueue(device->self, request->stream, allreduce, call.get())) return TUTTI_ERROR;
  call.release();  // `allreduce` deletes it
  return TUTTI_OK;
}

tutti_status destroy(void* communicator) {
  const std::unique_ptr<Communicator> self(static_cast<Communicator*>(communicator));
  const tutti_world& world = self->world;
  const tutti_device* device = world.device;
  void*& mine = self->boxes[world.rank];
  for (void* box : self->boxes)
    if (box && box != mine) device->close_memory(device->self, box);
  std::vector<char> all(world.world);  // nobody frees memory that a peer still has open
  const tutti_status status = world.exchange(world.self, "", all.data(), 1);
  device->release(device->self, mine);
  return status;
}

// Every rank takes every step, whatever failed before, so that all come to the same answer.
tutti_status create(const tutti_world* world, void** communicator) {
  if ((why = refuses(*world->facts, nullptr))) return TUTTI_UNSUPPORTED;
  auto self = std::make_unique<Communicator>(*world, std::vector<void*>(world->world));
  const tutti_device* device = world->device;
  std::vector<tutti_memory_handle> handles(world->world);
  tutti_memory_handle handle{};
  void*& mine = self->boxes[world->rank];  // zero-filled
  char fine = !device->allocate(device->self, sizeof(Mailbox), &mine) &&
              !device->export_memory(device->self, mine, &handle);
  fine &= !world->exchange(world->self, &handle, handles.data(), sizeof handle);
  for (int rank = 0; rank < world->world; ++rank) {
    void** box = &self->boxes[rank];
    if (box != &mine) fine &= !device->import_memory(device->self, &handles[rank], rank, box);
  }
  std::vector<char> all(world->world);
  tutti_status status = world->exchange(world->self, &fine, all.data(), 1);
  if (!status && std::memchr(all.data(), 0, all.size())) status = TUTTI_UNSUPPORTED;
  *communicator = self.release();
  if (status) destroy(*communicator);
  if (status) why = "a rank could not make or open a mailbox";
  return status;
}

tutti_status poll_error(void* self) { return static_cast<Communicator*>(self)->failure; }

tutti_status stop(void* self) {
  fail(*static_cast<Communicator*>(self), TUTTI_ABORTED);
  return TUTTI_OK;
}

const char* reason(void*) { return why ? why : "aborted, or a peer was lost or came too late"; }

const char* version() { return "1"; }
}  // namespace

extern "C" __attribute__((visibility("default"))) const tutti_backend* tutti_plugin(void) {
  static const char* const paths[] = {"mailbox", nullptr};
  static const tutti_backend table = {sizeof(tutti_backend),
                                      TUTTI_ABI_VERSION,
                                      "example",
                                      TUTTI_MEMORY_HOST,
                                      paths,
                                      version,
                                      plan,
                                      create,
                                      run,
                                      poll_error,
                                      stop,
                                      destroy,
                                      reason,
                                      nullptr,
                                      nullptr,
                                      nullptr};
  return &table;
}
