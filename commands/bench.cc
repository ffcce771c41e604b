// tutti bench SUBJECT.
#include "commands/bench.h"

#include <fmt/format.h>

namespace tutti {

const BenchSubject* find_bench_subject(const std::string& name) {
  for (const BenchSubject& subject : kBenchSubjects) {
    if (name == subject.name) return &subject;
  }
  return nullptr;
}

std::vector<std::string> bench_subject_names() {
  std::vector<std::string> names;
  for (const BenchSubject& subject : kBenchSubjects) names.emplace_back(subject.name);
  return names;
}

// The command line knows known names only.
int bench(Job& job) { return find_bench_subject(job.options.bench)->run(job); }

}  // namespace tutti
