// Verdicts from what ranks said, without any rank.
#include "suites/judge.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using nlohmann::json;

BackendEntry backend_claiming(ClaimState state, const std::string& path = "") {
  BackendEntry backend;
  backend.name = "any";
  backend.claims.claims.push_back({state, path, {}, ""});
  backend.claims.same_bits_on_all_ranks.all = true;
  return backend;
}

Node node_of_two() {
  Node node;
  node.name = "host";
  node.device_kind = "host";
  RankFacts facts;
  facts.host = "one";
  facts.peer_access = {1, 1};
  facts.nvlinks = facts.pcie = {1, 1};
  node.devices = {facts, facts};
  node.devices[0].device = "first";
  node.devices[1].device = "second";
  return node;
}

Case one_call() {
  Case one_case;
  one_case.backend = "any";
  one_case.path = "ring";
  one_case.property = "agreement.exact";
  one_case.world = 2;
  Allreduce call;
  call.count = 8;
  one_case.steps = {call};
  return one_case;
}

json right(const std::string& path = "ring") {
  return {{"status", TUTTI_OK}, {"path", path}, {"hashes", {1, 2}}, {"check", {{"max", 0.0}}}};
}

json declined(int status, const std::string& reason) {
  return {{"status", status}, {"path", "ring"}, {"reason", reason}};
}

Reply answer(json body) {
  Reply reply;
  reply.state = Reply::State::answered;
  reply.body = std::move(body);
  return reply;
}

Observation ran(const json& rank_0, const json& rank_1) {
  Observation seen;
  seen.run = {answer({{"calls", json::array({rank_0})}}),
              answer({{"calls", json::array({rank_1})}})};
  return seen;
}

Verdict verdict(const Observation& seen, const BackendEntry& backend) {
  return judge(one_call(), backend, node_of_two(), seen).verdict;
}

const BackendEntry kClaimed = backend_claiming(ClaimState::claimed);
const BackendEntry kUnspecified = backend_claiming(ClaimState::unspecified);
const BackendEntry kRefusing = backend_claiming(ClaimState::refuses);

TEST(Judge, RightResultByTheClaimedPathPasses) {
  EXPECT_EQ(verdict(ran(right(), right()), kClaimed), Verdict::pass);
}

TEST(Judge, AnotherPathIsLostWhereClaimedAndAFallbackElsewhere) {
  EXPECT_EQ(verdict(ran(right("bcube"), right("bcube")), kClaimed), Verdict::lost_path);
  EXPECT_EQ(verdict(ran(right("bcube"), right("bcube")), kUnspecified), Verdict::fell_back);
}

TEST(Judge, DecliningIsLostWhereClaimedAndRefusedElsewhere) {
  const json no = declined(TUTTI_UNSUPPORTED, "too small");
  EXPECT_EQ(verdict(ran(no, no), kClaimed), Verdict::lost_path);
  EXPECT_EQ(verdict(ran(no, no), kUnspecified), Verdict::refused);
  EXPECT_EQ(verdict(ran(no, no), kRefusing), Verdict::refused);
}

Outcome outcome_of(const json& rank_0, const json& rank_1) {
  return judge(one_call(), kUnspecified, node_of_two(), ran(rank_0, rank_1));
}

TEST(Results, AreTheBitsOfAllRanksAndThePathsTaken) {
  const Outcome outcome = outcome_of(right(), right());
  EXPECT_EQ(outcome.bits.size(), 16u);
  EXPECT_EQ(outcome.bits, outcome_of(right(), right()).bits);
  EXPECT_EQ(outcome.paths, (std::set<std::string>{"ring"}));
  json other = right();
  other["hashes"] = {1, 3};
  EXPECT_NE(outcome.bits, outcome_of(other, other).bits);
  EXPECT_EQ(outcome_of(right("bcube"), right("bcube")).bits, outcome.bits);
}

TEST(Results, OfARefusedCallAreNoneAndOfARedCaseAreNotTold) {
  const json no = declined(TUTTI_UNSUPPORTED, "too small");
  EXPECT_TRUE(outcome_of(no, no).paths.empty());
  EXPECT_NE(outcome_of(no, no).bits, outcome_of(right(), right()).bits);
  EXPECT_TRUE(outcome_of(right("ring"), right("bcube")).bits.empty());
}

TEST(Judge, CarryingOutWhatIsRefusedIsWrong) {
  EXPECT_EQ(verdict(ran(right(), right()), kRefusing), Verdict::wrong);
}

TEST(Judge, RanksThatDecideDifferentlyAreSplit) {
  EXPECT_EQ(verdict(ran(right(), declined(TUTTI_UNSUPPORTED, "")), kUnspecified), Verdict::split);
  EXPECT_EQ(verdict(ran(right("ring"), right("bcube")), kUnspecified), Verdict::split);
}

TEST(Judge, DifferentBitsAreSplitOnlyWhereEqualOnesAreClaimed) {
  json other = right();
  other["hashes"] = {1, 3};
  EXPECT_EQ(verdict(ran(right(), other), kClaimed), Verdict::split);
  BackendEntry loose = kClaimed;
  loose.claims.same_bits_on_all_ranks.all = false;
  EXPECT_EQ(verdict(ran(right(), other), loose), Verdict::pass);
}

TEST(Judge, WrongNumbersOnOneRankAreWrong) {
  json bad = right();
  bad["check"] = {{"max", 3.0}, {"wrong", 1}, {"why", "rank 1: stale"}};
  const Outcome outcome = judge(one_call(), kClaimed, node_of_two(), ran(right(), bad));
  EXPECT_EQ(outcome.verdict, Verdict::wrong);
  EXPECT_NE(outcome.reason.find("stale"), std::string::npos);
  EXPECT_EQ(outcome.max_error, 3.0);
}

