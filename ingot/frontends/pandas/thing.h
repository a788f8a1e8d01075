#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::frontends::pandas {

/// A literal of the program, or a number fitted to the sample.
struct Constant {
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, dict };
  Kind kind = Kind::none;
  double number = 0;
  std::string text{};
  std::vector<Constant> items{};  // of a dict: keys and values in turn

  bool is(Kind k) const { return kind == k; }
  bool is_number() const { return kind == Kind::integer || kind == Kind::real || kind == Kind::boolean; }
};

/// A column: [N, 1] of float64, int64, bool or texts. Missing are NaN, and texts that are empty.
struct Column {
  Value* value = nullptr;
  int rows = 0;          // columns of the same number have the same rows
  bool is_time = false;  // seconds since 1970
};

struct Frame {
  std::vector<std::string> names{};
  std::vector<Column> columns{};
  int rows = 0;
  bool is_guess = false;  // made by something that is not translated: the walk goes on, its columns may be others

  /// Null: there is none of that name.
  const Column* find(const std::string& name) const;
  void set(const std::string& name, const Column& column);
};

/// What an expression stands for.
struct Thing {
  enum class Kind : std::uint8_t {
    unknown,  // its problem is told already
    constant,
    column,
    frame,
    table,    // a frame of constants: `frame` has no columns, `constant` lists them in order
    texts,    // column.str
    pieces,   // column.str.split(text): `constant` is the text
    times,    // column.dt
    groups,   // frame.groupby(names): `names`; `name` is the column chosen
    windows,  // column.rolling(n): `constant` is n
    row,      // of frame.apply(..., axis=1)
    list,     // of `items`, some of which are no constants
  };
  Kind kind = Kind::unknown;
  Constant constant{};
  Column column{};
  Frame frame{};
  std::vector<std::string> names{};
  std::string name{};
  std::vector<Thing> items{};

  bool is(Kind k) const { return kind == k; }
  static Thing of(Constant constant) { return {.kind = Kind::constant, .constant = std::move(constant)}; }
  static Thing of(Column column) { return {.kind = Kind::column, .column = column}; }
  static Thing of(Frame frame) { return {.kind = Kind::frame, .frame = std::move(frame)}; }
};

Constant number(double value);
Constant integer(double value);
Constant text(std::string value);

}  // namespace ingot::frontends::pandas
