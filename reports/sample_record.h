// What the tests of this folder share: a record, a plain pass with every text set, and one that is
// red.
#pragma once

#include <string>

#include "reports/record.h"

namespace tutti {

inline Record sample_record() {
  Record record;
  record.backend = "two_shot";
  record.version = "1.0";
  record.build_id = "abc123";
  record.node = "h200-nvl8";
  record.world = 3;
  record.suite = "agreement";
  record.property = "agreement.exact";
  record.path = "ring";
  record.dtype = TUTTI_BFLOAT16;
  record.verdict = Verdict::pass;
  record.cases = 100;
  record.reference = "oracle";
  record.bits = "00c0ffee00c0ffee";
  record.paths_taken = {"ring"};
  record.seconds = 0.25;
  return record;
}

inline Record red_record() {
  Record record = sample_record();
  record.verdict = Verdict::wrong;
  record.reason = "rank 3's contribution is missing in elements 1024..2047";
  record.replay = "tutti1 backend=two_shot world=3 seed=7 : allreduce dtype=bf16 op=sum count=1025";
  record.evidence = {"rank 0: last words"};
  return record;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tutti
