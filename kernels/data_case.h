// For tests: what any implementation of DataKernels has to give, against the inputs and the oracle
// of fixtures/data. Call within rc::check.
#pragma once

#include <rapidcheck.h>

#include <cstring>
#include <vector>

#include "fixtures/data/draw.h"
#include "fixtures/device/data_kernels.h"

namespace tutti {

// A call, and where a rank's buffer of it begins: so many elements behind an aligned address.
struct DataCase {
  InputKey key;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;

  static DataCase draw() {
    DataCase drawn{draw_key(9, {DataClass::exact, DataClass::rounding}),
                   *rc::gen::inRange<std::uint64_t>(0, 600),
                   *rc::gen::inRange<std::uint64_t>(0, 8)};
    return drawn;
  }
};

// As README.md of this folder says. Real numbers of fp8 are few, and their worlds out of reach.
inline int last_world_of_float_sums(Dtype dtype) {
  if (dtype == TUTTI_FLOAT16) return 64;
  return dtype == TUTTI_BFLOAT16 ? 512 : 8192;
}

// What README.md of this folder says is left to the host.
inline bool is_for_the_host(const InputKey& key) {
  const bool averages = key.op == TUTTI_AVG;
  if (!is_float(key.dtype)) return averages;
  const bool is_extreme = key.op == TUTTI_MIN || key.op == TUTTI_MAX;
  if (key.data == DataClass::exact) return averages && !is_exact_average(key.world);
  if (is_extreme) return false;
  return key.dtype == TUTTI_FLOAT64 ||
         (key.op != TUTTI_PROD && key.world > last_world_of_float_sums(key.dtype));
}

// Calls body(drawn) with every dtype, op and class that a device has kernels for.
template <typename Body>
void each_stratum(DataCase drawn, const Body& body) {
  for (const Dtype dtype : kDtypes) {
    for (const Op op : kOps) {
      for (const DataClass data : {DataClass::exact, DataClass::rounding}) {
        drawn.key.dtype = dtype;
        drawn.key.op = op;
        drawn.key.data = data;
        if (!is_for_the_host(drawn.key)) body(drawn);
      }
    }
  }
}

// Device is a DataKernels whose memory the host may touch through upload() and download():
//   void* upload(bytes, offset)          a copy of bytes, `offset` bytes behind an aligned address
//   Bytes download(memory, size)
template <typename Device>
void check_fill(Device& device, const DataCase& drawn) {
  const auto [key, count, offset] = drawn;
  RC_ASSERT(device.covers(key));
  const int rank = *rc::gen::inRange(0, key.world);
  const std::uint64_t first =
      *rc::gen::element<std::uint64_t>(0, 1, 2, 3, 4, 5, 6, 7, (1ull << 34) - 5);
  const Bytes wanted = input_of(key, rank, first, count);
  void* memory = device.upload(Bytes(wanted.size()), offset * bytes_of(key.dtype));
  device.fill(key, rank, first, count, memory);
  RC_ASSERT(device.download(memory, wanted.size()) == wanted);
}

// Up to four of them.
inline void flip_bits(Bytes& bytes) {
  if (bytes.empty()) return;
  for (int left = *rc::gen::inRange(0, 5); left > 0; --left)
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] ^=
        static_cast<std::uint8_t>(1 << *rc::gen::inRange(0, 8));
}

template <typename Device>
void check_verdict(Device& device, const DataCase& drawn) {
  const auto [key, count, offset] = drawn;
  Numerics numerics;
  if (*rc::gen::arbitrary<bool>()) numerics.accumulation = Numerics::Accumulation::fp32;
  Reduction how = draw_reduction();
  how.accumulate = Reduction::Accumulate::narrow;
  Bytes result = allreduce_of(key, how, 0, count);
  flip_bits(result);
  const int share_number = *rc::gen::inRange(0, key.world);
  const std::uint64_t size = bytes_of(key.dtype);
  const DataVerdict verdict =
      device.verify(key, numerics, count, share_number, device.upload(result, offset * size));
  const Share share = share_of(share_number, key.world, count);
  const Check check = check_result(key, numerics, {{}, share_number}, share.first,
                                   share.last - share.first, result.data() + share.first * size);
  RC_ASSERT(verdict.wrong == check.wrong);
  RC_ASSERT(verdict.first_wrong == check.first_wrong);
  RC_ASSERT(verdict.last_wrong == check.last_wrong);
  RC_ASSERT(verdict.bound_hides_contribution == check.bound_hides_contribution);
  // A division is left out where its result is not larger than the largest so far, up to the
  // rounding of a product and of the quotient.
  RC_ASSERT(max_ulp_distance(TUTTI_FLOAT64, 1, &verdict.max_error, &check.max_error) <= 2u);
}

// The hash of a share depends on its bytes and on nothing else.
template <typename Device>
void check_hashes(Device& device, const DataCase& drawn) {
  const auto [key, count, offset] = drawn;
  if (count == 0) return;
  const std::uint64_t size = bytes_of(key.dtype);
  Bytes bytes = input_of(key, 0, 0, count);
  const auto hashes = [&](std::uint64_t shift) {
    return device.verify(key, {}, count, 0, device.upload(bytes, shift * size)).hashes;
  };
  const std::vector<std::uint64_t> before = hashes(0);
  RC_ASSERT(hashes(offset) == before);
  const auto changed = *rc::gen::inRange<std::uint64_t>(0, count);
  bytes[changed * size] ^= 1;
  const std::vector<std::uint64_t> after = hashes(offset);
  for (int rank = 0; rank < key.world; ++rank) {
    const Share share = share_of(rank, key.world, count);
    const bool is_in_it = share.first <= changed && changed < share.last;
    const auto number = static_cast<std::size_t>(rank);
    RC_ASSERT((after[number] != before[number]) == is_in_it);
  }
}

// Two bytes in another order are another hash of all bytes.
template <typename Device>
void check_hash_of_bytes(Device& device) {
  auto bytes = *rc::gen::container<Bytes>(rc::gen::arbitrary<std::uint8_t>());
  const auto offset = *rc::gen::inRange<std::uint64_t>(0, 16);
  const std::uint64_t before = device.hash(device.upload(bytes, 0), bytes.size());
  RC_ASSERT(device.hash(device.upload(bytes, offset), bytes.size()) == before);
  RC_PRE(bytes.size() > 1);
  const auto one = *rc::gen::inRange<std::size_t>(0, bytes.size());
  const auto other = *rc::gen::inRange<std::size_t>(0, bytes.size());
  RC_PRE(bytes[one] != bytes[other]);
  std::swap(bytes[one], bytes[other]);
  RC_ASSERT(device.hash(device.upload(bytes, offset), bytes.size()) != before);
}

}  // namespace tutti
