// Every dtype, op and alignment of a whole backend on simulated devices. Linked with each backend
// that is one kernel over peer memory.
#include "backends/peer_kernels/test_ranks.h"
#include "backends/peer_kernels/typed_call.h"

namespace tutti {
namespace {

// Each rank's buffers may be aligned in another way.
TypedCall shifted(TypedCall call, int rank) {
  const std::size_t elements = 16 / call.element_bytes();
  call.send_offset = (call.send_offset + static_cast<std::size_t>(rank)) % elements;
  call.recv_offset = (call.recv_offset + 3 * static_cast<std::size_t>(rank)) % elements;
  return call;
}

// All calls, one after the other, on all ranks: what is wrong, empty when nothing is.
std::string problem_with(TestRank& rank, const std::vector<TypedCall>& calls) {
  for (const TypedCall& same_call : calls) {
    const TypedCall call = shifted(same_call, rank.world.rank);
    Frame send = send_frame(call, rank.world.rank);
    Frame recv = call.in_place ? send : recv_frame(call);
    tutti_request request = request_of((call.in_place ? recv : send).data() + call.send_at(),
                                       recv.data() + call.recv_at(), call.count, rank.stream);
    request.dtype = call.dtype;
    request.op = call.op;
    if (rank.run(request) != TUTTI_OK) return call.text() + ": run";
    rank.synchronize();
    const std::string problem = problem_of(call, rank.world.rank, rank.world.world, send, recv);
    if (!problem.empty()) return call.text() + ": " + problem;
  }
  return tutti_plugin()->poll_error(rank.communicator) == TUTTI_OK ? "" : "poll_error";
}

void check_calls(int world, const std::vector<TypedCall>& calls) {
  TestWorld facts(world);
  TestRanks ranks(facts, 60'000);
  ASSERT_EQ(ranks.create(), ranks.all(TUTTI_OK));
  std::vector<std::string> problems(static_cast<std::size_t>(world));
  ranks.on_all([&](TestRank& rank) {
    problems[rank.world.rank] = problem_with(rank, calls);
    // Its peers wait for a rank that gave up.
    if (!problems[rank.world.rank].empty()) tutti_plugin()->abort(rank.communicator);
    return TUTTI_OK;
  });
  EXPECT_EQ(problems, std::vector<std::string>(problems.size()));
  EXPECT_EQ(ranks.destroy(), ranks.all(TUTTI_OK));
}

TEST(PeerKernelTypes, EveryDtypeAndOp) {
  for (const int world : {1, 2, 7}) check_calls(world, calls_of_all_types());
}

TEST(PeerKernelTypes, EveryAlignment) { check_calls(3, calls_of_all_alignments()); }

// Around the share of a block, and the largest messages that one kernel does at once.
TEST(PeerKernelTypes, CountsAroundBlocksAndSlots) {
  std::vector<TypedCall> calls;
  for (const std::uint64_t bytes : {1u << 16, 1u << 17, 1u << 20, 1u << 23}) {
    for (const std::uint64_t count : {bytes - 1, bytes, bytes + 1})
      calls.push_back({TUTTI_UINT8, TUTTI_SUM, count, 0, 0, count % 2 == 0});
    calls.push_back({TUTTI_INT64, TUTTI_MAX, bytes / 8 + 1, 1, 0, false});
  }
  check_calls(2, calls);
}

}  // namespace
}  // namespace tutti
