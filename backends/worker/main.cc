// The native worker: loads one plugin and serves it. `tutti-worker PLUGIN` is started by a rank;
// `tutti-worker --facts` prints the machine as node JSON and ends, so that no rank ever holds a
// CUDA context; nor by `tutti-worker --verify-speed DEVICE`. `tutti-worker --launch ...` and
// `tutti-worker --member ...` are for workers that are an MPI world: see launcher.h and member.h.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

#include "backends/worker/launcher.h"
#include "backends/worker/member.h"
#include "backends/worker/worker.h"

namespace {

std::string folder_of_this_program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

int usage() {
  std::fprintf(
      stderr,
      "usage: tutti-worker PLUGIN.so | --facts | --verify-speed host|cuda | --check PLUGIN.so "
      "| --launch FOLDER PROGRAM ARGUMENT... | --member MEETING PROGRAM ARGUMENT...\n");
  return 2;
}

// Prints what `text(folder)` returns, or what went wrong.
template <typename Text>
int print(Text text) {
  try {
    std::puts(text(folder_of_this_program().c_str()));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "--facts") == 0) return print(tutti_real_node);
  if (count == 3 && std::strcmp(arguments[1], "--verify-speed") == 0)
    return print([&](const char* folder) { return tutti_verify_speed(arguments[2], folder); });
  if (count >= 4 && std::strcmp(arguments[1], "--launch") == 0)
    return tutti::serve_as_launcher(arguments + 2);
  if (count >= 4 && std::strcmp(arguments[1], "--member") == 0)
    return tutti::serve_as_member(arguments + 2);
  const bool check = count == 3 && std::strcmp(arguments[1], "--check") == 0;
  if (count != 2 && !check) return usage();
  std::signal(SIGPIPE, SIG_IGN);  // backend.h promises it
  char message[512] = "";
  const tutti_backend* backend = tutti_load_plugin(arguments[count - 1], message, sizeof message);
  if (!backend) {
    std::fprintf(stderr, "tutti worker: %s\n", message);
    return 2;
  }
  if (!check) return tutti_worker_serve(backend);
  std::printf("%s %s\n", backend->name, backend->version());
  return 0;
}
