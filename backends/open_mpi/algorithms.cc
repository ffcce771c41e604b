#include "backends/open_mpi/algorithms.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace tutti::open_mpi {
namespace {

constexpr const char* kVariable = "coll_tuned_allreduce_algorithm";
constexpr int kTextBytes = 1024;

// MPI's tool interface for as long as it is needed. It must be over before MPI_Finalize, which
// crashes otherwise (https://github.com/open-mpi/ompi/issues/11485).
class Tool {
 public:
  Tool() {
    int provided = 0;
    is_open_ = MPI_T_init_thread(MPI_THREAD_SERIALIZED, &provided) == MPI_SUCCESS;
  }
  ~Tool() {
    if (handle_ != MPI_T_CVAR_HANDLE_NULL) MPI_T_cvar_handle_free(&handle_);
    if (is_open_) MPI_T_finalize();
  }
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  // The index of the variable, which MPI_Init changes, and its values; -1 when there is none.
  int find(MPI_T_enum* values) const {
    int count = 0;
    if (!is_open_ || MPI_T_cvar_get_num(&count) != MPI_SUCCESS) return -1;
    for (int index = 0; index < count; ++index) {
      char name[kTextBytes];
      int name_bytes = kTextBytes, verbosity = 0, binding = 0, scope = 0;
      MPI_Datatype type;
      const int status = MPI_T_cvar_get_info(index, name, &name_bytes, &verbosity, &type, values,
                                             nullptr, nullptr, &binding, &scope);
      if (status == MPI_SUCCESS && std::strcmp(name, kVariable) == 0) return index;
    }
    return -1;
  }

  bool open_variable() {
    MPI_T_enum values;
    int elements = 0;
    const int index = find(&values);
    return index >= 0 &&
           MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &elements) == MPI_SUCCESS &&
           elements == 1;
  }
  bool write(int value) { return MPI_T_cvar_write(handle_, &value) == MPI_SUCCESS; }
  bool holds(int value) {
    int held = -1;
    return MPI_T_cvar_read(handle_, &held) == MPI_SUCCESS && held == value;
  }

 private:
  bool is_open_ = false;
  MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
};

std::vector<Algorithm> listed() {
  std::vector<Algorithm> found;
  const Tool tool;
  MPI_T_enum values = MPI_T_ENUM_NULL;
  int count = 0, ignored = kTextBytes;
  char text[kTextBytes];
  if (tool.find(&values) < 0 || values == MPI_T_ENUM_NULL ||
      MPI_T_enum_get_info(values, &count, text, &ignored) != MPI_SUCCESS)
    return found;
  for (int item = 0; item < count; ++item) {
    int number = 0, bytes = kTextBytes;
    if (MPI_T_enum_get_item(values, item, &number, text, &bytes) != MPI_SUCCESS) continue;
    found.push_back({number, number == 0 ? "default" : text});
  }
  return found;
}

}  // namespace

void prepare_environment() {
  ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1);
  ::setenv("OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize",
           std::to_string(kSegmentBytes).c_str(), 1);
  // libnbc and inter have what tuned lacks and MPI_Init wants; self is for communicators of one.
  ::setenv("OMPI_MCA_coll", "tuned,basic,libnbc,inter,self", 1);
}

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> all = listed();
  return all;
}

std::string make_communicators(std::vector<MPI_Comm>& made) {
  Tool tool;  // once: it takes a while to open
  const bool is_open = tool.open_variable();
  std::string problem;
  for (const Algorithm& algorithm : algorithms()) {
    // Every rank dups, also one that has a problem: a rank alone would leave the others waiting.
    const bool is_set = is_open && tool.write(algorithm.number) && tool.holds(algorithm.number);
    const int status = MPI_Comm_dup(MPI_COMM_WORLD, &made.emplace_back(MPI_COMM_NULL));
    if (!is_set || !tool.holds(algorithm.number)) {
      problem = std::string("the control variable ") + kVariable + " does not take the value " +
                std::to_string(algorithm.number);
    }
    if (status != MPI_SUCCESS) problem = "MPI_Comm_dup failed";
  }
  if (is_open) tool.write(0);
  return problem;
}

}  // namespace tutti::open_mpi
