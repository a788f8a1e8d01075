// The same tensor in another model's form.
#include "ingot/verify/alignment.h"

#include <algorithm>
#include <cstring>

#include "ingot/base/checked.h"
#include "ingot/base/elements.h"
#include "ingot/driver/import_layout.h"
#include "ingot/ir/transpose.h"

namespace ingot::verify {
namespace {

bool has_channels(std::size_t rank) { return rank >= 3 && rank <= 5; }

bool fits(const Dims& dims, const std::optional<Shape>& shape) {
  if (!shape) return true;
  if (shape->size() != dims.size()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (const auto n = (*shape)[i].as_int(); n && *n != dims[i]) return false;
  return true;
}

}  // namespace

ChannelPlace stated_place(const Model& model, const std::string& name) {
  for (const auto& [key, value] : model.metadata)
    if (key == std::string(driver::kLayoutProperty) + name) {
      if (value.size() >= 3 && (value.ends_with("C") || value.ends_with("c"))) return ChannelPlace::last;
      if (value.size() >= 3 && (value[1] == 'C' || value[1] == 'c')) return ChannelPlace::first;
    }
  return ChannelPlace::unstated;
}

Array transposed(const Array& array, const std::vector<std::int64_t>& perm) {
  Array result(array.dtype(), permuted(array.dims(), perm));
  dispatch(array.dtype(), Any{}, [&]<class T>() {
    const auto from = array.data<T>();
    const auto to = result.mutable_data<T>();
    for_each_transposed(array.dims(), perm, [&](std::size_t at, std::size_t source) { to[at] = from[source]; });
  });
  return result;
}

Array converted(const Array& array, DType to) {
  if (array.dtype() == to) return array;
  const std::vector<double> values = array.to_doubles();
  Array result(to, array.dims());
  dispatch(to, Numeric{}, [&]<class T>() {
    const auto out = result.mutable_data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_integral_v<T>)
        out[i] = saturate_cast<T>(values[i]);  // the end of an axis may be said by the largest number there is
      else if constexpr (std::is_same_v<T, double>)
        out[i] = values[i];
      else
        out[i] = static_cast<T>(static_cast<float>(values[i]));
    }
  });
  return result;
}

std::optional<Array> fitted(const Array& array, ChannelPlace from, const Type& type, ChannelPlace to,
                            std::vector<std::string>& changes) {
  if (!type.is_tensor()) return std::nullopt;
  Array result = array;
  const std::size_t rank = array.dims().size();
  const bool is_moved = from != ChannelPlace::unstated && to != ChannelPlace::unstated && from != to;
  if (has_channels(rank) && is_moved) {
    result = transposed(array, to == ChannelPlace::first ? to_channels_first(rank) : to_channels_last(rank));
    changes.push_back(to == ChannelPlace::first ? "channels moved to the front" : "channels moved to the end");
  } else if (has_channels(rank) && !fits(array.dims(), type.shape)) {
    const auto first = to_channels_first(rank), last = to_channels_last(rank);
    if (fits(permuted(array.dims(), first), type.shape)) {
      result = transposed(array, first);
      changes.push_back("channels moved to the front");
    } else if (fits(permuted(array.dims(), last), type.shape)) {
      result = transposed(array, last);
      changes.push_back("channels moved to the end");
    }
  }
  if (!fits(result.dims(), type.shape)) {
    const auto dims = static_dims(type.shape);
    Dims ours = result.dims(), theirs = dims.value_or(Dims{});
    std::erase(ours, 1);
    std::erase(theirs, 1);
    if (!dims || ours != theirs) return std::nullopt;
    result = result.reshaped(*dims);
    changes.push_back("reshaped");
  }
  if (type.elem != DType::undefined && result.dtype() != type.elem) {
    const bool are_numbers = TypeSet(Numeric{}).has(result.dtype()) && TypeSet(Numeric{}).has(type.elem);
    if (!are_numbers || is_float(result.dtype()) != is_float(type.elem)) return std::nullopt;
    changes.push_back("as " + std::string(name_of(type.elem)));
    result = converted(result, type.elem);
  }
  return result;
}

std::vector<Array> in_layouts(const Array& array, const Dims& dims) {
  std::vector<Array> all;
  if (array.dims() == dims) all.push_back(array);
  const std::size_t rank = array.dims().size();
  if (!has_channels(rank) || dims.size() != rank) return all;
  for (const auto& perm : {to_channels_first(rank), to_channels_last(rank)})
    if (permuted(array.dims(), perm) == dims) all.push_back(transposed(array, perm));
  return all;
}

}  // namespace ingot::verify
