// Memory that all ranks reach: allocated, exported, told to all, imported, and freed together.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "backends/plugin/communicator.h"

namespace tutti::plugin {

// One Shared in the memory of each rank's device, zero-filled, within reach of all ranks. Make it a
// member, of *this. It is freed by close() and not by a destructor, since all ranks have to meet.
template <typename Shared>
class PeerMemory {
 public:
  explicit PeerMemory(Communicator& communicator) : communicator_(communicator) {}

  // Between open and close, from any thread. On a CUDA device only kernels may look into it.
  Shared& operator[](int rank) const { return *static_cast<Shared*>(memory_[rank]); }

  // On a stream: waits until done(shared) holds for those of all ranks, as Communicator::wait does.
  template <typename Done>
  bool wait_for_all(const Done& done) const {
    return communicator_.wait([&] {
      return std::all_of(memory_.begin(), memory_.end(),
                         [&](void* memory) { return done(*static_cast<Shared*>(memory)); });
    });
  }

  // Collective, during create. TUTTI_OK on all ranks or on none, and then nothing is left. `name`
  // is what reasons call it.
  tutti_status open(const std::string& name) {
    const tutti_device& device = communicator_.device();
    memory_.assign(static_cast<size_t>(world().world), nullptr);
    void*& own = memory_[world().rank];
    tutti_memory_handle handle{};
    tutti_status mine = communicator_.check("allocating the " + name,
                                            device.allocate(device.self, sizeof(Shared), &own));
    if (mine == TUTTI_OK)
      mine = communicator_.check("exporting the " + name,
                                 device.export_memory(device.self, own, &handle));
    tutti_status status = communicator_.agree(mine);
    if (status == TUTTI_OK) status = communicator_.agree(import_all(name, handle));
    if (status != TUTTI_OK) static_cast<void>(free_all());
    return status;
  }

  // Collective, during destroy: frees everything, also when a peer has died.
  tutti_status close() {
    const tutti_status status = free_all();
    return status == TUTTI_OK ? TUTTI_OK : communicator_.say(status, "a peer left before destroy");
  }

 private:
  const tutti_world& world() const { return communicator_.world(); }

  tutti_status import_all(const std::string& name, const tutti_memory_handle& handle) {
    const tutti_device& device = communicator_.device();
    std::vector<tutti_memory_handle> handles;
    tutti_status mine = gather(world(), handle, handles);
    if (mine != TUTTI_OK) return communicator_.say(mine, "a rank left while memory was exchanged");
    for (int rank = 0; rank < world().world && mine == TUTTI_OK; ++rank) {
      if (rank == world().rank) continue;
      mine = communicator_.check(
          "importing the " + name + " of rank " + std::to_string(rank),
          device.import_memory(device.self, &handles[rank], rank, &memory_[rank]));
    }
    return mine;
  }

  // Nobody frees memory that a peer still has open: on CUDA that is undefined.
  tutti_status free_all() {
    const tutti_device& device = communicator_.device();
    void* const own = std::exchange(memory_[world().rank], nullptr);
    for (void* memory : memory_)
      if (memory) device.close_memory(device.self, memory);
    const tutti_status status = barrier(world());
    if (own) device.release(device.self, own);
    memory_.clear();
    return status;
  }

  Communicator& communicator_;
  std::vector<void*> memory_;  // by rank
};

}  // namespace tutti::plugin
