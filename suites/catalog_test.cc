#include "suites/catalog.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fixtures/world/temporary_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

// An installation with the backends `red` and `blue`, which declare variables, and two plugins
// outside of it that are both called `mine`.
class Catalog : public testing::Test {
 protected:
  Catalog() {
    add("red", "environment = { RED_SAFE = \"1\", SHARED = \"red\" }");
    add("blue", "environment = { SHARED = \"blue\" }");
    for (const char* where : {"/here", "/there"}) {
      fs::create_directories(folder_.path() + where);
      std::ofstream(folder_.path() + where + "/libmine.so") << "";
    }
    std::ofstream(folder_.path() + "/here/libmine.toml")
        << "[worker]\nenvironment = { RED_SAFE = \"own\" }\n";
  }

  void add(const std::string& name, const std::string& worker) {
    const std::string folder = places_.lib + "/backends/" + name;
    fs::create_directories(folder);
    std::ofstream(folder + "/lib" + name + ".so") << "";
    std::ofstream(folder + "/claims.toml") << "[worker]\n" << worker << "\n";
  }

  std::string plugin(const std::string& where) { return folder_.path() + where + "/libmine.so"; }

  const TemporaryFolder folder_;
  const Places places_{folder_.path() + "/lib", folder_.path() + "/share"};
};

TEST_F(Catalog, AWorkerGetsWhatAnyInstalledBackendDeclares) {
  const BackendEntry blue = find_backend(places_, "blue");
  const auto environment = worker_command(blue, places_, false).environment;
  EXPECT_EQ(environment.at("RED_SAFE"), "1");
  EXPECT_EQ(environment.at("SHARED"), "blue");
  const BackendEntry unclaimed = find_backend(places_, plugin("/there"));
  EXPECT_EQ(worker_command(unclaimed, places_, false).environment.at("RED_SAFE"), "1");
}

TEST_F(Catalog, ItsOwnVariablesWin) {
  const BackendEntry mine = find_backend(places_, plugin("/here"));
  EXPECT_EQ(worker_command(mine, places_, false).environment.at("RED_SAFE"), "own");
}

TEST_F(Catalog, WhatNeedsAnMpiWorldIsNotHostedEverywhere) {
  add("world", "mpi_world = true");
  const BackendEntry world = find_backend(places_, "world"), blue = find_backend(places_, "blue");
  EXPECT_EQ(worker_command(world, places_, false).mpi.member, places_.lib + "/tutti-worker");
  EXPECT_EQ(worker_command(blue, places_, false).mpi.member, "");
  EXPECT_EQ(hosting_problem(world, false, 1), "");
  EXPECT_EQ(hosting_problem(blue, true, 2), "");
  EXPECT_NE(hosting_problem(world, false, 2).find("on one host only"), std::string::npos);
  EXPECT_THROW(worker_command(world, places_, true), CatalogError);
}

TEST_F(Catalog, APluginHasOnePathHoweverItIsNamed) {
  const std::string plain = find_backend(places_, plugin("/here")).plugin;
  EXPECT_EQ(find_backend(places_, plugin("/./there/../here")).plugin, plain);
}

TEST_F(Catalog, TwoBackendsOfOneNameAreAnError) {
  EXPECT_EQ(choose_backends(places_, {}).size(), 2u);
  EXPECT_EQ(choose_backends(places_, {"red", plugin("/here")}).size(), 2u);
  EXPECT_THROW(choose_backends(places_, {"red", "red"}), CatalogError);
  try {
    choose_backends(places_, {plugin("/here"), plugin("/there")});
    FAIL() << "two plugins called mine";
  } catch (const CatalogError& error) {
    EXPECT_NE(std::string(error.what()).find("/there/libmine.so"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tutti
