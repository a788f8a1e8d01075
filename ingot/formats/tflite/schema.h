#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ingot/formats/tflite/enums.h"

namespace ingot::formats::tflite {

/// How a field of an options table lies in the file.
enum class FieldKind : std::uint8_t {
  boolean,
  int8,
  int32,
  uint32,
  int64,
  float32,
  string,
  bytes,
  booleans,
  int32s,
  uint32s,
  int64s,
  float32s,
};

/// One field of an options table, as tflite.fbs has it.
struct OptionField {
  std::string_view name;
  std::string_view enum_name;  ///< empty if the field is no enum
  FieldKind kind;
  std::uint16_t slot;  ///< where the table's vtable holds the field's offset
  bool subgraph;       ///< holds indices of subgraphs
  std::int64_t default_integer;
  float default_real;
};

/// Which of the two unions of option tables.
enum class OptionUnion : std::uint8_t { first, second };

struct OptionTable {
  std::string_view name;
  OptionUnion option_union;
  std::uint8_t number;
  std::vector<OptionField> fields;  ///< in the order of their slots

  const OptionField* find(std::string_view field) const;
};

/// Null if the schema has no such table.
const OptionTable* option_table(std::string_view name);
const OptionTable* option_table(OptionUnion option_union, std::uint8_t number);
/// Null if the operator is unknown or has no options.
const OptionTable* option_table(BuiltinOperator op);

}  // namespace ingot::formats::tflite
