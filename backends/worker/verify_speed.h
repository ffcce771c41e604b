// How fast results are verified, beside a plain copy: `tutti-worker --verify-speed host|cuda`, for
// `tutti bench verify`. In a process of its own, since ranks hold no device.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tutti {

// An array with an object a measurement: dtype, data (its class), world, bytes (of the result), and
// verify, fill and copy: bytes a second, the medians of repeats that take turns. Verified is what
// one rank verifies of a sum: its share, and hashes of all. Filled is its input. On host, one core;
// on cuda, one GPU. Throws DeviceError.
nlohmann::json verify_speed(const std::string& device_kind, const std::string& library_folder);

}  // namespace tutti
