// Open MPI's MPI_Allreduce on host memory, in an MPI world of the workers: each algorithm of its
// component `tuned` a path.
//
// The library blocks, so a call runs on the stream's thread. What blocks in MPI cannot be ended:
// `abort` only keeps later work from starting, and a hang is the suite's to see.
#include <mpi.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "backends/open_mpi/algorithms.h"
#include "backends/open_mpi/types.h"
#include "backends/plugin.h"

namespace tutti::open_mpi {
namespace {

constexpr const char* kDefault = "default";

std::string explain(const char* call, int result) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int bytes = 0;
  MPI_Error_string(result, text, &bytes);
  return std::string(call) + ": " + text;
}

// Once in a process; MPI_Finalize follows at its end, if that is an ordinary one. "" or a problem.
std::string initialize() {
  static const std::string problem = [] {
    int provided = 0;
    // The thread that creates and the stream's take turns.
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
      return std::string("MPI_Init_thread failed");
    std::atexit([] { MPI_Finalize(); });
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return provided < MPI_THREAD_SERIALIZED
               ? std::string("this MPI library does not take calls from several threads")
               : std::string();
  }();
  return problem;
}

class OpenMpi : public plugin::Communicator {
 public:
  static constexpr const char* kName = "open_mpi";
  static constexpr uint32_t kMemory = TUTTI_MEMORY_HOST;
  static const char* const* paths();
  static const char* version();
  static plugin::Decision decide(const tutti_facts& facts, const tutti_request* request);

  using Communicator::Communicator;
  tutti_status create();
  tutti_status run(const tutti_request& request, const char* path);
  tutti_status destroy();

 private:
  tutti_status enter_world();
  void allreduce(const tutti_request& request, MPI_Comm communicator);

  std::vector<MPI_Comm> communicators_;  // one an algorithm, in their order
};

const char* const* OpenMpi::paths() {
  static const std::vector<const char*> names = [] {
    prepare_environment();
    std::vector<const char*> all;
    for (const Algorithm& algorithm : algorithms()) all.push_back(algorithm.name.c_str());
    all.push_back(nullptr);
    return all;
  }();
  return names.data();
}

// "4.1.4" of "Open MPI v4.1.4, package: ...".
const char* OpenMpi::version() {
  static const std::string number = [] {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int bytes = 0;
    MPI_Get_library_version(text, &bytes);
    const std::string all(text);
    const size_t begin = all.find(" v");
    return begin == std::string::npos ? all : all.substr(begin + 2, all.find(',') - begin - 2);
  }();
  return number.c_str();
}

plugin::Decision OpenMpi::decide(const tutti_facts& facts, const tutti_request* request) {
  if (!request) return plugin::take(kDefault);
  if (request->collective != TUTTI_ALLREDUCE)
    return plugin::refuse("the open_mpi backend has only allreduce");
  if (request->extension) return plugin::refuse("MPI has no fused forms");
  if (datatype_of(request->dtype) == MPI_DATATYPE_NULL)
    return plugin::refuse("MPI has no datatype for this one: it has whole numbers, fp32 and fp64");
  if (operation_of(request->op) == MPI_OP_NULL)
    return plugin::refuse("MPI has no average: it has sum, prod, min and max");
  if (request->count > INT_MAX)
    return plugin::refuse("MPI_Allreduce takes no more than 2147483647 elements");
  if (!request->path || std::strcmp(request->path, kDefault) == 0) return plugin::take(kDefault);
  for (const char* const* path = paths(); *path; ++path) {
    if (std::strcmp(request->path, *path) != 0) continue;
    if (facts.world > 1) return plugin::take(*path);
    return plugin::refuse("a communicator of one rank copies, by Open MPI's component self");
  }
  return plugin::refuse("this Open MPI has no such allreduce algorithm");
}

// All ranks are in one MPI world, with the numbers that they have here.
tutti_status OpenMpi::enter_world() {
  const std::string problem = initialize();
  if (!problem.empty()) return say(TUTTI_ERROR, problem);
  int rank = -1, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == world().rank && size == world().world) return TUTTI_OK;
  return say(TUTTI_ERROR, "rank " + std::to_string(world().rank) + " of " +
                              std::to_string(world().world) + " is rank " + std::to_string(rank) +
                              " of " + std::to_string(size) + " in its MPI world");
}

tutti_status OpenMpi::create() {
  const tutti_status status = agree(enter_world());
  if (status != TUTTI_OK) return status;
  if (algorithms().empty())
    return say(TUTTI_ERROR, "this MPI library lists no allreduce algorithms: it is no Open MPI");
  const std::string problem = make_communicators(communicators_);
  // On failure they stay: the process is about to end, and to free one is collective.
  return agree(problem.empty() ? TUTTI_OK : say(TUTTI_ERROR, problem));
}

// Runs on the stream.
void OpenMpi::allreduce(const tutti_request& request, MPI_Comm communicator) {
  const bool in_place = request.send == request.recv;
  const int result = MPI_Allreduce(in_place ? MPI_IN_PLACE : request.send, request.recv,
                                   static_cast<int>(request.count), datatype_of(request.dtype),
                                   operation_of(request.op), communicator);
  if (result != MPI_SUCCESS) fail(TUTTI_ERROR, explain("MPI_Allreduce", result));
}

tutti_status OpenMpi::run(const tutti_request& request, const char* path) {
  size_t number = 0;
  while (algorithms()[number].name != path) ++number;
  return enqueue(request.stream, [this, request, communicator = communicators_[number]] {
    allreduce(request, communicator);
  });
}

tutti_status OpenMpi::destroy() {
  const tutti_status status = Communicator::destroy();
  // MPI_Comm_free is collective: alone it could wait for ever.
  if (status != TUTTI_OK || failure() != TUTTI_OK) return status;
  for (MPI_Comm& communicator : communicators_) {
    const int result = MPI_Comm_free(&communicator);
    if (result != MPI_SUCCESS) return say(TUTTI_ERROR, explain("MPI_Comm_free", result));
  }
  return TUTTI_OK;
}

}  // namespace
}  // namespace tutti::open_mpi

TUTTI_PLUGIN(tutti::open_mpi::OpenMpi)
