#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/formats/csv/csv.h"
#include "ingot/ir/array.h"
#include "ingot/train/preparation.h"
#include "ingot/train/table_input.h"

namespace ingot::train {

struct TableOptions {
  std::vector<TableInput> inputs;    // of the model; none: all features are one array
  std::string target;                // a column; empty: the one that `known` names, if the table has it
  std::vector<std::string> columns;  // the features, in order; empty: as `known` says, else all but the target
  Preparation known;                 // what the model says already; real numbers are divided by its scale
  bool allows_missing = false;       // an empty field, NA or NaN is a real number too: not a number
  bool reads_target = true;          // off: the target only is no feature
};

/// A CSV file on its way to the inputs of a model. Where every input has a column of its name, or columns NAME_0,
/// NAME_1, ..., each takes those; else all features make one array, by the names that the model knows them by.
class Table {
 public:
  Table(Bytes file, const TableOptions& options);

  /// Names of columns; of a file without a header, their numbers.
  const std::vector<std::string>& names() const { return names_; }
  /// In the order of the array that they make; empty where inputs take columns of their own.
  std::vector<std::string> features() const;
  const std::string& target() const { return target_name_; }
  /// Columns that nothing takes.
  std::vector<std::string> unused() const;
  /// Words of the target become these numbers.
  const std::vector<std::string>& classes() const { return classes_; }

  using Columns = std::vector<std::pair<std::string, Array>>;
  /// At most so many rows more, each column [rows, fields], the target [rows] last; no rows at the end. Errors name
  /// row and column.
  Columns read(std::size_t rows);
  /// A column of the rows that read() gave last, as it stands there.
  std::vector<std::string> last_texts(std::size_t column) const;

  std::uint64_t bytes_read() const { return reader_.bytes_read(); }
  std::uint64_t missing() const { return missing_; }

 private:
  struct Part {
    TableInput input;
    std::vector<std::size_t> fields;
  };
  void read_header(const TableOptions& options);
  void choose(const TableOptions& options);
  bool find_own_columns(const TableOptions& options);
  void collect_classes(const TableOptions& options);
  std::size_t column(const std::string& name) const;
  Array part_of(const Part& part);
  Array wholes_of(const Part& part, const Dims& dims);
  Array targets();
  std::string_view text(std::size_t row, std::size_t field) const { return fields_[row * names_.size() + field]; }
  double number(std::size_t row, std::size_t field);
  std::int64_t whole(std::size_t row, std::size_t field, bool is_bool) const;
  [[noreturn]] void refuse(std::size_t row, std::size_t field, const std::string& why) const;

  Bytes file_;
  formats::csv::Reader reader_;
  bool has_header_ = false, allows_missing_ = false, reads_target_ = true;
  double scale_ = 1;
  std::vector<std::string> names_, classes_;
  std::vector<Part> parts_;
  std::optional<std::size_t> target_;
  std::string target_name_;
  std::vector<std::string_view> fields_;  // of the rows that were read last
  std::deque<std::string> texts_;         // that stood in quotes
  std::size_t rows_ = 0;
  std::uint64_t row_count_ = 0, missing_ = 0;
};

}  // namespace ingot::train
