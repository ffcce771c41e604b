// The loader: what is no backend is refused with a message that says what is wrong and what to do.
#include "tests/program.h"

namespace tutti::testing {
namespace {

struct Bad {
  std::string name, message;
};

class BadPlugin : public ::testing::TestWithParam<Bad> {};

TEST_P(BadPlugin, IsRefusedWithAClearMessage) {
  CommandOptions options;
  options.with_errors = true;
  const CommandResult result = run_command(
      {(lib_folder() / "tutti-worker").string(), "--check", sabotaged(GetParam().name)}, options);
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find(GetParam().message), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(All, BadPlugin,
                         ::testing::Values(Bad{"wrong_abi_version", "was built for ABI version"},
                                           Bad{"short_table", "sizeof(tutti_backend)"},
                                           Bad{"missing_run", "has no 'run'"},
                                           Bad{"no_symbol", "exports no function 'tutti_plugin'"},
                                           Bad{"no_table", "null table"},
                                           Bad{"not_there", "cannot load the plugin"}),
                         [](const auto& info) { return info.param.name; });

TEST(BadPlugin, NamedOnTheCommandLineIsStatusTwo) {
  const CommandResult result = tutti({"run", "-np", "1", "--backend", sabotaged("missing_run")});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find("has no 'run'"), std::string::npos) << result.output;
}

TEST(ExamplePlugin, IsGreenByItsPath) {
  const std::string plugin = (lib_folder() / "examples" / "example" / "libexample.so").string();
  const Finished finished = run({"-np", "4", "--backend", plugin, "--world", "1..4"});
  EXPECT_EQ(finished.result.status, 0) << finished.result.output;
  ASSERT_TRUE(finished.report.contains("records")) << finished.result.output;
  EXPECT_FALSE(finished.with("pass").empty()) << finished.result.output;
}

TEST(ExamplePython, IsGreenInItsInterpreter) {
  if (find_program("python3").empty()) GTEST_SKIP() << "no python3";
  // An interpreter without the sanitizer's runtime cannot load a library that needs it.
  if (*TUTTI_SANITIZER) GTEST_SKIP() << "the worker library has a sanitizer in it";
  const std::string folder = (lib_folder() / "examples" / "example_python").string();
  const Finished finished = run({"-np", "3", "--backend", folder, "--world", "1..3"});
  EXPECT_EQ(finished.result.status, 0) << finished.result.output;
}

}  // namespace
}  // namespace tutti::testing
