#include "suites/suite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "fixtures/world/signals.h"
#include "suites/expectations.h"
#include "suites/planned_tests.h"
#include "suites/sample.h"

namespace tutti {

namespace {

struct Running {
  RunContext& context;
  const std::vector<PlannedTest>& tests;
  const Progress& progress;
  std::vector<Record>& records;
  int done = 0;
  std::exception_ptr stopped{};          // what ended it early: nothing more is run
  std::set<const PlannedTest*> paced{};  // the tests that share --time
};

// Those that GoogleTest's filter has left.
template <typename Visit>
void for_each_selected(const std::vector<PlannedTest>& tests, const Visit& visit) {
  std::map<std::string, const PlannedTest*> by_name;
  for (const PlannedTest& test : tests) by_name[test.suite_name + "." + test.name] = &test;
  const auto& unit = *testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i) {
    const auto& suite = *unit.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const auto& info = *suite.GetTestInfo(j);
      const auto found = by_name.find(std::string(suite.name()) + "." + info.name());
      if (info.should_run() && found != by_name.end()) visit(*found->second);
    }
  }
}

Record missing_record(const RunContext& context, const Cell& cell, const std::string& why) {
  Record record = record_of(cell);
  record.build_id = context.build_id;
  record.reason = why;
  return record;
}

const Cell* cell_named(const std::vector<PlannedTest>& tests, const std::string& name) {
  for (const PlannedTest& test : tests) {
    for (const Cell& cell : test.cells) {
      if (name_of(cell) == name) return &cell;
    }
  }
  return nullptr;
}

// Whether a record is of the cell that a late death belongs to: that of its last case; for a worker
// of a reference, any of that backend and world.
bool belongs(const LateDeath& late, const Record& record, const std::string& backend_of_cell) {
  if (late.last.backend == backend_of_cell) return name_of(record) == late.purpose;
  return record.backend == late.last.backend && record.world == late.last.world;
}

// Turns one cell red, if it is not already. Nobody confirms it: whether a worker dies when it is
// idle is a matter of time.
void amend(Running& running, const LateDeath& late) {
  const Cell* purpose = cell_named(running.tests, late.purpose);
  if (!purpose) return;
  for (Record& record : running.records) {
    if (!belongs(late, record, purpose->backend->name)) continue;
    if (colour_of(record.verdict) == Colour::red) return;
    const Cell* cell = cell_named(running.tests, name_of(record));
    report(record, {late.last, late.outcome, "seen once, not confirmed"},
           cell ? expected_failure(*cell, late.last, late.outcome) : nullptr);
    if (running.progress.on_record) running.progress.on_record(record);
    return;
  }
  // A reference that has no cell in this run: what was compared stays, and says so.
  for (Record& record : running.records) {
    if (name_of(record) != late.purpose) continue;
    record.reason +=
        fmt::format("{}its reference {} died later: {}", record.reason.empty() ? "" : "; ",
                    late.last.backend, late.outcome.reason);
    if (running.progress.on_record) running.progress.on_record(record);
  }
}

void amend_all(Running& running) {
  for (const LateDeath& late : running.context.runner.take_late_deaths()) amend(running, late);
}

// Those that come to more than skips, as far as is known before the first of them.
std::set<const PlannedTest*> tests_to_check(const Running& running) {
  std::set<const PlannedTest*> tests;
  for_each_selected(running.tests, [&](const PlannedTest& test) {
    if (cells_to_check(running.context, test) > 0) tests.insert(&test);
  });
  return tests;
}

class CellsTest : public testing::Test {
 public:
  CellsTest(const PlannedTest& test, Running& running) : test_(test), running_(running) {}

  void TestBody() override {
    if (running_.stopped) return;
    try {
      begin();
      if (running_.progress.on_test) {
        running_.progress.on_test(running_.done,
                                  testing::UnitTest::GetInstance()->test_to_run_count(),
                                  test_.suite_name + " " + test_.name);
      }
      for (const Cell& cell : test_.cells) check(cell);
      amend_all(running_);
    } catch (...) {  // also what Progress throws, such as that a journal cannot be written
      running_.stopped = std::current_exception();
    }
    ++running_.done;
  }

