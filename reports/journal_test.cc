#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "fixtures/world/temporary_folder.h"
#include "reports/report.h"
#include "reports/sample_record.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

TEST(JournalFile, KeepsRecordsInOrder) {
  const TemporaryFolder folder;
  {
    Journal journal(folder.path() + "/new/run");
    journal.append(sample_record());
    journal.append(red_record());
  }
  const auto records = read_journal(folder.path() + "/new/run");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(to_json(records[0]), to_json(sample_record()));
  EXPECT_EQ(to_json(records[1]), to_json(red_record()));
}

TEST(JournalFile, IsOnTheDiskWhileTheRunGoesOn) {
  const TemporaryFolder folder;
  Journal journal(folder.path());
  EXPECT_EQ(read_journal(folder.path()).size(), 0u);
  journal.append(sample_record());
  EXPECT_EQ(read_journal(folder.path()).size(), 1u);
}

TEST(JournalFile, GoesOnAfterHalfALine) {
  const TemporaryFolder folder;
  Journal(folder.path()).append(sample_record());
  std::ofstream(folder.path() + "/records.jsonl", std::ios::app) << "{\"backend\":\"two_sh";
  EXPECT_EQ(read_journal(folder.path()).size(), 1u);
  Journal(folder.path()).append(red_record());
  const auto records = read_journal(folder.path());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[1].verdict, Verdict::wrong);
}

TEST(JournalFile, OfAnEarlierRunIsNotMixedWithANewOne) {
  const TemporaryFolder folder;
  EXPECT_NO_THROW(require_new_folder(folder.path() + "/new"));
  EXPECT_NO_THROW(require_new_folder(folder.path()));
  Journal(folder.path()).append(sample_record());
  EXPECT_THROW(require_new_folder(folder.path()), std::runtime_error);
}

TEST(JournalFile, NamesTheLineThatIsNoRecord) {
  const TemporaryFolder folder;
  Journal(folder.path()).append(sample_record());
  std::ofstream(folder.path() + "/records.jsonl", std::ios::app) << "garbage\n";
  try {
    read_journal(folder.path());
    FAIL() << "garbage was read";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("records.jsonl:2:"), std::string::npos)
        << error.what();
  }
}

TEST(JournalFile, SaysWhichFolderCannotBeMade) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "in the way";
  try {
    Journal journal(folder.path() + "/file/run");
    FAIL() << "a folder was made below a file";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(folder.path() + "/file/run"), std::string::npos)
        << error.what();
  }
}

TEST(DefaultFolder, IsNewAndWellNamed) {
  const TemporaryFolder folder;
  const std::string first = default_folder(folder.path(), "node 1/../x", "580.65");
  const std::string second = default_folder(folder.path(), "node 1/../x", "580.65");
  EXPECT_NE(first, second);
  for (const std::string& made : {first, second}) {
    EXPECT_TRUE(fs::is_directory(made));
    EXPECT_EQ(fs::path(made).parent_path(), fs::path(folder.path()) / "reports" / "out");
    EXPECT_EQ(fs::path(made).filename().string().rfind("node-1-..-x-580.65-", 0), 0u) << made;
  }
}

TEST(DefaultFolder, HasANameWhenNothingIsKnown) {
  const TemporaryFolder folder;
  const std::string made = fs::path(default_folder(folder.path(), "..", "")).filename();
  EXPECT_EQ(made.rfind("machine-no_driver-", 0), 0u) << made;
}

TEST(LatestLink, FollowsTheLastFolder) {
  const TemporaryFolder folder;
  const fs::path latest = fs::path(folder.path()) / "reports" / "out" / "latest";
  for (const char* ending : {"", "/"}) {
    const std::string made = default_folder(folder.path(), "machine", "driver");
    point_latest(made + ending);
    EXPECT_TRUE(fs::equivalent(latest, made));
    EXPECT_TRUE(fs::read_symlink(latest).is_relative());
  }
}

TEST(LatestLink, DoesNotReplaceAFolder) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() + "/latest/kept");
  fs::create_directories(folder.path() + "/run");
  EXPECT_THROW(point_latest(folder.path() + "/run"), std::runtime_error);
  EXPECT_TRUE(fs::exists(folder.path() + "/latest/kept"));
}

TEST(Reports, AllFormatsAreWrittenAndNothingElse) {
  const TemporaryFolder folder;
  write_reports(folder.path(), {}, {sample_record()});
  write_reports(folder.path(), {}, {sample_record(), red_record()});
  std::set<std::string> found, expected;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    found.insert(entry.path().filename());
  for (const Format& format : formats()) expected.insert(format.file_name);
  EXPECT_EQ(found, expected);
  EXPECT_GE(found.size(), 2u);
  std::ostringstream content;
  content << std::ifstream(folder.path() + "/report.json").rdbuf();
  EXPECT_EQ(nlohmann::json::parse(content.str())["records"].size(), 2u);
}

}  // namespace
}  // namespace tutti
