// Backends that need an MPI world of their own: a plugin that says so in its claims, started by an
// mpirun inside of the run.
#include "tests/background.h"

namespace tutti::testing {
namespace {

// A sabotaged backend, with claims that ask for an MPI world.
class InMpiWorld {
 public:
  explicit InMpiWorld(const std::string& name) : plugin_(folder_ / ("lib" + name + ".so")) {
    fs::create_symlink(sabotaged(name), plugin_);
    std::ofstream(folder_ / ("lib" + name + ".toml")) << "[worker]\nmpi_world = true\n";
  }
  const std::string& plugin() const { return plugin_; }

 private:
  const TemporaryFolder folder_;
  const std::string plugin_;
};

TEST(MpiWorld, AHealthyBackendIsGreen) {
  const InMpiWorld healthy("healthy");
  const Finished finished = run({"-np", "3", "--backend", healthy.plugin(), "--filter",
                                 "*.agreement.exact/*:*.agreement.create_destroy/*"});
  EXPECT_EQ(finished.result.status, 0) << finished.result.output;
  ASSERT_TRUE(finished.report.contains("records")) << finished.result.output;
  EXPECT_FALSE(finished.with("pass").empty()) << finished.result.output;
}

TEST(MpiWorld, ADeathIsNamedShownAndReplays) {
  const InMpiWorld segfaults("segfaults");
  const Finished finished = run({"-np", "2", "--backend", segfaults.plugin(), "--world", "2",
                                 "--filter", "*.agreement.exact/*", "--shrink", "1"});
  EXPECT_EQ(finished.result.status, 1) << finished.result.output;
  ASSERT_TRUE(finished.report.contains("records")) << finished.result.output;
  const auto red = finished.with("crash");
  ASSERT_FALSE(red.empty()) << finished.result.output;
  EXPECT_NE(red[0]["reason"].get<std::string>().find("signal 11"), std::string::npos)
      << red[0].dump(1);
  const bool shows_backtrace = red[0]["evidence"].dump().find("backtrace") != std::string::npos;
  EXPECT_EQ(shows_backtrace, !find_program("eu-stack").empty() || !find_program("gdb").empty());
  const CommandResult replayed = tutti({"replay", red[0]["replay"].get<std::string>()});
  EXPECT_EQ(replayed.status, 1) << replayed.output;
}

TEST(MpiWorld, AHangIsSeen) {
  const InMpiWorld hangs("hangs_on_one_rank");
  const Finished finished =
      run({"-np", "2", "--backend", hangs.plugin(), "--world", "2", "--filter",
           "*.agreement.exact/*", "--deadline-ms", "1000", "--shrink", "1"});
  EXPECT_EQ(finished.result.status, 1) << finished.result.output;
  const auto red = finished.with("hang");
  ASSERT_FALSE(red.empty()) << finished.result.output;
  EXPECT_NE(red[0]["reason"].get<std::string>().find("rank 1"), std::string::npos);
}

TEST(MpiWorld, IsNotHostedInARank) {
  const InMpiWorld healthy("healthy");
  const CommandResult result =
      tutti({"run", "-np", "1", "--backend", healthy.plugin(), "--isolation", "none"});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find("needs an MPI world of its own, so --isolation none cannot"),
            std::string::npos)
      << result.output;
}

TEST(MpiWorld, OfADirectorThatIsKilledLeavesNothing) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const InMpiWorld healthy("healthy");
  const auto shm_before = names_in_shm();
  Background background(healthy.plugin(), out, fmt::format("mpi-world-{}", ::getpid()));
  ASSERT_TRUE(wait_for_records(out)) << "no record within 30 s";
  ASSERT_NO_FATAL_FAILURE(kill_director(background));
  EXPECT_EQ(left_in_shm(shm_before), std::vector<std::string>{});
}

}  // namespace
}  // namespace tutti::testing