 private:
  // Of a sample there are about as many cells as it is one in.
  void begin() {
    RunContext& context = running_.context;
    const auto now = std::chrono::steady_clock::now();
    if (running_.done == 0) {
      running_.paced = tests_to_check(running_);
      context.pace.set_tests(running_.paced.size(), now);
    }
    if (!running_.paced.contains(&test_)) return;  // what was counted has its turn, skips or not
    const auto one_in = static_cast<std::uint64_t>(context.sample.one_in);
    context.pace.begin_test(cells_to_check(context, test_) / one_in, now);
  }

  // A mistake of the suite's own is a record, too: the cell came to nothing, and says why.
  Record checked(const Cell& cell) {
    try {
      return check_cell(running_.context, cell);
    } catch (const Interrupted&) {
      throw;
    } catch (const SuiteError&) {
      throw;
    } catch (const std::exception& error) {
      return missing_record(running_.context, cell, error.what());
    }
  }

  void check(const Cell& cell) {
    throw_if_interrupted();
    const Record record = checked(cell);
    running_.records.push_back(record);
    if (running_.progress.on_record) running_.progress.on_record(record);
    if (colour_of(record.verdict) == Colour::red)
      ADD_FAILURE() << name_of(cell) << ": " << record.reason;
  }

  const PlannedTest& test_;
  Running& running_;
};

// GTEST_* variables of another program's tests must not thin out, repeat or reorder this run. Flags
// have taken theirs before main; sharding is read when tests start.
void ignore_googletest_environment() {
  for (const char* variable : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE",
                               "TEST_PREMATURE_EXIT_FILE"})
    ::unsetenv(variable);
  testing::GTEST_FLAG(also_run_disabled_tests) = false;
  testing::GTEST_FLAG(break_on_failure) = false;
  testing::GTEST_FLAG(catch_exceptions) = true;
  testing::GTEST_FLAG(fail_fast) = false;
  testing::GTEST_FLAG(list_tests) = false;
  testing::GTEST_FLAG(output) = "";
  testing::GTEST_FLAG(repeat) = 1;
  testing::GTEST_FLAG(shuffle) = false;
  testing::GTEST_FLAG(stream_result_to) = "";
  testing::GTEST_FLAG(throw_on_failure) = false;
}

void silence_googletest() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
}

// What was planned and selected, but has no record.
void add_missing(const RunContext& context, const std::vector<PlannedTest>& tests,
                 std::vector<Record>& records) {
  std::set<std::string> there;
  for (const Record& record : records) there.insert(name_of(record));
  for_each_selected(tests, [&](const PlannedTest& test) {
    for (const Cell& cell : test.cells) {
      const Record record = missing_record(context, cell, "planned, but it came to no result");
      if (there.insert(name_of(record)).second) records.push_back(record);
    }
  });
}

}  // namespace

void run_plan(RunContext& context, const Plan& plan, const Progress& progress,
              std::vector<Record>& records) {
  const std::vector<BackendEntry> references = installed_backends(places());
  const std::vector<PlannedTest> tests = tests_of(context, plan, references);
  std::uint64_t cells = 0;
  for (const PlannedTest& test : tests) cells += cells_to_check(context, test);
  context.sample = {thinning(cells, context.profile.cells_most), context.seed, plan.worlds,
                    context.profile.worlds_of_nodes};
  Running running{context, tests, progress, records};
  for (const PlannedTest& test : tests) {
    testing::RegisterTest(
        test.suite_name.c_str(), test.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [&test, &running]() -> CellsTest* { return new CellsTest(test, running); });
  }
  int argument_count = 1;
  char name[] = "tutti";
  char* arguments[] = {name, nullptr};
  ignore_googletest_environment();
  testing::InitGoogleTest(&argument_count, arguments);
  testing::GTEST_FLAG(filter) = plan.filter;
  silence_googletest();
  [[maybe_unused]] const int failed = RUN_ALL_TESTS();
  if (running.stopped) std::rethrow_exception(running.stopped);
  context.runner.close_all();
  amend_all(running);
  add_missing(context, tests, records);
}

}  // namespace tutti
