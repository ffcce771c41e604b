// The worker's loop: one message in, one answer out, until the rank hangs up.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "backends/worker/last_words.h"
#include "backends/worker/loader.h"
#include "backends/worker/plan_answers.h"
#include "backends/worker/session.h"
#include "backends/worker/verify_speed.h"
#include "backends/worker/worker.h"

namespace tutti {

namespace {

using nlohmann::json;

struct Descriptors {
  int socket = -1, page = -1, compare = -1;
};

bool parse(const char* text, Descriptors& descriptors) {
  return text && std::sscanf(text, "%d,%d,%d", &descriptors.socket, &descriptors.page,
                             &descriptors.compare) == 3;
}

std::string hello(const tutti_backend& backend) {
  json paths = json::array();
  for (const char* const* path = backend.paths; *path; ++path) paths.push_back(*path);
  const char* version = backend.version();
  return json{{"name", backend.name},
              {"version", version ? version : ""},
              {"memory", backend.memory},
              {"paths", paths}}
      .dump();
}

// The memory of both files is mapped; the socket stays open until the process ends, so that also a
// crash in an exit handler is told. None of them is for programs that a library may start.
void keep_from_children(const Descriptors& descriptors) {
  for (const int file : {descriptors.socket, descriptors.page, descriptors.compare})
    ::fcntl(file, F_SETFD, FD_CLOEXEC);
}

// Text from a library under test may be no UTF-8; the answer must still arrive.
std::string dump(const json& answer) {
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <typename Body>
json told_or_suite_error(Body body) {
  try {
    return body();
  } catch (const std::exception& error) {
    return {{"suite_error", error.what()}};
  }
}

// False when the rank asked to quit.
bool answer(const tutti_backend& backend, const SessionLinks& links,
            std::unique_ptr<Session>& session, const Message& message) {
  Channel& channel = links.channel;
  switch (message.kind) {
    case Kind::create:
      channel.send({Kind::created, links.world, dump(told_or_suite_error([&] {
                      session = std::make_unique<Session>(backend, links,
                                                          session_options_from(message.payload));
                      return session->create();
                    }))});
      return true;
    case Kind::run: {
      if (!session || message.payload.empty()) return false;
      channel.send({Kind::result, links.world, dump(told_or_suite_error([&] {
                      return session->run(static_cast<RunMode>(message.payload[0]),
                                          parse_case(message.payload.substr(1)));
                    }))});
      return true;
    }
    case Kind::verify_all:
      channel.send(
          {Kind::result, links.world, dump(session ? session->verify_all() : json::object())});
      return true;
    case Kind::burst:
      channel.send({Kind::result, links.world, dump(told_or_suite_error([&] {
                      return session ? session->burst(burst_from(message.payload)) : json::object();
                    }))});
      return true;
    case Kind::sweep:
      channel.send(
          {Kind::result, links.world, dump(told_or_suite_error([&] {
             const PlanSweep sweep = plan_sweep_from(message.payload);
             return json{{"answers", to_text(answers_of_plan(backend, sweep, links.page))}};
           }))});
      return true;
    case Kind::destroy:
      channel.send(
          {Kind::destroyed, links.world, dump(session ? session->destroy() : json::object())});
      session.reset();
      return true;
    case Kind::exchange_reply:
      return true;  // late: the exchange it answers has timed out
    default:
      return false;
  }
}

int serve(const tutti_backend& backend, const Descriptors& descriptors, unsigned world,
          bool own_process) {
  void* page =
      ::mmap(nullptr, kWorkerPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptors.page, 0);
  void* compare = ::mmap(nullptr, kCompareBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                         descriptors.compare, 0);
  if (page == MAP_FAILED || compare == MAP_FAILED) {
    fmt::print(stderr, "tutti worker: cannot map the pages shared with the rank: {}\n",
               std::strerror(errno));
    return 2;
  }
  auto owned = std::make_unique<Channel>(descriptors.socket);
  Channel& channel = *owned;
  const SessionLinks links{channel, static_cast<WorkerPage*>(page), static_cast<char*>(compare),
                           world};
  if (own_process) {
    keep_from_children(descriptors);
    install_last_words(links.page, descriptors.socket, world);
  }
  channel.send({Kind::hello, world, hello(backend)});
  std::unique_ptr<Session> session;
  constexpr std::chrono::hours kForEver{24};
  while (auto message = channel.receive(std::chrono::steady_clock::now() + kForEver)) {
    if (!answer(backend, links, session, *message)) break;
  }
  session.reset();
  ::munmap(compare, kCompareBytes);
  set_phase(links.page, "ending");
  if (own_process) {
    allow_exit();
    owned.release();  // see keep_from_children
  }
  return 0;
}

bool is_sound(const tutti_backend* backend) {
  const std::string problem = problem_of(backend);
  if (problem.empty()) return true;
  fmt::print(stderr, "tutti worker: the backend's table is unusable: {}\n", problem);
  return false;
}

}  // namespace

}  // namespace tutti

using namespace tutti;

extern "C" __attribute__((visibility("default"))) int tutti_worker_serve(
    const tutti_backend* backend) {
  Descriptors descriptors;
  if (!parse(std::getenv("TUTTI_WORKER_FDS"), descriptors)) {
    fmt::print(stderr,
               "tutti worker: TUTTI_WORKER_FDS is not set: a worker is started by a rank of tutti, "
               "not by hand\n");
    return 2;
  }
  // The rank's death must not leave a worker behind; it may have died before this line.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A backtrace is taken by a sibling, which the Yama module allows only when asked.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const char* parent = std::getenv("TUTTI_WORKER_PARENT");
  if (parent && std::atoi(parent) != ::getppid()) return 2;
  if (!is_sound(backend)) return 2;
  const char* world = std::getenv("TUTTI_WORKER_WORLD");
  return serve(*backend, descriptors, world ? static_cast<unsigned>(std::atoi(world)) : 0, true);
}

extern "C" __attribute__((visibility("default"))) int tutti_worker_serve_in_rank(
    const tutti_backend* backend, const char* descriptors_text, unsigned world) {
  Descriptors descriptors;
  if (!parse(descriptors_text, descriptors) || !is_sound(backend)) return 2;
  return serve(*backend, descriptors, world, false);
}

extern "C" __attribute__((visibility("default"))) const tutti_backend* tutti_load_plugin(
    const char* file, char* message, size_t message_bytes) {
  try {
    return &load_plugin(file);
  } catch (const std::exception& error) {
    std::snprintf(message, message_bytes, "%s", error.what());
    return nullptr;
  }
}

extern "C" __attribute__((visibility("default"))) const char* tutti_real_node(
    const char* library_folder) {
  static std::string text;
  text = read_real_node(library_folder);
  return text.c_str();
}

extern "C" __attribute__((visibility("default"))) const char* tutti_verify_speed(
    const char* device_kind, const char* library_folder) {
  static std::string text;
  text = verify_speed(device_kind, library_folder).dump();
  return text.c_str();
}
