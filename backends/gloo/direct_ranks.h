// Gloo and nothing of tutti: ranks as threads, for the programs that use it alone.
#pragma once

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <barrier>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// What body(context) returned on each rank, a text, or what it threw; "connecting: ..." when it was
// not reached. Contexts live until all ranks
// are done: a rank that leaves early looks like a dead one to a rank that still connects.
template <typename Body>
std::vector<std::string> on_all_ranks(int world, std::chrono::seconds timeout, const Body& body) {
  gloo::rendezvous::HashStore store;
  std::vector<std::string> results(static_cast<std::size_t>(world));
  std::barrier done(world);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < world; ++rank) {
    ranks.emplace_back([&, rank] {
      auto context = std::make_shared<gloo::rendezvous::Context>(rank, world);
      std::string& result = results[static_cast<std::size_t>(rank)];
      std::string during = "connecting: ";
      try {
        gloo::transport::tcp::attr address;
        address.iface = "lo";
        context->setTimeout(timeout);
        auto device = gloo::transport::tcp::CreateDevice(address);
        context->connectFullMesh(store, device);
        during.clear();
        result = body(context);
      } catch (const std::exception& error) {
        result = during + error.what();
      }
      done.arrive_and_wait();
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return results;
}
