// What can be asked of the plain structs of a graph.
#include "ingot/formats/tensorflow/graph_def.h"

#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"

namespace ingot::formats::tensorflow {

const AttrValue* NodeDef::find(std::string_view attr) const {
  for (auto it = attrs.rbegin(); it != attrs.rend(); ++it)
    if (it->name == attr) return &it->value;
  return nullptr;
}

std::uint64_t element_count(const TensorShape& shape) {
  if (shape.unknown_rank) throw Error(Code::bad_shape, "a tensor with a value has no shape");
  const auto count = ingot::element_count(shape.dims);
  if (!count) throw Error(Code::bad_shape, "a tensor's dimension is negative or their product overflows");
  return *count;
}

Bytes expanded_elements(const TensorProto& tensor, Budget& budget) {
  const std::uint64_t size = element_size(tensor.dtype);
  if (!size)
    throw Error(Code::bad_element_type, "a tensor of type " + std::string(name_of(tensor.dtype)) + " has no elements");
  const auto wanted = checked_mul(element_count(tensor.shape), size);
  if (!wanted) throw Error(Code::bad_shape, "a tensor is larger than 64 bits can count");
  const std::size_t given = tensor.elements.size();
  if (given == *wanted) return tensor.elements;
  if (given > *wanted || given % size)
    throw Error(Code::tensor_size_mismatch, "a tensor has " + std::to_string(given) + " bytes of data, but " +
                                                std::to_string(*wanted) + " are needed");
  // A few bytes may stand for a tensor of any size: what they cost is asked for first.
  constexpr std::uint64_t kMostRepeated = std::uint64_t{1} << 32;
  if (*wanted > kMostRepeated) throw Error(Code::memory_limit, "a repeated value would fill more than 4 GiB");
  budget.charge_memory(*wanted);
  std::vector<std::byte> all(static_cast<std::size_t>(*wanted));
  if (given) {
    std::memcpy(all.data(), tensor.elements.data(), given);
    for (std::size_t at = given; at < all.size(); at += size) std::memcpy(&all[at], &all[given - size], size);
  }
  return Bytes::own(std::move(all));
}

std::vector<std::string> expanded_strings(const TensorProto& tensor, Budget& budget) {
  const std::uint64_t wanted = element_count(tensor.shape);
  if (tensor.strings.size() > wanted)
    throw Error(Code::tensor_size_mismatch, "a tensor has more strings than its shape");
  if (tensor.strings.size() == wanted) return tensor.strings;
  const std::string last = tensor.strings.empty() ? std::string() : tensor.strings.back();
  const auto bytes = checked_mul(wanted, std::uint64_t{sizeof(std::string)} + last.size());
  if (!bytes || *bytes > std::uint64_t{1} << 30)
    throw Error(Code::memory_limit, "a repeated string would fill more than 1 GiB");
  budget.charge_memory(*bytes);
  std::vector<std::string> all = tensor.strings;
  all.resize(static_cast<std::size_t>(wanted), last);
  return all;
}

}  // namespace ingot::formats::tensorflow
