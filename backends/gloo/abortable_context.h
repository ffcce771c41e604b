// A Gloo context whose pending calls can be ended from another thread.
//
// Closing the connections is not enough: Gloo 0.5 wakes a wait when the peer closes, not when its
// own side does, so the call stays until its timeout. The buffers that a call waits on can be
// woken, but belong to the call; so they are handed out wrapped, and remembered while they live.
#pragma once

#include <gloo/rendezvous/context.h>
#include <gloo/transport/context.h>

#include <memory>

namespace tutti {

class AbortableContext : public gloo::rendezvous::Context {
 public:
  using gloo::rendezvous::Context::Context;

  // Call once, after connectFullMesh and before the first collective.
  void make_abortable();

  // Ends pending calls of this rank, and all later ones, with gloo::IoException; closes the
  // connections, so that peers fail as well. Callable from any thread.
  void abort();

  struct Waits;

 private:
  std::shared_ptr<Waits> waits_;
};

}  // namespace tutti
