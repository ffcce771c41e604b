// A whole backend, to be copied: fp32 sums of ranks that read each other's memory.
//
// Every rank has a mailbox of two slots. Call n copies its input to slot n % 2, publishes n, waits
// until all ranks have published n, and adds their slots up in rank order: the same bits for all.
// Whoever published n - 1 has done call n - 2, so nobody still reads the slot that call n fills.
#include <atomic>
#include <cstring>

#include "backends/plugin.h"

using namespace tutti::plugin;

namespace {
constexpr uint64_t kMost = 262144;  // elements of a call

struct Mailbox {
  std::atomic<uint64_t> published;  // the last call whose input is there
  float slots[2][kMost];
};

class Example : public Communicator {
 public:
  static constexpr const char* kName = "example";
  static constexpr uint32_t kMemory = TUTTI_MEMORY_HOST;
  static constexpr const char* kPaths[] = {"mailbox", nullptr};
  static const char* version() { return "1"; }

  // The one place that decides, for plan, create and run, from what all ranks know.
  static Decision decide(const tutti_facts& facts, const tutti_request* call) {
    if (!can_share_memory(facts)) return refuse("needs peer access and IPC");
    if (!call) return take("mailbox");
    if (call->collective != TUTTI_ALLREDUCE || call->extension) return refuse("only allreduce");
    if (call->dtype != TUTTI_FLOAT32 || call->op != TUTTI_SUM) return refuse("only fp32 sums");
    return call->count > kMost ? refuse("at most 262144 elements") : take("mailbox");
  }

  using Communicator::Communicator;
  tutti_status create() { return boxes_.open("mailbox"); }
  tutti_status run(const tutti_request& request, const char*) {
    if (request.count == 0) return TUTTI_OK;
    return enqueue(request.stream, [this, request] { allreduce(request); });
  }
  tutti_status destroy() { return boxes_.close(); }

 private:
  void allreduce(const tutti_request& request) {  // on the stream, in the order of the calls
    const uint64_t number = ++calls_, slot = number % 2;
    std::memcpy(boxes_[world().rank].slots[slot], request.send, request.count * sizeof(float));
    boxes_[world().rank].published.store(number, std::memory_order_release);
    const bool came = boxes_.wait_for_all(
        [&](Mailbox& box) { return box.published.load(std::memory_order_acquire) >= number; });
    if (!came) return;  // poll_error says why
    for (uint64_t i = 0; i < request.count; ++i) {
      float sum = boxes_[0].slots[slot][i];
      for (int rank = 1; rank < world().world; ++rank) sum += boxes_[rank].slots[slot][i];
      static_cast<float*>(request.recv)[i] = sum;
    }
  }

  uint64_t calls_ = 0;
  PeerMemory<Mailbox> boxes_{*this};
};
}  // namespace

TUTTI_PLUGIN(Example)
