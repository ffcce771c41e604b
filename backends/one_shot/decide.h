// What the backend does and does not take. A pure function of what all ranks know, so that all
// ranks decide the same.
#pragma once

#include <cstdint>
#include <string>

#include "backends/backend.h"

namespace tutti::one_shot {

inline constexpr char kPath[] = "one_shot";

// Why a world cannot be served, whatever the request; empty when it can.
std::string refusal_of_world(const tutti_facts& facts);
// Why a request cannot be served in a world that can; empty when it can.
std::string refusal_of_request(const tutti_request& request);

}  // namespace tutti::one_shot
