// A TensorFlow node for its translator.
#include "ingot/frontends/tensorflow/node.h"

#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/translation.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::tensorflow {
namespace {

template <class T> const T* kind(const TfNode& n, std::string_view name) {
  const tf::AttrValue* attr = n.attr(name);
  if (!attr) return nullptr;
  const T* value = std::get_if<T>(attr);
  if (!value) throw Error(Code::bad_attribute, "attribute '" + std::string(name) + "' is of the wrong kind");
  return value;
}

}  // namespace

const Operand& TfNode::operand(std::size_t i) const {
  if (i >= inputs_.size())
    throw Error(Code::bad_arity,
                "input " + std::to_string(i) + " is missing: there are " + std::to_string(inputs_.size()));
  return inputs_[i];
}

Value* TfNode::any_input(std::size_t i) const {
  const Operand& o = operand(i);
  if (!o.value) unsupported("input " + std::to_string(i) + " is a handle, not a tensor");
  return o.value;
}

bool TfNode::is_complex(std::size_t i) const { return translation_.is_complex(any_input(i)); }

Value* TfNode::complex_input(std::size_t i) const {
  if (!is_complex(i)) unsupported("input " + std::to_string(i) + " must be complex");
  return any_input(i);
}

Value* TfNode::input(std::size_t i) const {
  if (is_complex(i)) unsupported("complex numbers");
  return any_input(i);
}

Values TfNode::inputs(std::size_t from) const {
  Values values;
  for (std::size_t i = from; i < inputs_.size(); ++i) values.push_back(input(i));
  return values;
}

std::int64_t TfNode::rank(std::size_t i) const {
  const auto rank = rank_of(input(i));
  if (!rank) unsupported("the rank of input " + std::to_string(i) + " must be known");
  return *rank;
}

std::optional<std::vector<std::int64_t>> TfNode::known_ints(std::size_t i) const { return ingot::known_ints(input(i)); }

std::vector<std::int64_t> TfNode::need_ints(std::size_t i) const {
  auto values = known_ints(i);
  if (!values) unsupported("input " + std::to_string(i) + " must be a constant");
  return *values;
}

std::int64_t TfNode::need_int(std::size_t i) const {
  const std::vector<std::int64_t> values = need_ints(i);
  if (values.size() != 1) unsupported("input " + std::to_string(i) + " must be one number");
  return values.front();
}

const Tensor* TfNode::constant(std::size_t i) const { return ops::constant_of(input(i)); }

const tf::AttrValue* TfNode::attr(std::string_view name) const {
  const tf::AttrValue* value = def_.find(name);
  const auto* placeholder = value ? std::get_if<tf::AttrPlaceholder>(value) : nullptr;
  return placeholder ? scope_.call_attr(placeholder->name) : value;
}

std::int64_t TfNode::integer(std::string_view name, std::int64_t fallback) const {
  const auto* value = kind<std::int64_t>(*this, name);
  return value ? *value : fallback;
}

double TfNode::real(std::string_view name, double fallback) const {
  const auto* value = kind<float>(*this, name);
  return value ? *value : fallback;
}

bool TfNode::flag(std::string_view name, bool fallback) const {
  const auto* value = kind<bool>(*this, name);
  return value ? *value : fallback;
}

std::string TfNode::text(std::string_view name, std::string_view fallback) const {
  const auto* value = kind<std::string>(*this, name);
  return value ? *value : std::string(fallback);
}

std::vector<std::int64_t> TfNode::ints(std::string_view name, std::vector<std::int64_t> fallback) const {
  const auto* value = kind<std::shared_ptr<const tf::AttrList>>(*this, name);
  return value ? (*value)->ints : fallback;
}

std::vector<std::string> TfNode::texts(std::string_view name) const {
  const auto* value = kind<std::shared_ptr<const tf::AttrList>>(*this, name);
  return value ? (*value)->strings : std::vector<std::string>();
}

std::vector<double> TfNode::reals(std::string_view name) const {
  const auto* value = kind<std::shared_ptr<const tf::AttrList>>(*this, name);
  if (!value) return {};
  return {(*value)->floats.begin(), (*value)->floats.end()};
}

DType TfNode::dtype(std::string_view name, DType fallback) const {
  const auto* value = kind<tf::DataType>(*this, name);
  return value ? tf::dtype_of(*value) : fallback;
}

tf::TensorShape TfNode::shape(std::string_view name) const {
  const auto* value = kind<tf::TensorShape>(*this, name);
  return value ? *value : tf::TensorShape{.unknown_rank = true};
}

void TfNode::unsupported(const std::string& why) const { throw Error(Code::unsupported_setting, why); }

Shape to_shape(const tf::TensorShape& shape) {
  Shape dims;
  for (const std::int64_t d : shape.dims) dims.push_back(d < 0 ? Dim() : Dim(d));
  return dims;
}

}  // namespace ingot::frontends::tensorflow
