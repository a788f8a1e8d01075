// Values at run time from and to files of the official test data.
#include "ingot/driver/datum.h"

#include <algorithm>
#include <numeric>

#include "ingot/base/error.h"
#include "ingot/onnx/data.h"

namespace ingot::driver {
namespace {

using onnx::Data;
using Kind = Data::Kind;

/// The maps that run hold one tensor with a row for each key.
Datum map_of(const Data& data) {
  std::vector<std::size_t> order(data.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool has_names = !data.string_keys.empty();
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return has_names ? data.string_keys[a] < data.string_keys[b] : data.keys[a] < data.keys[b];
  });
  MapData map;
  const DType dtype = data.items.empty() ? DType::f32 : data.items[0].tensor.dtype();
  map.values = Array(dtype, {static_cast<std::int64_t>(order.size())});
  for (std::size_t row = 0; row < order.size(); ++row) {
    const Data& item = data.items[order[row]];
    if (item.kind != Kind::tensor || item.tensor.dtype() != dtype || item.tensor.size() != 1)
      throw Error(Code::unsupported_feature, "a map must hold single numbers or strings of one type");
    const Array value = Array::from(item.tensor);
    if (dtype == DType::string) {
      map.values.mutable_data<std::string>()[row] = value.data<std::string>()[0];
    } else {
      const std::size_t width = value.byte_size();
      std::copy_n(value.bytes(), width, map.values.bytes() + row * width);
    }
    if (has_names)
      map.string_keys.push_back(data.string_keys[order[row]]);
    else
      map.int_keys.push_back(data.keys[order[row]]);
  }
  return map;
}

Datum datum_of(const Data& data) {
  switch (data.kind) {
    case Kind::tensor:
      return Array::from(data.tensor);
    case Kind::sparse_tensor:
      return SparseArray{Array::from(data.sparse.values), Array::from(data.sparse.indices), data.sparse.dims};
    case Kind::sequence: {
      Sequence sequence;
      for (const Data& item : data.items) sequence.push_back(datum_of(item));
      return sequence;
    }
    case Kind::map:
      return map_of(data);
    case Kind::optional:
      return data.items.empty() ? Datum() : datum_of(data.items[0]);
    case Kind::none:
      break;
  }
  throw Error(Code::missing_field, "a value does not say what it is");
}

Kind kind_of(const Type& type) {
  switch (type.kind) {
    case Type::Kind::sparse_tensor:
      return Kind::sparse_tensor;
    case Type::Kind::sequence:
      return Kind::sequence;
    case Type::Kind::map:
      return Kind::map;
    case Type::Kind::optional:
      return Kind::optional;
    default:
      return Kind::tensor;
  }
}

Array row_of(const Array& values, std::size_t row) {
  if (values.dtype() == DType::string) return Array::scalar<std::string>(values.data<std::string>()[row]);
  Array one(values.dtype(), {});
  const std::size_t width = one.byte_size();
  std::copy_n(values.bytes() + row * width, width, one.bytes());
  return one;
}

Data data_of(const Datum& datum, const Type& type) {
  Data data;
  data.kind = kind_of(type);
  if (type.is_optional()) {
    data.item_kind = kind_of(type.inner());
    if (datum) data.items.push_back(data_of(datum, type.inner()));
    return data;
  }
  if (const Array* array = datum.array()) {
    data.kind = Kind::tensor;
    data.tensor = array->to_tensor();
  } else if (const Sequence* sequence = datum.sequence()) {
    data.kind = Kind::sequence;
    data.item_kind = kind_of(type.inner());
    for (const Datum& item : *sequence) data.items.push_back(data_of(item, type.inner()));
  } else if (const SparseArray* sparse = datum.sparse()) {
    data.kind = Kind::sparse_tensor;
    data.sparse = {sparse->values.to_tensor(), sparse->indices.to_tensor(), sparse->dims, {}};
  } else if (const MapData* map = datum.map()) {
    data.kind = Kind::map;
    data.item_kind = Kind::tensor;
    data.keys = map->int_keys;
    data.string_keys = map->string_keys;
    data.key_type = map->string_keys.empty() ? DType::i64 : DType::string;
    const std::size_t count = map->int_keys.size() + map->string_keys.size();
    for (std::size_t i = 0; i < count; ++i)
      data.items.push_back({.kind = Kind::tensor, .tensor = row_of(map->values, i).to_tensor()});
  } else {
    throw Error(Code::execution_failed, "there is no value to write");
  }
  return data;
}

}  // namespace

Datum load_datum(const std::string& path, const Type& type, const LoadOptions& options) try {
  return datum_of(onnx::read_data(path, type, {.allow_links = options.allow_links, .budget = options.budget}));
} catch (Error& error) {
  error.in_file(path);
  throw;
}

void save_datum(const Datum& datum, const Type& type, const std::string& path, const std::string& name) try {
  Data data = data_of(datum, type);
  data.name = name;
  onnx::write_data(data, path);
} catch (Error& error) {
  error.in_file(path);
  throw;
}

}  // namespace ingot::driver
