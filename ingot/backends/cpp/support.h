#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/backends/cpp/matrix.h"
#include "ingot/base/dtype.h"

namespace ingot::backends::cpp {

/// Small functions that generated code calls, in C and C++ alike. Only those that are used are written.
class Support {
 public:
  /// `target`: what functions that multiply matrices are made for.
  explicit Support(MatrixTarget target = {}) : target_(std::move(target)) {}

  const Geometry& geometry() const { return target_.geometry; }

  /// The name of function `base` for a type: add_i32, load_f16, ...
  std::string use(std::string_view base, DType type);
  std::string use(std::string_view base, DType from, DType to);
  /// One without a type.
  std::string use(std::string_view name);
  /// All that were used, each after those that it calls.
  std::string text() const;

 private:
  void add(const std::string& name, std::string text);

  bool add_matrix_function(std::string_view base, DType type);

  MatrixTarget target_;
  std::map<std::string, std::size_t> known_;
  std::vector<std::string> texts_;
};

}  // namespace ingot::backends::cpp
