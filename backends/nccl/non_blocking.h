// Communicators made with ncclConfig_t.blocking = 0 (NCCL 2.14 or later): calls may return
// ncclInProgress, and are polled to a deadline. So nothing waits for a peer for ever.
#pragma once

#include <cstdint>

#include "backends/nccl/library.h"

namespace tutti::nccl {

// `first`, or what became of it: polls ncclCommGetAsyncError until it is not ncclInProgress, which
// is returned when the deadline passes.
Result settled(Comm* comm, Result first, std::uint64_t deadline_ms);

// Collective. On anything but success there is no communicator.
Result open_non_blocking(Comm*& comm, const UniqueId& id, int world, int rank,
                         std::uint64_t deadline_ms);

// Collective: ncclCommFinalize, polled, then ncclCommDestroy; ncclCommAbort when a peer does not
// come.
Result close_non_blocking(Comm* comm, std::uint64_t deadline_ms);

}  // namespace tutti::nccl
