#include "backends/gloo/abortable_context.h"

#include <gloo/common/error.h>

#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace tutti {

using gloo::transport::UnboundBuffer;
using std::chrono::milliseconds;

// The buffers that are in use, and whether waiting is over.
struct AbortableContext::Waits {
  std::mutex mutex;
  bool aborted = false;
  std::set<UnboundBuffer*> buffers;

  bool is_aborted() {
    const std::lock_guard lock(mutex);
    return aborted;
  }
};

namespace {

class AbortableBuffer : public UnboundBuffer {
 public:
  AbortableBuffer(std::unique_ptr<UnboundBuffer> inner,
                  std::shared_ptr<AbortableContext::Waits> waits)
      : UnboundBuffer(inner->ptr, inner->size), inner_(std::move(inner)), waits_(std::move(waits)) {
    const std::lock_guard lock(waits_->mutex);
    waits_->buffers.insert(inner_.get());
  }
  ~AbortableBuffer() override {
    const std::lock_guard lock(waits_->mutex);
    waits_->buffers.erase(inner_.get());
  }

  bool waitRecv(int* rank, milliseconds timeout) override {
    require_going_on();
    const bool done = inner_->waitRecv(rank, timeout);
    require_going_on();
    return done;
  }
  bool waitSend(int* rank, milliseconds timeout) override {
    require_going_on();
    const bool done = inner_->waitSend(rank, timeout);
    require_going_on();
    return done;
  }
  void abortWaitRecv() override { inner_->abortWaitRecv(); }
  void abortWaitSend() override { inner_->abortWaitSend(); }
  void send(int rank, uint64_t slot, size_t offset, size_t bytes) override {
    inner_->send(rank, slot, offset, bytes);
  }
  void recv(int rank, uint64_t slot, size_t offset, size_t bytes) override {
    inner_->recv(rank, slot, offset, bytes);
  }
  void recv(std::vector<int> ranks, uint64_t slot, size_t offset, size_t bytes) override {
    inner_->recv(std::move(ranks), slot, offset, bytes);
  }

 private:
  // Collectives ignore that a wait was aborted, so they are left by an exception.
  void require_going_on() {
    if (waits_->is_aborted()) throw gloo::IoException("aborted");
  }

  std::unique_ptr<UnboundBuffer> inner_;
  std::shared_ptr<AbortableContext::Waits> waits_;
};

class AbortableTransport : public gloo::transport::Context {
 public:
  AbortableTransport(std::shared_ptr<gloo::transport::Context> inner,
                     std::shared_ptr<AbortableContext::Waits> waits)
      : Context(inner->rank, inner->size), inner_(std::move(inner)), waits_(std::move(waits)) {
    setTimeout(inner_->getTimeout());
  }
  std::unique_ptr<gloo::transport::Pair>& getPair(int rank) override {
    return inner_->getPair(rank);
  }
  std::unique_ptr<gloo::transport::Pair>& createPair(int rank) override {
    return inner_->createPair(rank);
  }
  std::unique_ptr<UnboundBuffer> createUnboundBuffer(void* memory, size_t bytes) override {
    return std::make_unique<AbortableBuffer>(inner_->createUnboundBuffer(memory, bytes), waits_);
  }

 private:
  std::shared_ptr<gloo::transport::Context> inner_;
  std::shared_ptr<AbortableContext::Waits> waits_;
};

}  // namespace

void AbortableContext::make_abortable() {
  waits_ = std::make_shared<Waits>();
  transportContext_ = std::make_shared<AbortableTransport>(transportContext_, waits_);
}

void AbortableContext::abort() {
  {
    const std::lock_guard lock(waits_->mutex);
    waits_->aborted = true;
    for (UnboundBuffer* buffer : waits_->buffers) {
      buffer->abortWaitRecv();
      buffer->abortWaitSend();
    }
  }
  closeConnections();
}

}  // namespace tutti
