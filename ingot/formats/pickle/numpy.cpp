// Arrays as NumPy, joblib and SciPy pickle them.
#include "ingot/formats/pickle/numpy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/pickle/joblib.h"
#include "ingot/formats/pickle/literals.h"
#include "ingot/formats/pickle/numpy_elements.h"

namespace ingot::formats::pickle {
namespace {

constexpr int kMostNested = 16;  // calls around a number or bytes

[[noreturn]] void refuse(const std::string& why) { throw Error(Code::bad_pickle, "an array of the pickle " + why); }

Ref argument(const Value& call, std::size_t i) {
  const Ref args = call.object->args;
  return args && i < args->items.size() ? args->items[i] : nullptr;
}

/// NumPy 1 and 2 name their own modules differently.
bool is_numpy(const Symbol* symbol, std::string_view module, std::string_view name) {
  if (!symbol || symbol->name != name) return false;
  std::string_view own = symbol->module;
  if (own == "numpy") return module.empty();
  for (const std::string_view prefix : {"numpy.core.", "numpy._core."})
    if (own.starts_with(prefix)) return own.substr(prefix.size()) == module;
  return false;
}

const Symbol* function_of(const Value& value) {
  if (!value.is(Kind::object) || !value.object->callable->is(Kind::global)) return nullptr;
  return value.object->callable->symbol;
}

std::vector<std::int64_t> read_dims(const Value& shape) {
  std::vector<std::int64_t> dims;
  if (shape.is(Kind::integer)) return {shape.integer};
  for (const Ref dim : items_of(shape)) {
    if (!dim->is(Kind::integer) || dim->integer < 0) refuse("has a shape that is none");
    dims.push_back(dim->integer);
  }
  if (!shape.is_sequence() || dims.size() > 64) refuse("has a shape that is none");
  return dims;
}

/// Bytes, or text that stands for them: protocol 2 has no bytes.
Bytes read_bytes(const Document& document, const Value& value, int depth = 0) {
  if (value.is(Kind::bytes)) return document.arena->bytes_of(value.text);
  if (const Symbol* f = function_of(value)) {
    const Ref first = argument(value, 0);
    if (f->name == "encode" && f->module == "_codecs" && first && first->is(Kind::text)) {
      auto bytes = latin1(first->text);
      if (!bytes) refuse("holds text where bytes should be");
      return Bytes::own(std::move(*bytes));
    }
    if ((f->name == "bytes" || f->name == "bytearray") && !first) return {};
    if ((f->name == "bytes" || f->name == "bytearray") && first && depth < kMostNested)
      return read_bytes(document, *first, depth + 1);
  }
  if (value.is(Kind::text)) {  // Python 2's str, read by Python 3 before it was written again
    auto bytes = latin1(value.text);
    if (bytes) return Bytes::own(std::move(*bytes));
  }
  refuse("has no data");
}

void check_size(const Array& array) {
  const auto count = element_count(array.dims);
  if (!count) refuse("is too large");
  if (array.dtype.kind == 'O') {
    if (array.objects.size() != *count) refuse("does not have as many elements as its shape says");
    return;
  }
  if (array.dtype.size == 0 && *count != 0) refuse("has elements of no size");
  const auto bytes = checked_mul<std::uint64_t>(*count, array.dtype.size);
  if (!bytes || *bytes != array.data.size()) refuse("does not have as much data as its shape says");
}

/// _reconstruct(...) and a state (version, shape, dtype, is_fortran, data).
Array reconstructed(const Document& document, const Value& value) {
  if (value.object->states.empty()) refuse("has no state");
  const Value& state = *value.object->states.back();
  if (!state.is(Kind::tuple) || state.items.size() < 4) refuse("has a state that is none");
  const std::size_t first = state.items.size() == 4 ? 0 : 1;  // the oldest have no version
  Array array;
  array.dims = read_dims(*state.items[first]);
  array.dtype = read_dtype(*state.items[first + 1]);
  const Value& order = *state.items[first + 2];
  array.is_fortran = (order.is(Kind::boolean) || order.is(Kind::integer)) && order.integer != 0;
  const Value& data = *state.items[first + 3];
  if (array.dtype.kind == 'O')
    array.objects.assign(items_of(data).begin(), items_of(data).end());
  else
    array.data = read_bytes(document, data);
  return array;
}

/// _frombuffer(data, dtype, shape, order): protocol 5.
Array from_buffer(const Document& document, const Value& value) {
  const Ref data = argument(value, 0), dtype = argument(value, 1), shape = argument(value, 2),
            order = argument(value, 3);
  if (!order || !order->is_text()) refuse("lacks an argument");
  if (argument(value, 4) && !argument(value, 4)->is_none())
    throw Error(Code::unsupported_feature, "an array of the pickle has its axes permuted")
        .hint("save a copy of it in C order");
  Array array;
  array.dtype = read_dtype(*dtype);
  array.dims = read_dims(*shape);
  array.is_fortran = order->text == "F";
  array.data = read_bytes(document, *data);
  return array;
}

Array from_joblib(const Document& document, const Value& value) {
  if (value.object->nested) {
    auto array = read_array(document, *value.object->nested);
    if (!array) refuse("of objects is none");
    return std::move(*array);
  }
  const Ref dtype = attribute(value, "dtype"), shape = attribute(value, "shape"), order = attribute(value, "order");
  if (!dtype || !shape) refuse("lacks its shape or type");
  Array array;
  array.dtype = read_dtype(*dtype);
  array.dims = read_dims(*shape);
  array.is_fortran = order && order->is_text() && order->text == "F";
  array.data = value.object->payload;
  return array;
}

}  // namespace

std::string Dtype::name() const {
  if (kind == 'O') return "O";
  return fmt::format("{}{}", kind, kind == 'U' ? size / 4 : size);
}

std::uint64_t Array::size() const { return element_count(dims).value_or(0); }

std::optional<Dtype> parse_dtype(std::string_view text) {
  Dtype type;
  if (!text.empty() && std::string_view("<>|=").find(text[0]) != std::string_view::npos) {
    type.is_big_endian = text[0] == '>';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::nullopt;
  if (text == "?" || text == "bool") text = "b1";
  type.kind = text[0];
  if (type.kind == 'a') type.kind = 'S';
  if (std::string_view("biufcUSOVMm").find(type.kind) == std::string_view::npos) return std::nullopt;
  text.remove_prefix(1);
  if (const std::size_t unit = text.find('['); unit != std::string_view::npos) text = text.substr(0, unit);
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size())) return std::nullopt;
  if (size > (std::uint64_t{1} << 40)) return std::nullopt;
  type.size = type.kind == 'U' ? size * 4 : type.kind == 'O' ? 8 : size;
  return type;
}

