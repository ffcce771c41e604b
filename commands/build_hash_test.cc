#include "commands/build_hash.h"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "fixtures/world/temporary_folder.h"

namespace tutti {
namespace {

TEST(BuildHash, TellsFilesApartByTheirBytes) {
  const TemporaryFolder folder;
  const std::string one = folder.path() + "/one", same = folder.path() + "/same",
                    other = folder.path() + "/other";
  std::ofstream(one) << "a build";
  std::ofstream(same) << "a build";
  std::ofstream(other) << "a Build";
  EXPECT_EQ(hash_of_files({one, other}), hash_of_files({same, other}));
  EXPECT_NE(hash_of_files({one}), hash_of_files({other}));
  EXPECT_NE(hash_of_files({one, other}), hash_of_files({other, one}));
}

TEST(BuildHash, SaysWhichFileIsNotThere) {
  try {
    hash_of_files({"/proc/self/exe", "/no/such/library.so"});
    FAIL() << "a file that is not there has a hash";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/library.so"), std::string::npos);
  }
}

}  // namespace
}  // namespace tutti
