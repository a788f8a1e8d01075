#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/byte_size.h"

namespace ingot::cli {

enum class Style { plain, bold, dim, red, green, yellow };

/// The text in a style if the stream is a terminal and NO_COLOR is not set; else as it is.
std::string out_style(Style style, std::string_view text);  // for stdout
std::string err_style(Style style, std::string_view text);  // for stderr

/// All that the program itself writes to a terminal beside text: colours, and what redraws a line.
std::span<const std::string_view> own_sequences();

/// Rows of cells as aligned columns; the columns marked in `right` are flushed right. On a terminal that is too narrow
/// long cells are cut.
class Table {
 public:
  explicit Table(std::vector<bool> right = {}) : right_(std::move(right)) {}
  void add(std::vector<std::string> row);
  std::string str(std::string_view indent = "  ") const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ingot::cli
