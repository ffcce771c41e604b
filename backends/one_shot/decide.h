// What the backend does and does not take. A pure function of what all ranks know, so that all
// ranks decide the same.
#pragma once

#include "backends/plugin.h"

namespace tutti::one_shot {

inline constexpr char kPath[] = "one_shot";

// `request` may be null: the world alone is looked at then.
plugin::Decision decide(const tutti_facts& facts, const tutti_request* request);

}  // namespace tutti::one_shot
