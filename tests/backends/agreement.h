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

/// A file of exceptions beside the tests, "name: reason" in each line: what is named there must differ, and nothing
/// else may.
class KnownDifferences {
 public:
  explicit KnownDifferences(const std::string& file);
  /// Records what came out for one name; a failure of the test where that is not what the file says.
  void check(const std::string& name, const std::string& difference);
  /// Names that were never checked are failures too.
  void finish() const;

 private:
  std::string file_;
  std::map<std::string, std::string> reasons_;
  std::set<std::string> seen_;
};

}  // namespace ingot::test
