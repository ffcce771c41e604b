// What every sabotaged plugin is made of: a small correct allreduce on host memory, and the places
// where it can be broken. Path "direct"; fp32, bf16 and int32; sum and max; needs peer access
// between all ranks.
#pragma once

#include <cstdint>

#include "backends/backend.h"

#define TUTTI_SABOTAGED \
  extern "C" __attribute__((visibility("default"))) const tutti_backend* tutti_plugin(void)

namespace tutti::sabotaged {

// One call of `run`. `number` counts the calls in this process that were enqueued, from 1.
struct Call {
  tutti_request request;
  int rank;
  int world;
  uint64_t number;

  uint64_t element_bytes() const { return request.dtype == TUTTI_BFLOAT16 ? 2 : 4; }
  uint64_t bytes() const { return request.count * element_bytes(); }

  // Flips the second highest bit of an element of the result, which is outside every bound.
  void spoil(uint64_t index) const {
    static_cast<unsigned char*>(request.recv)[(index + 1) * element_bytes() - 1] ^= 0x40;
  }
};

// Everything is optional.
struct Sabotage {
  // Instead of correct_run.
  tutti_status (*run)(void* communicator, const tutti_request* request,
                      const char** path) = nullptr;
  // Instead of the plan that correct_run keeps.
  tutti_status (*plan)(const tutti_facts* facts, int32_t rank, const tutti_request* request,
                       tutti_plan* plan) = nullptr;
  // On the stream, when the right result is in request.recv.
  void (*after)(const Call& call) = nullptr;
  // False: the contribution of `rank` to the element `index` is left out of the result.
  bool (*counts)(const Call& call, int rank, uint64_t index) = nullptr;
  // The rank whose contribution to an element comes first; the others follow in a circle.
  int (*starts)(const Call& call, uint64_t index) = nullptr;
};

// The table of a plugin, to be returned from TUTTI_SABOTAGED. Call it once; the table may be
// changed further.
tutti_backend* broken(const char* name, const Sabotage& sabotage);

tutti_status correct_run(void* communicator, const tutti_request* request, const char** path);
tutti_status correct_plan(const tutti_facts* facts, int32_t rank, const tutti_request* request,
                          tutti_plan* plan);
const tutti_world& world_of(void* communicator);

// A `plan` of a backend that cannot be asked.
tutti_status plan_unknown(const tutti_facts*, int32_t, const tutti_request*, tutti_plan* plan);

// Makes `run` of this communicator give `reason` for what it refuses next.
void set_reason(void* communicator, const char* reason);

}  // namespace tutti::sabotaged
