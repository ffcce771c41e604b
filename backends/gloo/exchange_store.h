// Gloo's rendezvous over tutti's exchange. All ranks publish the same number of values (Gloo 0.5 a
// host name, then the addresses of its pairs), each under a key of its own, and ask for those of
// the others only after publishing theirs. So every `set` is one collective exchange, after which
// all that will be asked for is here.
#pragma once

#include <gloo/rendezvous/store.h>

#include <map>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace tutti {

class ExchangeStore : public gloo::rendezvous::Store {
 public:
  explicit ExchangeStore(const tutti_world& world) : world_(world) {}

  // Collective. Throws when a peer is gone or has given up.
  void set(const std::string& key, const std::vector<char>& data) override;
  std::vector<char> get(const std::string& key) override;
  // These return at once, or throw.
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& timeout) override;

  // Collective: every rank calls it once, whether it connected or failed at whatever point. Returns
  // the rank that failed, the same on all ranks, or -1 when all are connected. Throws when a peer
  // is gone.
  int agree(bool connected);

 private:
  struct Header {
    enum Kind : uint64_t { kPublishes, kConnected, kFailed } kind;
    uint64_t bytes;
  };
  // What all ranks are doing now. Anything but publishing ends the rendezvous for all of them.
  std::vector<Header> exchange_headers(Header mine);

  const tutti_world& world_;
  bool over_ = false;
  int failed_rank_ = -1;
  std::map<std::string, std::vector<char>> values_;
};

}  // namespace tutti
