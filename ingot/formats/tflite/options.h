#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ingot/formats/tflite/enums.h"

namespace ingot::formats::tflite {

struct OptionTable;

/// A field of an options table. monostate: a text or list that is not there. Enums are integers, bytes are a string.
using OptionValue =
    std::variant<std::monostate, bool, std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>>;

/// The options of a builtin operator: one of the format's option tables, fields by name. Fields that the file leaves
/// out have the default of the format. Asking for a field that the table does not have, or as something else than it
/// is, is an Error: with a file at fault if the table is not the one that the operator should carry.
class Options {
 public:
  /// No options at all.
  Options() = default;
  /// All fields of a table ("Conv2DOptions") at their defaults.
  explicit Options(std::string_view table);
  /// All fields of an operator's table at their defaults; no options if it has none.
  explicit Options(BuiltinOperator op);
  /// What an operator gets whose file leaves out its table: the defaults to read, but nothing to write.
  static Options left_out(BuiltinOperator op);
  /// A table of a newer version of the format: kept by its number, unreadable, refused by the writer.
  static Options unknown(bool second_union, std::uint8_t number);

  /// "Conv2DOptions"; empty if there is no table or an unknown one.
  std::string_view table_name() const;
  const OptionTable* table() const { return table_; }
  bool is_unknown() const { return unknown_number_ != 0; }
  bool is_left_out() const { return left_out_; }

  /// Is the field in the table, and if it is a text or list, set?
  bool has(std::string_view field) const;
  bool get_bool(std::string_view field) const;
  std::int64_t get_int(std::string_view field) const;
  float get_float(std::string_view field) const;
  /// Empty if not set.
  std::string_view get_string(std::string_view field) const;
  std::span<const std::int64_t> get_ints(std::string_view field) const;
  std::span<const float> get_floats(std::string_view field) const;
  template <class Enum> Enum get_enum(std::string_view field) const {
    return static_cast<Enum>(enum_number(field, kEnumName<Enum>));
  }

  /// Takes an enum, a number, a text, a list or an OptionValue, as the field needs it. Returns itself, to be chained.
  template <class T> Options& set(std::string_view field, T&& value) {
    using Plain = std::remove_cvref_t<T>;
    if constexpr (std::is_enum_v<Plain> || (std::integral<Plain> && !std::same_as<Plain, bool>))
      return assign(field, static_cast<std::int64_t>(value));
    else if constexpr (std::is_convertible_v<T, std::string_view>)
      return assign(field, std::string(std::string_view(value)));
    else
      return assign(field, OptionValue(std::forward<T>(value)));
  }

  /// The values in the order of the table's fields.
  std::span<const OptionValue> values() const { return values_; }

  bool operator==(const Options&) const = default;

 private:
  explicit Options(const OptionTable* table);
  Options& assign(std::string_view field, OptionValue value);
  std::size_t index_of(std::string_view field) const;
  template <class T> const T& value(std::string_view field) const;
  std::int64_t enum_number(std::string_view field, std::string_view enum_name) const;

  const OptionTable* table_ = nullptr;
  std::vector<OptionValue> values_;
  bool left_out_ = false;
  bool unknown_in_second_ = false;
  std::uint8_t unknown_number_ = 0;
};

}  // namespace ingot::formats::tflite
