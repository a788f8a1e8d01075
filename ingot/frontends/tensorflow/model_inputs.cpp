// Inputs of the model, and the types that a graph states.
#include "ingot/frontends/tensorflow/model_inputs.h"

#include "ingot/base/error.h"

namespace ingot::frontends::tensorflow {
namespace {

/// The first graphs wrote the shape of a placeholder without a shape as that of a scalar.
constexpr std::int64_t kFirstProducerWithScalars = 24;

template <class T> const T* attr_of(const tf::NodeDef& node, std::string_view name) {
  const tf::AttrValue* attr = node.find(name);
  return attr ? std::get_if<T>(attr) : nullptr;
}

Shape named_dims(const tf::TensorShape& shape, const std::string& name) {
  Shape dims;
  for (std::size_t i = 0; i < shape.dims.size(); ++i)
    dims.push_back(shape.dims[i] < 0 ? Dim::symbol(name + "_" + std::to_string(i)) : Dim(shape.dims[i]));
  return dims;
}

/// What a node says about its first output.
Type stated_type(const tf::NodeDef& node, std::int32_t port, std::int64_t producer, const std::string& name) {
  if (const auto* tensor = attr_of<std::shared_ptr<const tf::TensorProto>>(node, "value"); tensor && node.op == "Const")
    return Type::tensor(tf::dtype_of((*tensor)->dtype), named_dims((*tensor)->shape, name));
  Type type = Type::tensor(DType::undefined);
  for (const std::string_view key : {"dtype", "T", "DstT", "out_type", "output_type"})
    if (const auto* t = attr_of<tf::DataType>(node, key); t && type.elem == DType::undefined)
      type.elem = tf::dtype_of(*t);
  const tf::TensorShape* shape = attr_of<tf::TensorShape>(node, "shape");
  if (const auto* list = attr_of<std::shared_ptr<const tf::AttrList>>(node, "_output_shapes"))
    if (static_cast<std::size_t>(port) < (*list)->shapes.size())
      shape = &(*list)->shapes[static_cast<std::size_t>(port)];
  const bool is_old_unknown = shape && shape->dims.empty() && producer < kFirstProducerWithScalars;
  if (shape && !shape->unknown_rank && !is_old_unknown) type.shape = named_dims(*shape, name);
  return type;
}

}  // namespace

void add_input(Translation& t, const Port& port) {
  const Body& main = t.main();
  const Source source = main.resolve(port.tensor);
  Type type = stated_type(main.node(source.node), source.port, t.bodies().graph().producer, port.name);
  if (port.dtype != DType::undefined) type.elem = port.dtype;
  if (port.shape) type.shape = port.shape;
  for (const auto& [name, shape] : t.options().input_shapes) {
    if (name != port.name) continue;
    Shape wanted = shape;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].is_unknown() && type.shape && type.shape->size() == wanted.size()) wanted[i] = (*type.shape)[i];
    type.shape = std::move(wanted);
  }
  if (type.elem == DType::undefined)
    throw Error(Code::unsupported_setting, "the element type of input '" + port.name + "' is not known");
  Value* input = t.root().add_input(t.root().fresh_name(port.name), std::move(type));
  input->is_declared = true;
  t.cut(source, input);
}

}  // namespace ingot::frontends::tensorflow
