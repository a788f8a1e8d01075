// ONNX messages made by hand.
#include "tests/onnx/messages.h"

namespace ingot::test {

using namespace onnx;

Message value_info(std::string_view name) {
  return message([&](Writer& w) { w.string(ValueInfoField::name, name); });
}

Message node(std::string_view op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
             const std::vector<Message>& attributes) {
  return message([&](Writer& w) {
    for (const auto& name : inputs) w.string(NodeField::input, name);
    for (const auto& name : outputs) w.string(NodeField::output, name);
    w.string(NodeField::op_type, op);
    for (const auto& a : attributes) w.string(NodeField::attribute, a);
  });
}

Message graph(const std::function<void(Writer&)>& more) {
  return message([&](Writer& w) {
    w.string(GraphField::node, node("Identity", {"x"}, {"y"}));
    w.string(GraphField::name, "g");
    w.string(GraphField::input, value_info("x"));
    w.string(GraphField::output, value_info("y"));
    if (more) more(w);
  });
}

Message model(const Message& graph, const std::function<void(Writer&)>& more) {
  return message([&](Writer& w) {
    w.int64(ModelField::ir_version, 10);
    w.string(ModelField::graph, graph);
    w.string(ModelField::opset_import, message([](Writer& o) { o.int64(OpsetField::version, 21); }));
    if (more) more(w);
  });
}

Message attribute(std::string_view name, int type, std::uint32_t field, const Message& value) {
  return message([&](Writer& w) {
    w.string(AttributeField::name, name);
    w.string(field, value);
    w.int32(AttributeField::type, type);
  });
}

Message external_tensor(const std::vector<std::pair<std::string, std::string>>& entries, std::int64_t elements) {
  return message([&](Writer& w) {
    w.int64(TensorField::dims, elements);
    w.int32(TensorField::data_type, 1);
    w.string(TensorField::name, "weight");
    for (const auto& entry : entries) {
      w.message(TensorField::external_data, [&] {
        w.string(EntryField::key, entry.first);
        w.string(EntryField::value, entry.second);
      });
    }
    w.int32(TensorField::data_location, 1);
  });
}

Message raw_tensor(const std::vector<std::int64_t>& dims, int data_type, std::string_view raw) {
  return message([&](Writer& w) {
    for (const std::int64_t dim : dims) w.int64(TensorField::dims, dim);
    w.int32(TensorField::data_type, data_type);
    w.string(TensorField::name, "weight");
    w.string(TensorField::raw_data, raw);
  });
}

std::vector<std::pair<std::string, Message>> models_with_tensor(const Message& tensor) {
  const auto constant = [](const Message& a) { return node("Constant", {}, {"c"}, {a}); };
  const auto in_graph = [&](std::uint32_t field, const Message& value) {
    return graph([&](Writer& w) { w.string(field, value); });
  };
  const auto sparse = [&](std::uint32_t field) { return message([&](Writer& w) { w.string(field, tensor); }); };
  const Message as_attribute = attribute("value", 4, AttributeField::t, tensor);
  const auto subgraph = [&](const Message& inner) {
    return model(
        in_graph(GraphField::node, node("If", {"x"}, {"z"}, {attribute("then_branch", 5, AttributeField::g, inner)})));
  };
  const auto function = [&](std::uint32_t field, const Message& value) {
    return model(graph(), [&](Writer& w) {
      w.message(ModelField::functions, [&] {
        w.string(FunctionField::name, "f");
        w.string(field, value);
      });
    });
  };
  const auto training = [&](std::uint32_t field, const Message& inner) {
    return model(graph(), [&](Writer& w) { w.message(ModelField::training_info, [&] { w.string(field, inner); }); });
  };
  return {
      {"initializer", model(in_graph(GraphField::initializer, tensor))},
      {"attribute", model(in_graph(GraphField::node, constant(as_attribute)))},
      {"list in an attribute",
       model(in_graph(GraphField::node, constant(attribute("list", 9, AttributeField::tensors, tensor))))},
      {"values of a sparse initializer",
       model(in_graph(GraphField::sparse_initializer, sparse(SparseTensorField::values)))},
      {"indices of a sparse initializer",
       model(in_graph(GraphField::sparse_initializer, sparse(SparseTensorField::indices)))},
      {"values of a sparse attribute",
       model(in_graph(GraphField::node, constant(attribute("sparse_value", 11, AttributeField::sparse_tensor,
                                                           sparse(SparseTensorField::values)))))},
      {"indices of a sparse attribute",
       model(in_graph(GraphField::node, constant(attribute("sparse_value", 11, AttributeField::sparse_tensor,
                                                           sparse(SparseTensorField::indices)))))},
      {"list of sparse tensors",
       model(in_graph(GraphField::node, constant(attribute("list", 12, AttributeField::sparse_tensors,
                                                           sparse(SparseTensorField::values)))))},
      {"initializer of a subgraph", subgraph(in_graph(GraphField::initializer, tensor))},
      {"attribute in a subgraph", subgraph(in_graph(GraphField::node, constant(as_attribute)))},
      {"attribute in a function", function(FunctionField::node, constant(as_attribute))},
      {"default of a function's attribute", function(FunctionField::attribute_proto, as_attribute)},
      {"initialization of training",
       training(TrainingField::initialization, in_graph(GraphField::initializer, tensor))},
      {"algorithm of training", training(TrainingField::algorithm, in_graph(GraphField::node, constant(as_attribute)))},
  };
}

}  // namespace ingot::test
