#include "commands/machine.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

std::string answer_with(const std::string& host, std::size_t devices) {
  Node node;
  node.name = "real";
  node.device_kind = "cuda";
  for (std::size_t index = 0; index < devices; ++index) {
    RankFacts facts;
    facts.host = host;
    facts.device = host + " " + std::to_string(index);
    facts.device_index = static_cast<int>(index);
    facts.peer_access.assign(devices, 1);
    facts.nvlinks.assign(devices, 1);
    facts.pcie.assign(devices, 1);
    node.devices.push_back(facts);
  }
  return to_text(HostAnswer{node_to_json(node), ""});
}

std::string problem_that_says(const std::string& text) { return to_text(HostAnswer{"", text}); }

TEST(Machine, OneHostHasAnEntryADevice) {
  const Machine machine = machine_of({"a", "a", "a"}, {answer_with("a", 2), "", ""});
  EXPECT_EQ(machine.problem, "");
  EXPECT_EQ(machine.hosts, 1);
  EXPECT_EQ(machine.real.devices.size(), 2u);
}

TEST(Machine, WithoutAGpuIsNoProblem) {
  const Machine machine = machine_of({"a", "b"}, {answer_with("a", 0), answer_with("b", 0)});
  EXPECT_EQ(machine.problem, "");
  EXPECT_TRUE(machine.real.devices.empty());
}

TEST(Machine, SeveralHostsHaveAnEntryARank) {
  const Machine machine =
      machine_of({"a", "a", "b", "b"}, {answer_with("a", 2), "", answer_with("b", 2), ""});
  EXPECT_EQ(machine.problem, "");
  EXPECT_EQ(machine.hosts, 2);
  ASSERT_EQ(machine.real.devices.size(), 4u);
  EXPECT_EQ(machine.real.devices[2].host, "b");
  EXPECT_EQ(machine.real.devices[2].peer_access, (std::vector<std::uint8_t>{0, 0, 1, 1}));
}

TEST(Machine, AReaderThatFailsIsAProblemWithItsHostAndCause) {
  for (const auto& answers : std::vector<std::vector<std::string>>{
           {problem_that_says("driver is ill"), answer_with("b", 2)},
           {answer_with("a", 2), problem_that_says("driver is ill")}}) {
    const Machine machine = machine_of({"a", "b"}, answers);
    EXPECT_NE(machine.problem.find("driver is ill"), std::string::npos) << machine.problem;
    EXPECT_TRUE(machine.real.devices.empty());
  }
}

TEST(Machine, EveryHostMustAnswer) {
  EXPECT_NE(machine_of({"a", "b"}, {answer_with("a", 2), ""}).problem, "");
  EXPECT_NE(machine_of({"a", "b", "c"}, {answer_with("a", 2), answer_with("b", 2), ""}).problem,
            "");
  EXPECT_NE(machine_of({"a"}, {}).problem, "");
  EXPECT_NE(machine_of({}, {}).problem, "");
}

TEST(Machine, OneHostWithoutGpusIsAProblem) {
  const Machine machine = machine_of({"a", "b"}, {answer_with("a", 2), answer_with("b", 0)});
  EXPECT_NE(machine.problem.find("b has none"), std::string::npos) << machine.problem;
}

}  // namespace
}  // namespace tutti
