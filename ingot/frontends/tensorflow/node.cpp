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

std::optional<std::vector<std::int64_t>> TfNode::known_ints(std::size_t i) const {
  return tensorflow::known_ints(input(i));
}

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

std::optional<std::vector<std::int64_t>> known_ints(const Value* value) {
  if (const Tensor* constant = ops::constant_of(value)) {
    if (!is_integer(constant->dtype()) && constant->dtype() != DType::boolean) return std::nullopt;
    return constant->to_ints();
  }
  if (!value->known_ints) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const Dim& d : *value->known_ints) {
    if (!d.is_known()) return std::nullopt;
    values.push_back(d.value());
  }
  return values;
}

Value* as_int64(GraphBuilder& g, Value* value) {
  if (value->type.elem == DType::i64) return value;
  const Node* producer = value->producer();
  if (producer && producer->is("Cast") && producer->input(0)->type.elem == DType::i64) return producer->input(0);
  if (const Tensor* constant = ops::constant_of(value); constant && is_integer(constant->dtype()))
    return g.constant(Tensor::of<std::int64_t>(constant->dims(), constant->to_ints()));
  return g.cast(value, DType::i64);
}

Value* as_int64_vector(GraphBuilder& g, Value* value) {
  Value* wide = as_int64(g, value);
  return rank_of(wide) == 1 ? wide : g.reshape(wide, {-1});
}

std::optional<std::int64_t> rank_of(const Value* value) {
  if (!value->type.is_tensor() || !value->type.shape) return std::nullopt;
  return static_cast<std::int64_t>(value->type.shape->size());
}

std::optional<std::int64_t> dim_of(const Value* value, std::int64_t axis) {
  const auto rank = rank_of(value);
  if (!rank) return std::nullopt;
  if (axis < 0) axis += *rank;
  if (axis < 0 || axis >= *rank) return std::nullopt;
  return (*value->type.shape)[static_cast<std::size_t>(axis)].as_int();
}

Value* filled_like(GraphBuilder& g, Value* like, double value) {
  return g.op("Expand", {g.scalar(value, like->type.elem), g.shape(like)});
}

Shape to_shape(const tf::TensorShape& shape) {
  Shape dims;
  for (const std::int64_t d : shape.dims) dims.push_back(d < 0 ? Dim() : Dim(d));
  return dims;
}

}  // namespace ingot::frontends::tensorflow
