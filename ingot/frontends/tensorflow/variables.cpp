// Variables and their values.
#include "ingot/frontends/tensorflow/variables.h"

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"

namespace ingot::frontends::tensorflow {

Value* Variables::get(const Resource& resource) {
  if (const auto found = variables_.find(resource.name); found != variables_.end()) return found->second;
  std::optional<Tensor> value = files_.variable ? files_.variable(resource.name) : std::nullopt;
  if (!value && files_.variable && !resource.shared_name.empty()) value = files_.variable(resource.shared_name);
  if (!value && options_.mode != ImportMode::inference) {
    value = zeros(resource);
    if (value) blank_.push_back(resource.name);
  }
  if (!value)
    throw Error(Code::unsupported_setting, "no file holds the value of this variable")
        .hint(
            "a checkpoint has the values of variables: convert the SavedModel's directory, or the .meta file "
            "beside the checkpoint");
  Value* made = graph_.add_initializer(graph_.fresh_name(resource.name), std::move(*value));
  variables_.emplace(resource.name, made);
  return made;
}

bool Variables::has(const Value* variable) const {
  return std::ranges::any_of(variables_, [&](const auto& entry) { return entry.second == variable; });
}

Value* Variables::updated(Value* variable) const {
  const auto found = updates_.find(variable);
  return found == updates_.end() ? nullptr : found->second;
}

/// In the shape that the variable's node states.
std::optional<Tensor> Variables::zeros(const Resource& resource) const {
  const std::int32_t node = main_.find(resource.name);
  if (node < 0) return std::nullopt;
  const tf::AttrValue *shape = main_.node(node).find("shape"), *type = main_.node(node).find("dtype");
  const auto* dims = shape ? std::get_if<tf::TensorShape>(shape) : nullptr;
  const auto* dtype = type ? std::get_if<tf::DataType>(type) : nullptr;
  if (!dims || !dtype || dims->unknown_rank) return std::nullopt;
  for (const std::int64_t dim : dims->dims)
    if (dim < 0) return std::nullopt;
  const DType elem = tf::dtype_of(*dtype);
  const std::uint64_t count = tf::element_count(*dims);
  const Tensor zero = Tensor::scalar(0, elem);
  if (zero.bytes().empty() || count > (std::uint64_t{1} << 40)) return std::nullopt;
  const std::uint64_t bytes = count * zero.bytes().size();
  budget_.charge_memory(bytes);
  return Tensor(elem, dims->dims, Bytes::own(std::string(static_cast<std::size_t>(bytes), char{0})));
}

}  // namespace ingot::frontends::tensorflow
