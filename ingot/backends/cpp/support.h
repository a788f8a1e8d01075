#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/dtype.h"

namespace ingot::backends::cpp {

/// Small functions that generated code calls, in C and C++ alike. Only those that are used are written.
class Support {
 public:
  /// `attribute`: a line before functions that multiply matrices, such as one that names the processor; may be empty.
  explicit Support(std::string attribute = {}) : attribute_(std::move(attribute)) {}

  /// The name of function `base` for a type: add_i32, load_f16, ...
  std::string use(std::string_view base, DType type);
  std::string use(std::string_view base, DType from, DType to);
  /// One without a type.
  std::string use(std::string_view name);
  /// All that were used, each after those that it calls.
  std::string text() const;

 private:
  void add(const std::string& name, std::string text);

  std::string attribute_;
  std::map<std::string, std::size_t> known_;
  std::vector<std::string> texts_;
};

}  // namespace ingot::backends::cpp
