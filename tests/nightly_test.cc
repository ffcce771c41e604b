// The nightly script: a new red fails once, and is known from then on.
#include "tests/program.h"

namespace tutti::testing {
namespace {

// One plugin file, whose content is now this and now that sabotaged plugin: the next driver.
class Nightly : public ::testing::Test {
 protected:
  void install(const std::string& name) {
    const fs::path source(sabotaged(name));
    fs::remove(plugin());
    fs::copy(source, plugin());
    fs::copy(fs::path(source).replace_extension(".toml"), folder_ / "vendor.toml",
             fs::copy_options::overwrite_existing);
  }

  std::string plugin() const { return folder_ / "vendor.so"; }
  std::string base() const { return folder_ / "base"; }

  CommandResult nightly(const std::vector<std::string>& options,
                        const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> words{"env"};
    words.insert(words.end(), environment.begin(), environment.end());
    words.insert(words.end(), {"bash", program() + "-nightly", "--base", base(), "--machine", "m"});
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "-np", "3", "--backend", plugin(), "--world", "3", "--filter",
                               "*agreement.exact/*", "--cases", cases_, "--shrink", "1"});
    CommandOptions limits;
    limits.timeout = std::chrono::seconds(300);
    limits.bytes_max = 1u << 20;
    limits.with_errors = true;
    return run_command(words, limits);
  }

  TemporaryFolder folder_;
  std::string cases_ = "4";
};

bool has(const CommandResult& result, const std::string& text) {
  return result.output.find(text) != std::string::npos;
}

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_F(Nightly, ANewRedFailsOnce) {
  install("healthy");
  const CommandResult first = nightly({"--driver", "1"});
  EXPECT_EQ(first.status, 0) << first.output;
  EXPECT_TRUE(has(first, "the first complete run")) << first.output;
  install("drops_rank");
  const CommandResult second = nightly({"--driver", "1"});
  EXPECT_EQ(second.status, 1) << second.output;
  EXPECT_TRUE(has(second, "newly red: 6")) << second.output;
  EXPECT_TRUE(has(second, "tutti replay")) << second.output;
  const CommandResult third = nightly({"--driver", "1"});
  EXPECT_EQ(third.status, 0) << third.output;
  EXPECT_EQ(entries(base() + "/m/1"), 3u);
}

// A night that --time keeps from what was red does not make it new in the next.
TEST_F(Nightly, ARedThatANightDidNotReachIsNotNew) {
  install("drops_rank");
  ASSERT_EQ(nightly({"--driver", "1"}).status, 1);
  const CommandResult second = nightly({"--driver", "1"});
  EXPECT_EQ(second.status, 0) << second.output;
  std::string last;
  for (const auto& run : fs::directory_iterator(base() + "/m/1"))
    last = std::max(last, run.path().string());
  nlohmann::json report = nlohmann::json::parse(std::ifstream(last + "/report.json"));
  for (auto& record : report["records"]) {
    record["verdict"] = "skip";
    record["skip_cause"] = "time_is_up";
  }
  std::ofstream(last + "/report.json") << report;
  // The next night, and the first one of another driver.
  for (const std::string driver : {"2", "1"}) {
    const CommandResult next = nightly({"--driver", driver});
    EXPECT_EQ(next.status, 0) << next.output;
    EXPECT_FALSE(has(next, "newly red:")) << next.output;
    EXPECT_TRUE(has(next, "are as earlier runs had them")) << next.output;
  }
}

TEST_F(Nightly, TheFirstRunOfADriverIsComparedWithAnotherDriver) {
  install("healthy");
  ASSERT_EQ(nightly({"--driver", "1"}).status, 0);
  install("drops_rank");
  const CommandResult second = nightly({"--driver", "2"});
  EXPECT_EQ(second.status, 1) << second.output;
  EXPECT_TRUE(has(second, "another driver of this machine: " + base() + "/m/1/")) << second.output;
}

TEST_F(Nightly, TheFirstRunFailsOnAnythingRed) {
  install("drops_rank");
  const CommandResult first = nightly({});
  EXPECT_EQ(first.status, 1) << first.output;
}

// What did not do its work is no measure for the next night.
TEST_F(Nightly, ARunThatCouldNotWorkIsStatusTwoAndComparedWithNothing) {
  const CommandResult absent = nightly({"--driver", "1"});
  EXPECT_EQ(absent.status, 2) << absent.output;
  EXPECT_TRUE(has(absent, "there is no plugin")) << absent.output;
  install("healthy");
  const CommandResult first = nightly({"--driver", "1"});
  EXPECT_EQ(first.status, 0) << first.output;
  EXPECT_TRUE(has(first, "the first complete run")) << first.output;
}

TEST_F(Nightly, ARunThatIsEndedBySignalLeavesWhatItHasAndIsNoMeasure) {
  install("healthy");
  cases_ = "1000000";
  const CommandResult ended = nightly(
      {"--driver", "1"}, {"timeout", "--foreground", "--preserve-status", "--signal=TERM", "4"});
  EXPECT_EQ(ended.status, 2) << ended.output;
  EXPECT_TRUE(has(ended, "interrupted by")) << ended.output;
  EXPECT_TRUE(has(ended, "compared with nothing")) << ended.output;
  cases_ = "4";
  const CommandResult next = nightly({"--driver", "1"});
  EXPECT_EQ(next.status, 0) << next.output;
  EXPECT_TRUE(has(next, "the first complete run")) << next.output;
}

TEST_F(Nightly, UnknownOptionsAndBadValuesAreRefused) {
  for (const std::vector<std::string>& bad :
       {std::vector<std::string>{"--tmie", "3"}, {"--time", "soon"}, {"--program", "/nowhere"}}) {
    const CommandResult result = nightly(bad);
    EXPECT_EQ(result.status, 2) << result.output;
    EXPECT_TRUE(has(result, "tutti-nightly: ")) << result.output;
  }
}

// In a batch job the ranks are Slurm's. This srun starts one, which starts its own.
TEST_F(Nightly, InSlurmTheRanksAreStartedBySrun) {
  install("healthy");
  const std::string srun = folder_ / "srun";
  std::ofstream(srun) << "#!/bin/sh\necho srun \"$@\"\nshift\nunset SLURM_JOB_ID\nexec \"$@\"\n";
  fs::permissions(srun, fs::perms::owner_all);
  const std::string path = fs::path(srun).parent_path().string() + ":" + std::getenv("PATH");
  const CommandResult result = nightly({}, {"SLURM_JOB_ID=7", "PATH=" + path});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(has(result, "srun --mpi=pmix " + program() + " run")) << result.output;
}

}  // namespace
}  // namespace tutti::testing
