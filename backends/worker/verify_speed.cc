#include "backends/worker/verify_speed.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "fixtures/data/data.h"
#include "fixtures/data/number.h"
#include "fixtures/device/data_kernels.h"
#include "fixtures/device/device.h"
#include "fixtures/median.h"
#include "fixtures/nodes/node.h"

namespace tutti {

using nlohmann::json;

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsEach = 0.4;  // of verifying; the others take as many turns
constexpr std::size_t kRepeatsMin = 5;

struct Speed {
  double verify, fill, copy;  // bytes a second
};

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Work {
  std::function<void()> verify, fill, copy;
};

// Taking turns, so that whatever else the machine does is in all.
Speed compare(std::uint64_t bytes, const Work& work) {
  work.verify();
  work.fill();
  work.copy();
  std::vector<double> verify, fill, copy;
  for (double used = 0; used < kSecondsEach || verify.size() < kRepeatsMin;) {
    verify.push_back(seconds_of(work.verify));
    fill.push_back(seconds_of(work.fill));
    copy.push_back(seconds_of(work.copy));
    used += verify.back();
  }
  const auto size = static_cast<double>(bytes);
  return {size / median(verify), size / median(fill), size / median(copy)};
}

// A right result in the first share; what is in the others does not matter to a hash.
std::vector<char> result_of(const InputKey& key, std::uint64_t count) {
  const std::uint64_t share = share_of(0, key.world, count).last;
  std::vector<char> result(count * bytes_of(key.dtype));
  with_element(key.dtype, [&](auto kind) {
    using Element = decltype(kind);
    if constexpr (kIsFloat<Element>) {
      std::vector<double> sums(share);
      std::vector<Element> input(share);
      for (int rank = 0; rank < key.world; ++rank) {
        generate_input(key, rank, 0, share, input.data());
        for (std::uint64_t i = 0; i < share; ++i) sums[i] += number_of(input[i]);
      }
      auto* out = reinterpret_cast<Element*>(result.data());
      for (std::uint64_t i = 0; i < share; ++i) {
        if constexpr (std::is_floating_point_v<Element>) {
          out[i] = static_cast<Element>(sums[i]);
        } else {
          out[i] = Element::from_double(sums[i]);
        }
      }
    }
  });
  return result;
}

void require_right(std::uint64_t wrong) {
  if (wrong != 0) throw DeviceError("what is right was found wrong while its speed was measured");
}

Speed speed_on_host(const InputKey& key, std::uint64_t bytes) {
  const std::uint64_t count = bytes / bytes_of(key.dtype);
  const std::vector<char> result = result_of(key, count);
  std::vector<char> target(bytes);
  const auto verify = [&] {
    hash_shares(key, count, result.data());
    require_right(
        check_result(key, {}, {}, 0, share_of(0, key.world, count).last, result.data()).wrong);
  };
  return compare(bytes, {verify, [&] { generate_input(key, 0, 0, count, target.data()); },
                         [&] { std::memcpy(target.data(), result.data(), bytes); }});
}

// Memory of the device, given back at the end.
class DeviceMemory {
 public:
  DeviceMemory(const tutti_device& device, std::uint64_t bytes) : device_(device) {
    if (device.allocate(device.self, bytes, &memory_) != 0)
      throw DeviceError("no memory on the device to measure with");
  }
  ~DeviceMemory() { device_.release(device_.self, memory_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  void* get() const { return memory_; }

 private:
  const tutti_device& device_;
  void* memory_ = nullptr;
};

Speed speed_on_device(Device& device, const InputKey& key, std::uint64_t bytes) {
  const tutti_device& services = device.services();
  const std::uint64_t count = bytes / bytes_of(key.dtype);
  const DeviceMemory source(services, bytes), target(services, bytes);
  const auto copy = [&](void* to, const void* from) {
    if (services.copy(services.self, to, from, bytes, nullptr) != 0)
      throw DeviceError("a copy on the device failed");
  };
  const std::vector<char> result = result_of(key, count);
  copy(source.get(), result.data());
  const auto verify = [&] {
    require_right(device.data_kernels()->verify(key, {}, count, 0, source.get()).wrong);
  };
  return compare(bytes,
                 {verify, [&] { device.data_kernels()->fill(key, 0, 0, count, target.get()); },
                  [&] { copy(target.get(), source.get()); }});
}

}  // namespace

json verify_speed(const std::string& device_kind, const std::string& library_folder) {
  std::unique_ptr<Facts> facts;
  std::unique_ptr<Device> device;
  std::vector<std::uint64_t> sizes{1u << 20, 32u << 20};
  if (device_kind == "cuda") {
    facts = std::make_unique<Facts>(node_from_json(read_real_node(library_folder)), 1);
    device = open_device(device_kind, facts->abi(), 0, library_folder);
    sizes = {1u << 20, 32u << 20, 256u << 20};
  }
  json measured = json::array();
  for (const Dtype dtype : {TUTTI_FLOAT32, TUTTI_BFLOAT16}) {
    for (const DataClass data : {DataClass::exact, DataClass::rounding}) {
      for (const std::uint64_t bytes : sizes) {
        for (const int world : {2, 4, 8}) {
          const InputKey key{1, 0, world, dtype, TUTTI_SUM, data};
          const Speed speed =
              device ? speed_on_device(*device, key, bytes) : speed_on_host(key, bytes);
          measured.push_back({{"dtype", name_of(dtype)},
                              {"data", name_of(data)},
                              {"world", world},
                              {"bytes", bytes},
                              {"verify", speed.verify},
                              {"fill", speed.fill},
                              {"copy", speed.copy}});
        }
      }
    }
  }
  return measured;
}

}  // namespace tutti
