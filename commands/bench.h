// What `tutti bench` can measure, a file each. Programs, not tests: read ratios.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "reports/text.h"

namespace tutti {

int bench_overhead(Job& job);
int bench_verify(Job& job);
int bench_latency(Job& job);
int bench_plan(Job& job);

struct BenchSubject {
  const char* name;
  const char* what;
  int (*run)(Job& job);
};
inline constexpr std::array kBenchSubjects{
    BenchSubject{"overhead", "a small case, and ranks that wait", bench_overhead},
    BenchSubject{"verify", "verification as a fraction of a plain copy", bench_verify},
    BenchSubject{"plan", "combinations a second that are asked of plan", bench_plan},
    BenchSubject{"latency", "122 small allreduces back to back, by backend", bench_latency},
};
// Null for an unknown name.
const BenchSubject* find_bench_subject(const std::string& name);
std::vector<std::string> bench_subject_names();

}  // namespace tutti
