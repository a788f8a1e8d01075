#pragma once
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "ingot/ir/array.h"
#include "ingot/train/ranks.h"

namespace ingot::train {

/// Makes what ranks found on their shares of a batch, such as gradients, that of the whole batch: the mean, in which
/// each rank counts by its weight. What is known early travels while the rest is computed: several arrays at a time, in
/// an order that all ranks have in common, whatever becomes known first.
class Exchange {
 public:
  /// `names`, of those that will be given, in the order in which they travel.
  Exchange(Ranks& ranks, std::vector<std::string> names, std::vector<double> weights);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  /// Leaves what has not begun.
  ~Exchange();

  /// Takes an array that does not change any more. Those that are not real numbers stay as they are.
  void give(const std::string& name, const Array& array);
  bool has(const std::string& name);
  /// The means of all, when they are there. Until then nobody else may speak with the ranks.
  std::unordered_map<std::string, Array> finish();

 private:
  void work();
  std::vector<std::string> next_bucket();
  void add(const std::vector<std::string>& bucket);

  Ranks& ranks_;
  const std::vector<std::string> names_;
  const std::vector<double> weights_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<std::string, Array> given_, means_;
  std::size_t sent_ = 0;  // names
  bool is_over_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace ingot::train
