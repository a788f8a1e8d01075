#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/bytes.h"

namespace ingot::formats::csv {

/// Reads a table of texts, row by row. Fields stand between commas, semicolons or tabs, whichever the first line has
/// most of; a field in quotes may hold these, newlines, and quotes written twice. Passed over are a byte order mark,
/// empty lines and carriage returns at the end of a line.
class Reader {
 public:
  explicit Reader(Bytes file);

  /// Fills `fields` with the next row; false at the end. Refuses a quote that is never closed and rows beyond 64 MiB.
  bool next(std::vector<std::string>& fields);
  /// The same without copies: fields lie in the file, those of rows with quotes among `texts`.
  bool next(std::vector<std::string_view>& fields, std::deque<std::string>& texts);
  /// Of the file, read so far.
  std::uint64_t bytes_read() const { return at_; }
  /// Where the last row began, from 1.
  std::uint64_t line() const { return row_line_; }

 private:
  bool read_row(std::vector<std::string_view>& fields, std::deque<std::string>& texts);
  /// Reads a row without quotes; false: it has some.
  bool read_plain_row(std::vector<std::string_view>& fields);
  /// Whether the row counts, which one without a quote and without a letter does not.
  bool read_quoted_row(std::vector<std::string>& fields);

  Bytes file_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1, row_line_ = 1;
  char separator_ = ',';
};

/// The text as a field between commas: in quotes where it needs them.
std::string field(std::string_view text);

}  // namespace ingot::formats::csv
