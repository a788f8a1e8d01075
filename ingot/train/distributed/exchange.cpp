// What ranks tell each other in the middle of a step.
#include "ingot/train/distributed/exchange.h"

#include <algorithm>

#include "ingot/base/error.h"

namespace ingot::train {
namespace {

constexpr std::int64_t kBucket = 1 << 18;  // numbers that travel at once

bool is_real(const Array& array) { return array.dtype() == DType::f32 || array.dtype() == DType::f64; }

}  // namespace

Exchange::Exchange(Ranks& ranks, std::vector<std::string> names, std::vector<double> weights)
    : ranks_(ranks), names_(std::move(names)), weights_(std::move(weights)), thread_([this] { work(); }) {}

Exchange::~Exchange() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Exchange::give(const std::string& name, const Array& array) {
  if (array.dtype() == DType::f16 || array.dtype() == DType::bf16)
    throw Error(Code::bad_usage, "'" + name + "' is " + array.type().str() + ": ranks share float and double only")
        .hint("ingot convert MODEL -o OUT --float32");
  {
    const std::lock_guard lock(mutex_);
    given_.insert_or_assign(name, array);
  }
  changed_.notify_all();
}

bool Exchange::has(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return given_.contains(name);
}

std::unordered_map<std::string, Array> Exchange::finish() {
  thread_.join();
  if (failure_) std::rethrow_exception(failure_);
  return std::move(means_);
}

/// Waits for the arrays that travel next: as many as fill a bucket, of one type. Empty: the step is over.
std::vector<std::string> Exchange::next_bucket() {
  std::vector<std::string> bucket;
  std::int64_t numbers = 0;
  DType type = DType::undefined;
  std::unique_lock lock(mutex_);
  while (sent_ < names_.size() && numbers < kBucket) {
    const std::string& name = names_[sent_];
    changed_.wait(lock, [&] { return is_over_ || given_.contains(name); });
    if (is_over_) return {};
    const Array& array = given_.at(name);
    if (is_real(array)) {
      if (!bucket.empty() && array.dtype() != type) break;
      type = array.dtype();
      numbers += array.size();
      bucket.push_back(name);
    } else {
      means_.emplace(name, array);
    }
    ++sent_;
  }
  return bucket;
}

void Exchange::add(const std::vector<std::string>& bucket) {
  std::vector<Array> arrays;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : bucket) arrays.push_back(given_.at(name));
  }
  const auto go = [&]<class T>() {
    std::vector<T> numbers;
    for (const Array& array : arrays) numbers.insert(numbers.end(), array.data<T>().begin(), array.data<T>().end());
    ranks_.add(std::span(numbers), weights_);
    std::span<const T> rest = numbers;
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      Array mean(arrays[i].dtype(), arrays[i].dims());
      const auto some = rest.first(static_cast<std::size_t>(mean.size()));
      std::ranges::copy(some, mean.mutable_data<T>().begin());
      rest = rest.subspan(some.size());
      means_.emplace(bucket[i], mean);
    }
  };
  if (arrays.front().dtype() == DType::f32)
    go.template operator()<float>();
  else
    go.template operator()<double>();
}

void Exchange::work() try {
  for (std::vector<std::string> bucket = next_bucket(); !bucket.empty(); bucket = next_bucket()) add(bucket);
} catch (...) {
  failure_ = std::current_exception();
}

}  // namespace ingot::train
