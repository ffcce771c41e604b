// A communicator of the one_shot backend: the regions of all ranks, mapped, and the words by which
// host and kernel talk.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "kernels/one_shot.h"

namespace tutti::one_shot {

// What a rank exports: peers write the flags and read the staging; the state is for itself only.
struct Memory {
  OneShotRegion region;
  OneShotState state;
};

class Communicator {
 public:
  explicit Communicator(const tutti_world& world) : world_(world), device_(*world.device) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // The functions of the table, without the reasons of refusals, which need no communicator.
  // Collective: create and destroy. After a create that is not TUTTI_OK nothing is left, and all
  // ranks have the same status and reason.
  tutti_status create();
  tutti_status run(const tutti_request& request);
  tutti_status poll_error();
  void abort();
  tutti_status destroy();

  const tutti_facts& facts() const { return *world_.facts; }
  const std::string& reason() const { return reason_; }
  tutti_status fail(tutti_status status, std::string reason);

 private:
  struct Report;  // what ranks tell each other during create

  tutti_status allocate(Report& report);
  tutti_status import_peers(const std::vector<Report>& reports);
  tutti_status agree(tutti_status own, Report& report, std::vector<Report>& reports);
  tutti_status fail_in_device(const std::string& operation, int error);
  tutti_status leave();  // collective: closes, and releases when all have closed
  void release();
  OneShotArguments arguments() const;
  int launch_in_order(const tutti_request& request);
  int launch(const tutti_request& request);
  int launch_chunk(const tutti_request& request, const OneShotArguments& call) const;
  int is_captured(void* stream, bool* captured) const;
  int device_index() const { return facts().ranks[world_.rank].device_index; }

  const tutti_world world_;  // a copy: only what it points to is sure to stay
  const tutti_device& device_;
  Memory* memory_ = nullptr;
  OneShotControl* control_ = nullptr;
  void* event_ = nullptr;  // after the last call
  void* last_stream_ = nullptr;
  bool ran_ = false;
  std::vector<void*> imports_;  // by rank; null for the own one
  std::string reason_ = "nothing has failed";
};

}  // namespace tutti::one_shot