namespace {

Dtype dtype_by_type(const Symbol& type) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"bool_", "b1"},  {"bool", "b1"},   {"float16", "f2"}, {"float32", "f4"}, {"float64", "f8"}, {"int16", "i2"},
      {"int32", "i4"},  {"int64", "i8"},  {"int8", "i1"},    {"object_", "O8"}, {"uint16", "u2"},  {"uint32", "u4"},
      {"uint64", "u8"}, {"uint8", "u1"},  {"float", "f8"},   {"int", "i8"},     {"object", "O8"},  {"longlong", "i8"},
      {"intc", "i4"},   {"double", "f8"}, {"single", "f4"}};
  for (const auto& [name, code] : kTypes)
    if (type.name == name) return *parse_dtype(code);
  refuse("has the element type '" + type.full_name() + "', which is not known");
}

/// (version, byte order, sub-array, names, fields, size, ...)
void apply_state(Dtype& type, const Value& state, int depth) {
  if (!state.is(Kind::tuple) || state.items.size() < 6) refuse("has a type with a state that is none");
  const auto& items = state.items;
  if (items[1]->is_text()) type.is_big_endian = items[1]->text == ">";
  if (depth > 16) refuse("has types nested too deeply");
  if (items[2]->is(Kind::tuple) && items[2]->items.size() == 2) {
    const Dtype inner = read_dtype(*items[2]->items[0]);
    const std::uint64_t whole = type.size;
    type = inner;
    type.sub_dims = read_dims(*items[2]->items[1]);
    const auto count = element_count(type.sub_dims);
    if (!count || checked_mul<std::uint64_t>(*count, inner.size) != whole) refuse("has a type of the wrong size");
    type.size = whole;
    return;
  }
  for (const Ref name : items_of(*items[3])) {
    const Ref field = name->is_text() ? find(*items[4], name->text) : nullptr;
    if (!field || !field->is(Kind::tuple) || field->items.size() < 2 || !field->items[1]->is(Kind::integer))
      refuse("has a structure with a field that is none");
    Field made{std::string(name->text), read_dtype(*field->items[0]),
               static_cast<std::uint64_t>(field->items[1]->integer)};
    const auto end = checked_add<std::uint64_t>(made.offset, made.dtype.size);
    if (!end || *end > type.size) refuse("has a structure with a field outside of it");
    type.fields.push_back(std::move(made));
  }
}

}  // namespace

Dtype read_dtype(const Value& value) {
  // Types nest by way of this function; a hostile one may contain itself.
  thread_local int depth = 0;
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } level;
  if (depth > 16) refuse("has types nested too deeply");
  if (value.is(Kind::global)) return dtype_by_type(*value.symbol);
  if (value.is_text()) {
    if (const auto type = parse_dtype(value.text)) return *type;
    return dtype_by_type({"numpy", std::string(value.text)});
  }
  const Symbol* f = function_of(value);
  const Ref code = f && f->name == "dtype" ? argument(value, 0) : nullptr;
  if (!code) refuse("has an element type that is none");
  Dtype type = read_dtype(*code);
  if (!value.object->states.empty()) apply_state(type, *value.object->states.back(), depth);
  return type;
}