TEST(Judge, ATouchedOutputOfARefusalIsCorrupt) {
  json touched = declined(TUTTI_UNSUPPORTED, "");
  touched["corrupt"] = "output changed";
  EXPECT_EQ(verdict(ran(touched, declined(TUTTI_UNSUPPORTED, "")), kRefusing), Verdict::corrupt);
}

TEST(Judge, DeathIsWorseThanTheHangOfItsPeers) {
  Observation seen;
  Reply dead, waiting;
  dead.state = Reply::State::died;
  dead.evidence = {{"phase", "call 0: run"}, {"end", "killed by signal 11"}};
  waiting.state = Reply::State::hung;
  waiting.evidence = {{"phase", "waiting for the stream"}};
  seen.run = {waiting, dead};
  const Outcome outcome = judge(one_call(), kClaimed, node_of_two(), seen);
  EXPECT_EQ(outcome.verdict, Verdict::crash);
  EXPECT_EQ(outcome.evidence.size(), 2u);
}

TEST(Judge, CreateThatRanksSeeDifferentlyIsSplit) {
  Observation seen;
  seen.create = {answer({{"status", TUTTI_OK}}),
                 answer({{"status", TUTTI_ERROR}, {"reason", "no"}})};
  EXPECT_EQ(verdict(seen, kUnspecified), Verdict::split);
}

TEST(Judge, NotInstalledIsASkipWithItsCause) {
  Observation seen;
  const json absent{{"status", TUTTI_NOT_INSTALLED}, {"reason", "no library"}};
  seen.create = {answer(absent), answer(absent)};
  const Outcome outcome = judge(one_call(), kClaimed, node_of_two(), seen);
  EXPECT_EQ(outcome.verdict, Verdict::skip);
  EXPECT_EQ(outcome.skip_cause, SkipCause::not_installed);
}

TEST(Judge, AnErrorAfterTheCallsOnOneRankIsSplit) {
  Observation seen = ran(right(), right());
  seen.run[1].body["error"] = "peer failed";
  EXPECT_EQ(verdict(seen, kUnspecified), Verdict::split);
}

TEST(Judge, AFaultThatDidNotFireIsUnfired) {
  Case faulted = one_call();
  faulted.faults = {{"worker_late", "run", {1}, 1}};
  Observation seen = ran(right(), right());
  EXPECT_EQ(judge(faulted, kClaimed, node_of_two(), seen).verdict, Verdict::unfired);
  seen.run[1].body["fired"] = "worker_late@run#1 ";
  EXPECT_EQ(judge(faulted, kClaimed, node_of_two(), seen).verdict, Verdict::pass);
}

TEST(Judge, OnlyUnsupportedWithAReasonIsGraceful) {
  EXPECT_EQ(
      verdict(ran(declined(TUTTI_ERROR, "broke"), declined(TUTTI_ERROR, "broke")), kUnspecified),
      Verdict::lost_path);
  EXPECT_EQ(
      verdict(ran(declined(TUTTI_TIMED_OUT, "late"), declined(TUTTI_TIMED_OUT, "late")), kRefusing),
      Verdict::hang);
  EXPECT_EQ(
      verdict(ran(declined(TUTTI_UNSUPPORTED, ""), declined(TUTTI_UNSUPPORTED, "")), kRefusing),
      Verdict::lost_path);
}

TEST(Judge, ACallThatWasNotReportedIsMissing) {
  Observation seen = ran(right(), right());
  seen.run[1].body["calls"] = json::array();
  EXPECT_EQ(verdict(seen, kUnspecified), Verdict::missing);
  seen.run[1].body = json::object();
  EXPECT_EQ(verdict(seen, kUnspecified), Verdict::missing);
}

TEST(Judge, CorruptionIsSeenBehindAnError) {
  Observation seen = ran(right(), right());
  seen.run[0].body["error"] = seen.run[1].body["error"] = "peer failed";
  EXPECT_EQ(verdict(seen, kUnspecified), Verdict::lost_path);
  seen.run[1].body["calls"][0]["corrupt"] = "guard";
  EXPECT_EQ(verdict(seen, kUnspecified), Verdict::corrupt);
}

TEST(Judge, RunMustDoWhatPlanSaid) {
  json planned = right();
  planned["planned"] = {{"answer", TUTTI_PLAN_PATH}, {"text", "ring"}};
  EXPECT_EQ(verdict(ran(planned, planned), kClaimed), Verdict::pass);
  planned["planned"]["text"] = "bcube";
  EXPECT_EQ(verdict(ran(planned, planned), kUnspecified), Verdict::fell_back);
  planned["planned"] = {{"answer", TUTTI_PLAN_REFUSED}, {"text", "no"}};
  EXPECT_EQ(verdict(ran(planned, planned), kUnspecified), Verdict::wrong);
  EXPECT_EQ(verdict(ran(planned, right()), kUnspecified), Verdict::split);
  json broken = declined(TUTTI_UNSUPPORTED, "changed my mind");
  broken["planned"] = {{"answer", TUTTI_PLAN_PATH}, {"text", "ring"}};
  EXPECT_EQ(verdict(ran(broken, broken), kUnspecified), Verdict::lost_path);
}

TEST(Judge, NothingAtAllIsMissingAndRed) {
  const Outcome outcome = judge(one_call(), kClaimed, node_of_two(), {});
  EXPECT_EQ(outcome.verdict, Verdict::missing);
  EXPECT_TRUE(outcome.is_red());
}

}  // namespace
}  // namespace tutti
