// Options by name: which fields there are, and of what kind, is the schema's business.
#include "ingot/formats/tflite/options.h"

#include <fmt/format.h>

#include "ingot/base/error.h"
#include "ingot/formats/tflite/schema.h"

namespace ingot::formats::tflite {
namespace {

OptionValue default_of(const OptionField& field) {
  switch (field.kind) {
    case FieldKind::boolean:
      return field.default_integer != 0;
    case FieldKind::int8:
    case FieldKind::int32:
    case FieldKind::uint32:
    case FieldKind::int64:
      return field.default_integer;
    case FieldKind::float32:
      return field.default_real;
    default:
      return std::monostate();
  }
}

/// What a variant of this kind holds when it is set.
std::size_t alternative_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::boolean:
      return OptionValue(true).index();
    case FieldKind::int8:
    case FieldKind::int32:
    case FieldKind::uint32:
    case FieldKind::int64:
      return OptionValue(std::int64_t{}).index();
    case FieldKind::float32:
      return OptionValue(0.0F).index();
    case FieldKind::string:
    case FieldKind::bytes:
      return OptionValue(std::string()).index();
    case FieldKind::float32s:
      return OptionValue(std::vector<float>()).index();
    case FieldKind::booleans:
    case FieldKind::int32s:
    case FieldKind::uint32s:
    case FieldKind::int64s:
      break;
  }
  return OptionValue(std::vector<std::int64_t>()).index();
}

}  // namespace

Options::Options(const OptionTable* table) : table_(table) {
  if (!table) return;
  values_.reserve(table->fields.size());
  for (const OptionField& field : table->fields) values_.push_back(default_of(field));
}

Options::Options(std::string_view table) : Options(option_table(table)) {
  if (!table_) throw Error(Code::internal, fmt::format("TFLite has no options table '{}'", table));
}

Options::Options(BuiltinOperator op) : Options(option_table(op)) {}

Options Options::left_out(BuiltinOperator op) {
  Options options(op);
  options.left_out_ = options.table_ != nullptr;
  return options;
}

Options Options::unknown(bool second_union, std::uint8_t number) {
  Options options;
  options.unknown_in_second_ = second_union;
  options.unknown_number_ = number;
  return options;
}

std::string_view Options::table_name() const { return table_ ? table_->name : std::string_view(); }

bool Options::has(std::string_view field) const {
  const OptionField* found = table_ ? table_->find(field) : nullptr;
  return found &&
         !std::holds_alternative<std::monostate>(values_[static_cast<std::size_t>(found - table_->fields.data())]);
}

std::size_t Options::index_of(std::string_view field) const {
  if (const OptionField* found = table_ ? table_->find(field) : nullptr)
    return static_cast<std::size_t>(found - table_->fields.data());
  throw Error(Code::bad_options, fmt::format("the operator has {} instead of options with '{}'",
                                             table_ ? table_->name : std::string_view("no options"), field));
}

template <class T> const T& Options::value(std::string_view field) const {
  static const T kNotSet{};
  const std::size_t index = index_of(field);
  if (OptionValue(T{}).index() != alternative_of(table_->fields[index].kind))
    throw Error(Code::internal, fmt::format("option '{}' of {} is of another type", field, table_->name));
  const T* value = std::get_if<T>(&values_[index]);
  return value ? *value : kNotSet;
}

bool Options::get_bool(std::string_view field) const { return value<bool>(field); }
std::int64_t Options::get_int(std::string_view field) const { return value<std::int64_t>(field); }
float Options::get_float(std::string_view field) const { return value<float>(field); }
std::string_view Options::get_string(std::string_view field) const { return value<std::string>(field); }
std::span<const std::int64_t> Options::get_ints(std::string_view field) const {
  return value<std::vector<std::int64_t>>(field);
}
std::span<const float> Options::get_floats(std::string_view field) const { return value<std::vector<float>>(field); }

std::int64_t Options::enum_number(std::string_view field, std::string_view enum_name) const {
  const std::size_t index = index_of(field);
  if (table_->fields[index].enum_name != enum_name)
    throw Error(Code::internal, fmt::format("option '{}' of {} is no {}", field, table_->name, enum_name));
  return value<std::int64_t>(field);
}

Options& Options::assign(std::string_view field, OptionValue value) {
  const std::size_t index = index_of(field);
  if (value.index() != 0 && value.index() != alternative_of(table_->fields[index].kind))
    throw Error(Code::internal, fmt::format("option '{}' of {} is of another type", field, table_->name));
  values_[index] = value.index() == 0 ? default_of(table_->fields[index]) : std::move(value);
  left_out_ = false;
  return *this;
}

}  // namespace ingot::formats::tflite
