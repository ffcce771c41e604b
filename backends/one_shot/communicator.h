// A communicator of the one_shot backend: the regions of all ranks, mapped, and the words by which
// host and kernel talk.
#pragma once

#include "backends/one_shot/decide.h"
#include "backends/plugin.h"
#include "kernels/one_shot.h"

namespace tutti::one_shot {

// What a rank exports: peers write the flags and read the staging; the state is for itself only.
struct Memory {
  OneShotRegion region;
  OneShotState state;
};

class Communicator : public plugin::Communicator {
 public:
  static constexpr const char* kName = "one_shot";
#if defined(ONE_SHOT_CUDA)
  static constexpr std::uint32_t kMemory = TUTTI_MEMORY_HOST | TUTTI_MEMORY_CUDA;
#else
  static constexpr std::uint32_t kMemory = TUTTI_MEMORY_HOST;
#endif
  static constexpr const char* kPaths[] = {kPath, nullptr};
  static const char* version() { return "1"; }
  static plugin::Decision decide(const tutti_facts& facts, const tutti_request* request) {
    return one_shot::decide(facts, request);
  }

  using plugin::Communicator::Communicator;
  tutti_status create();
  tutti_status run(const tutti_request& request, const char* path);
  tutti_status poll_error();
  tutti_status abort();
  tutti_status destroy();

 private:
  tutti_status make_control();
  void release_control();
  OneShotArguments arguments() const;
  int launch_in_order(const tutti_request& request);
  int launch(const tutti_request& request);
  int launch_chunk(const tutti_request& request, const OneShotArguments& call) const;
  int is_captured(void* stream, bool* captured) const;
  int device_index() const { return world().facts->ranks[world().rank].device_index; }

  plugin::PeerMemory<Memory> memory_{*this};
  OneShotControl* control_ = nullptr;
  void* event_ = nullptr;  // after the last call
  void* last_stream_ = nullptr;
  bool ran_ = false;
};

}  // namespace tutti::one_shot
