// What the properties of this suite draw: counts, offsets, programs, skews. Every value comes from
// RapidCheck; the functions are called inside a generator only (Property::draw).
#pragma once

#include <functional>

#include "suites/property.h"

namespace tutti::draw {

// Counts of elements: 0 (when `zero`), 1, primes, around the world size, around powers of two,
// anything in between, and now and then up to the profile's largest call.
std::uint64_t count(const Cell& cell, const Profile& profile, bool zero);

// One call of the cell's dtype and op.
Allreduce call(const Cell& cell, const Profile& profile, DataClass data, bool zero);

// By how many ranks to rotate the inputs of a call, in a world of two or more.
std::uint32_t rotation_of(const Cell& cell);

// Where to split a call in two: anywhere, or where the second part is aligned as the first; 0 where
// the claims tell the parts from the whole, and for fewer than two elements.
std::uint64_t split_of(const Cell& cell, Allreduce call);

// A program of `calls_least` to four calls, but for large ones, which come alone; with or without a
// sync between, all of them made by `one_call`.
std::vector<Step> program(const std::function<Allreduce()>& one_call,
                          std::uint64_t calls_least = 1);

// Fills in seed, delays and skews.
Case surroundings(Case one_case);

// The usual case of a cell: any program of one class of data.
Case case_with(const Cell& cell, const Profile& profile, DataClass data,
               std::uint64_t calls_least = 1);

// A number in [low, high], and a chance of 1 to n.
std::uint64_t between(std::uint64_t low, std::uint64_t high);
bool one_in(std::uint64_t n);

// SkipCause::none for every cell.
SkipCause always(const Cell& cell);

}  // namespace tutti::draw