std::optional<Array> read_array(const Document& document, const Value& value) {
  const Symbol* f = function_of(value);
  if (!f) return std::nullopt;
  Array array;
  if (is_numpy(f, "multiarray", "_reconstruct"))
    array = reconstructed(document, value);
  else if (is_numpy(f, "numeric", "_frombuffer"))
    array = from_buffer(document, value);
  else if (is_joblib_array(value))
    array = from_joblib(document, value);
  else
    return std::nullopt;
  check_size(array);
  return array;
}

std::optional<double> number_of(const Document& document, const Value& value) {
  Ref inner = &value;
  for (int depth = 0; depth < kMostNested; ++depth) {
    if (inner->is_number()) return inner->number();
    if (!is_numpy(function_of(*inner), "multiarray", "scalar")) break;
    const Ref type = argument(*inner, 0), data = argument(*inner, 1);
    if (!type || !data) refuse("of one number lacks an argument");
    const Dtype dtype = read_dtype(*type);
    if (dtype.kind == 'O') {
      inner = data;
      continue;
    }
    if (std::string_view("biuf").find(dtype.kind) == std::string_view::npos) return std::nullopt;
    const Bytes bytes = read_bytes(document, *data);
    if (bytes.size() != dtype.size) refuse("of one number has the wrong size");
    return element(dtype, bytes.data());
  }
  if (const auto array = read_array(document, *inner); array && array->size() == 1 && array->is_number())
    return element(array->dtype, array->data.data());
  return std::nullopt;
}

std::optional<std::string> text_of(const Document& document, const Value& value) {
  if (value.is_text()) return std::string(value.text);
  if (is_numpy(function_of(value), "multiarray", "scalar")) {
    const Ref type = argument(value, 0), data = argument(value, 1);
    if (!type || !data) return std::nullopt;
    const Dtype dtype = read_dtype(*type);
    if (dtype.kind != 'U' && dtype.kind != 'S') return std::nullopt;
    const Bytes bytes = read_bytes(document, *data);
    if (bytes.size() != dtype.size) refuse("of one text has the wrong size");
    return text_element(dtype, bytes.data());
  }
  return std::nullopt;
}

std::optional<Dense> read_sparse(const Document& document, const Value& value) {
  const Symbol* type = class_of(value);
  if (!type || !type->module.starts_with("scipy.sparse")) return std::nullopt;
  const bool is_rows = type->name.starts_with("csr"), is_columns = type->name.starts_with("csc");
  const Ref shape = attribute(value, "_shape");
  const Ref offsets = attribute(value, "offsets");
  if (!shape || !(is_rows || is_columns || (type->name.starts_with("dia") && offsets)))
    throw Error(Code::unsupported_feature, "a sparse matrix of class " + type->full_name() + " is not read")
        .hint("store it in CSR form");
  const auto dims = read_dims(*shape);
  const auto count = element_count(dims);
  if (dims.size() != 2 || !count || *count > (std::uint64_t{1} << 28)) refuse("is sparse and too large");
  const auto part = [&](std::string_view name) {
    const Ref found = attribute(value, name);
    const auto array = found ? read_array(document, *found) : std::nullopt;
    if (!array) refuse("is sparse and lacks its parts");
    return *array;
  };
  Dense dense{dims[0], dims[1], std::vector<double>(static_cast<std::size_t>(*count))};
  const auto data = to_doubles(document, part("data"));
  if (!is_rows && !is_columns) {  // diagonals
    const auto places = to_ints(document, part("offsets"));
    const std::size_t width = places.empty() ? 0 : data.size() / places.size();
    for (std::size_t d = 0; d < places.size(); ++d)
      for (std::size_t column = 0; column < width && std::cmp_less(column, dims[1]); ++column) {
        const std::int64_t row = static_cast<std::int64_t>(column) - places[d];
        if (row >= 0 && row < dims[0])
          dense.values[static_cast<std::size_t>(row * dims[1]) + column] = data[d * width + column];
      }
    return dense;
  }
  const auto inner = to_ints(document, part("indices")), starts = to_ints(document, part("indptr"));
  const std::int64_t outer_count = is_rows ? dims[0] : dims[1], inner_count = is_rows ? dims[1] : dims[0];
  if (std::ssize(starts) != outer_count + 1 || inner.size() < data.size()) refuse("is sparse and damaged");
  for (std::int64_t o = 0; o < outer_count; ++o)
    for (std::int64_t i = starts[static_cast<std::size_t>(o)]; i < starts[static_cast<std::size_t>(o) + 1]; ++i) {
      if (i < 0 || i >= std::ssize(data)) refuse("is sparse and damaged");
      const std::int64_t at = inner[static_cast<std::size_t>(i)];
      if (at < 0 || at >= inner_count) refuse("is sparse and damaged");
      const std::int64_t place = is_rows ? o * dims[1] + at : at * dims[1] + o;
      dense.values[static_cast<std::size_t>(place)] += data[static_cast<std::size_t>(i)];
    }
  return dense;
}

Bytes raw_bytes(const Document& document, const Value& value) { return read_bytes(document, value); }

}  // namespace ingot::formats::pickle
