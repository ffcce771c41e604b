// What a kernel over peer memory does and does not take. A pure function of what all ranks know, so
// that all ranks decide the same.
#pragma once

#include "backends/plugin.h"

namespace tutti::peer_kernels {

// `name`: of the backend, and of its one path. `request` may be null: the world alone is looked at
// then.
plugin::Decision decide(const char* name, const tutti_facts& facts, const tutti_request* request);

}  // namespace tutti::peer_kernels
