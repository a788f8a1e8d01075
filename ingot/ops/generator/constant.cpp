// Constant: one tensor, written as a tensor or as plain numbers or strings.
#include "ingot/ops/generator/constant.h"

#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

constexpr std::string_view kForms[] = {"value",       "sparse_value", "value_int",    "value_ints",
                                       "value_float", "value_floats", "value_string", "value_strings"};

/// The only attribute that says what the tensor is; null: none, or several.
const Attribute* only_form(const Node& node) {
  const Attribute* found = nullptr;
  for (const std::string_view name : kForms) {
    const Attribute* attribute = node.attributes.find(name);
    if (attribute && found) return nullptr;
    if (attribute) found = attribute;
  }
  return found;
}

template <class T> Shape vector_shape(const std::vector<T>& values) {
  return {static_cast<std::int64_t>(values.size())};
}

struct TypeOf {
  Type operator()(const Tensor& t) const { return t.type(); }
  Type operator()(const SparseTensor& t) const {
    return Type::tensor(t.values.dtype(), Shape(t.dims.begin(), t.dims.end()));
  }
  Type operator()(std::int64_t) const { return Type::tensor(DType::i64, Shape{}); }
  Type operator()(float) const { return Type::tensor(DType::f32, Shape{}); }
  Type operator()(const std::string&) const { return Type::tensor(DType::string, Shape{}); }
  Type operator()(const std::vector<std::int64_t>& v) const { return Type::tensor(DType::i64, vector_shape(v)); }
  Type operator()(const std::vector<float>& v) const { return Type::tensor(DType::f32, vector_shape(v)); }
  Type operator()(const std::vector<std::string>& v) const { return Type::tensor(DType::string, vector_shape(v)); }
  template <class T> Type operator()(const T&) const { return {}; }
};

void infer(InferContext& c) {
  const Attribute* form = only_form(c.node());
  if (!form) c.fail("exactly one of the attributes value, sparse_value and value_... is needed");
  if (form->is_reference()) return;
  const Type type = std::visit(TypeOf(), form->value);
  if (!type) c.fail("attribute '" + form->name + "' is of the wrong type");
  c.out(0, type);
  if (const auto* number = std::get_if<std::int64_t>(&form->value)) c.out_ints(0, {*number});
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&form->value))
    c.out_ints(0, std::vector<Dim>(numbers->begin(), numbers->end()));
}

struct TensorOf {
  Tensor operator()(std::int64_t v) const { return Tensor::scalar(v); }
  Tensor operator()(float v) const { return Tensor::scalar(v); }
  Tensor operator()(const std::string& v) const { return Tensor::of_strings({}, {v}); }
  Tensor operator()(const std::vector<std::int64_t>& v) const { return Tensor::ints(v); }
  Tensor operator()(const std::vector<float>& v) const {
    return Tensor::of<float>({static_cast<std::int64_t>(v.size())}, v);
  }
  Tensor operator()(const std::vector<std::string>& v) const {
    return Tensor::of_strings({static_cast<std::int64_t>(v.size())}, v);
  }
  template <class T> Tensor operator()(const T&) const { return {}; }
};

// Until 11 there were tensors only.
void down_to_tensor(StepContext& c) { spell_out_constant(c.node); }

constexpr Step kSteps[] = {{.since = 12, .down = down_to_tensor}};

/// The elements that a sparse tensor names by their positions, zeros elsewhere.
Array dense(KernelContext& c, const SparseTensor& sparse) {
  const Array values = Array::from(sparse.values);
  const auto indices = sparse.indices.to_ints();
  const auto count = static_cast<std::size_t>(values.size()), rank = sparse.dims.size();
  const bool is_linear = sparse.indices.rank() == 1;
  if (indices.size() != (is_linear ? count : count * rank)) c.fail("the indices do not fit the values");
  Array y = scratch(c, values.dtype(), sparse.dims);
  dispatch_cell(values.dtype(), [&]<class T>() {
    const T* in = cells<T>(values);
    T* out = cells<T>(y);
    std::fill_n(out, y.size(), T{});
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t at = is_linear ? indices[i] : 0;
      if (at < 0 || (is_linear && at >= y.size())) c.fail("an index is out of range");
      for (std::size_t k = 0; !is_linear && k < rank; ++k) {
        const std::int64_t index = indices[i * rank + k];
        if (index < 0 || index >= sparse.dims[k]) c.fail("an index is out of range");
        at = at * sparse.dims[k] + index;
      }
      out[at] = in[i];
    }
  });
  return y;
}

void run(KernelContext& c) {
  const Attribute* form = only_form(c.node);
  if (!form || form->is_reference())
    c.fail("exactly one of the attributes value, sparse_value and value_... is needed");
  if (const auto* tensor = std::get_if<Tensor>(&form->value)) return c.set(0, Array::from(*tensor));
  if (const auto* sparse = std::get_if<SparseTensor>(&form->value)) return c.set(0, dense(c, *sparse));
  const Tensor tensor = std::visit(TensorOf(), form->value);
  if (!tensor) c.fail("attribute '" + form->name + "' is of the wrong type");
  c.set(0, Array::from(tensor));
}

}  // namespace

void spell_out_constant(Node& node) {
  const Attribute* form = only_form(node);
  if (!form || form->is_reference() || form->name == "value" || form->name == "sparse_value") return;
  Tensor tensor = std::visit(TensorOf(), form->value);
  if (!tensor) return;
  node.attributes.erase(std::string(form->name));
  node.attributes.set(Attribute("value", AttrValue(std::move(tensor))));
}

constinit const OpDef defs::Constant = {
    .name = "Constant",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
};

}  // namespace ingot::ops
