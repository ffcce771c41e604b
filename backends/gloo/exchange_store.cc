#include "backends/gloo/exchange_store.h"

#include <algorithm>
#include <stdexcept>

#include "backends/plugin/communicator.h"

namespace tutti {

std::vector<ExchangeStore::Header> ExchangeStore::exchange_headers(Header mine) {
  std::vector<Header> headers;
  if (plugin::gather(world_, mine, headers) != TUTTI_OK) {
    over_ = true;
    failed_rank_ = world_.rank;
    throw std::runtime_error("a rank left while Gloo connected");
  }
  const auto is = [](Header::Kind kind) {
    return [kind](const Header& header) { return header.kind == kind; };
  };
  over_ = !std::all_of(headers.begin(), headers.end(), is(Header::kPublishes));
  if (over_ && !std::all_of(headers.begin(), headers.end(), is(Header::kConnected))) {
    const auto failed = std::find_if(headers.begin(), headers.end(), is(Header::kFailed));
    failed_rank_ = failed == headers.end() ? 0 : static_cast<int>(failed - headers.begin());
  }
  return headers;
}

void ExchangeStore::set(const std::string& key, const std::vector<char>& data) {
  std::vector<char> sent(key.begin(), key.end());
  sent.push_back('\0');
  sent.insert(sent.end(), data.begin(), data.end());
  const std::vector<Header> headers = exchange_headers({Header::kPublishes, sent.size()});
  if (over_)
    throw std::runtime_error("rank " + std::to_string(failed_rank_) +
                             " gave up while Gloo connected");
  uint64_t largest = 0;
  for (const Header& header : headers) largest = std::max(largest, header.bytes);
  std::vector<char> received(largest * world_.world);
  sent.resize(largest);
  if (world_.exchange(world_.self, sent.data(), received.data(), largest) != TUTTI_OK) {
    throw std::runtime_error("a rank left while Gloo connected");
  }
  for (int rank = 0; rank < world_.world; ++rank) {
    const auto first = received.begin() + static_cast<std::ptrdiff_t>(rank * largest);
    const auto last = first + static_cast<std::ptrdiff_t>(headers[rank].bytes);
    const auto end_of_key = std::find(first, last, '\0');
    values_[std::string(first, end_of_key)].assign(end_of_key + 1, last);
  }
}

std::vector<char> ExchangeStore::get(const std::string& key) {
  const auto found = values_.find(key);
  if (found == values_.end())
    throw std::logic_error("this Gloo asks for a key that no rank has published: " + key);
  return found->second;
}

void ExchangeStore::wait(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) get(key);
}

void ExchangeStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) {
  wait(keys);
}

int ExchangeStore::agree(bool connected) {
  if (!over_) exchange_headers({connected ? Header::kConnected : Header::kFailed, 0});
  return failed_rank_;
}

}  // namespace tutti
