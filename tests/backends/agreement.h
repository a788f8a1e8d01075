#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ingot/ir/tensor.h"

namespace ingot::test {

/// How a result differs: floats by more than 1e-4 of the output's scale, NaN and infinities in other places, anything
/// else at all. Empty: it does not.
std::string difference(const Tensor& got, const Tensor& expected);
/// The first difference among several outputs.
std::string difference(const std::vector<Tensor>& got, const std::vector<Tensor>& expected);

/// Whether a model is looked at: one in four, or all where INGOT_WHOLE_CORPUS is set (script/acceptance); where
/// INGOT_CORPUS_FILTER is set, those whose names contain it.
bool is_sampled(const std::string& name);

/// A file of exceptions beside the tests, "name: reason" in each line: what is named there must differ, and nothing
/// else may. A reason that begins with "undefined: " says that the runtime gives what was in memory, which may agree.
class KnownDifferences {
 public:
  /// `sampled`: the test looks at what is_sampled() chooses.
  explicit KnownDifferences(const std::string& file, bool sampled = false);
  /// Records what came out for one name; a failure of the test where that is not what the file says.
  void check(const std::string& name, const std::string& difference);
  /// Names that were never checked are failures too, if everything was looked at.
  void finish() const;

 private:
  std::string file_;
  bool sampled_;
  std::map<std::string, std::string> reasons_;
  std::set<std::string> seen_;
};

}  // namespace ingot::test
