// Uses Gloo and nothing of tutti: every rank a thread, both algorithms of gloo::allreduce, small
// worlds and counts. A red cell of the gloo backend is a finding about Gloo only when it shows here
// too.
//
//   gloo_direct_check [largest world]     prints one line for each combination that fails; exit
//   status 1 if any did
#include <gloo/allreduce.h>
#include <gloo/math.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "backends/gloo/direct_ranks.h"

namespace {

using Algorithm = gloo::AllreduceOptions::Algorithm;

struct Trial {
  Algorithm algorithm;
  size_t count;
  bool in_place;
};

std::vector<Trial> trials_of(int world) {
  std::vector<Trial> trials;
  const size_t near = static_cast<size_t>(world);
  for (const Algorithm algorithm : {Algorithm::RING, Algorithm::BCUBE}) {
    for (const size_t count :
         {size_t{0}, size_t{1}, size_t{2}, size_t{3}, near - 1, near, near + 1, size_t{1000003}}) {
      for (const bool in_place : {false, true}) trials.push_back({algorithm, count, in_place});
    }
  }
  return trials;
}

int32_t input(int rank, size_t index) {
  return static_cast<int32_t>((index * 2654435761u + static_cast<size_t>(rank) * 40503u) % 1000u) +
         1;
}

// What went wrong in one trial on one rank, empty when nothing did.
std::string attempt(const std::shared_ptr<gloo::Context>& context, const Trial& trial,
                    uint32_t tag) {
  std::vector<int32_t> send(trial.count + 1), recv(trial.count + 1, -1);
  for (size_t i = 0; i < trial.count; ++i) send[i] = input(context->rank, i);
  if (trial.in_place) recv = send;
  recv[trial.count] = -7;  // must stay
  gloo::AllreduceOptions options(context);
  options.setAlgorithm(trial.algorithm);
  options.setReduceFunction([](void* to, const void* left, const void* right, size_t count) {
    gloo::sum<int32_t>(to, left, right, count);
  });
  options.setTag(tag);
  if (!trial.in_place) options.setInput(send.data(), trial.count);
  options.setOutput(recv.data(), trial.count);
  try {
    gloo::allreduce(options);
  } catch (const std::exception& error) {
    return error.what();
  }
  if (recv[trial.count] != -7) return "wrote past the end";
  for (size_t i = 0; i < trial.count; ++i) {
    int32_t expected = 0;
    for (int rank = 0; rank < context->size; ++rank) expected += input(rank, i);
    if (recv[i] != expected) {
      return "element " + std::to_string(i) + " is " + std::to_string(recv[i]) + ", not " +
             std::to_string(expected);
    }
    if (!trial.in_place && send[i] != input(context->rank, i))
      return "input changed at " + std::to_string(i);
  }
  return "";
}

// Each trial has contexts of its own, so that one failure does not spoil the next.
std::vector<std::string> attempt_on_all(int world, const Trial& trial) {
  return on_all_ranks(world, std::chrono::seconds(10),
                      [&](const auto& context) { return attempt(context, trial, 1); });
}

}  // namespace

int main(int argument_count, char** arguments) {
  const int largest = argument_count > 1 ? std::atoi(arguments[1]) : 8;
  int tried = 0, failed = 0;
  for (int world = 1; world <= largest; ++world) {
    for (const Trial& trial : trials_of(world)) {
      ++tried;
      const std::vector<std::string> failures = attempt_on_all(world, trial);
      for (int rank = 0; rank < world; ++rank) {
        if (failures[rank].empty()) continue;
        std::printf("world %d %s count %zu %s: rank %d: %s\n", world,
                    trial.algorithm == Algorithm::RING ? "ring" : "bcube", trial.count,
                    trial.in_place ? "in place" : "out of place", rank, failures[rank].c_str());
        ++failed;
        break;
      }
    }
  }
  std::printf("%d of %d combinations failed\n", failed, tried);
  return failed != 0;
}
