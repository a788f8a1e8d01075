// GraphDef with its nodes, attributes and functions.
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/read_messages.h"

namespace ingot::formats::tensorflow {
namespace {

AttrValue read_attr_value(protobuf::Reader r);

void read_attr(protobuf::Reader entry, std::vector<Attr>& attrs) {
  read_map_entry(std::move(entry), [&](std::string key, protobuf::Reader value) {
    attrs.push_back({std::move(key), read_attr_value(std::move(value))});
  });
}

std::shared_ptr<const FunctionName> read_function_name(protobuf::Reader r) {
  auto function = std::make_shared<FunctionName>();
  while (r.next()) {
    if (r.field() == 1) function->name = r.string();
    if (r.field() == 2) read_attr(r.message(), function->attrs);
  }
  return function;
}

std::shared_ptr<const AttrList> read_list(protobuf::Reader r) {
  auto list = std::make_shared<AttrList>();
  while (r.next()) {
    switch (r.field()) {
      case 2:
        list->strings.push_back(r.string());
        break;
      case 3:
        r.ints(list->ints);
        break;
      case 4:
        r.floats(list->floats);
        break;
      case 5: {
        std::vector<std::int64_t> bools;
        r.ints(bools);
        for (const std::int64_t b : bools) list->bools.push_back(b != 0);
        break;
      }
      case 6: {
        std::vector<std::int64_t> types;
        r.ints(types);
        for (const std::int64_t t : types) list->types.push_back(data_type_of(t));
        break;
      }
      case 7:
        list->shapes.push_back(read_shape(r.message()));
        break;
      case 8:
        list->tensors.push_back(read_tensor(r.message()));
        break;
      case 9:
        list->functions.push_back(read_function_name(r.message()));
        break;
      default:
        r.skip();
    }
  }
  return list;
}

AttrValue read_attr_value(protobuf::Reader r) {
  AttrValue value;
  while (r.next()) {
    switch (r.field()) {
      case 1:
        value = read_list(r.message());
        break;
      case 2:
        value = r.string();
        break;
      case 3:
        value = r.int64();
        break;
      case 4:
        value = r.fixed_float();
        break;
      case 5:
        value = r.boolean();
        break;
      case 6:
        value = data_type_of(r.int64());
        break;
      case 7:
        value = read_shape(r.message());
        break;
      case 8:
        value = std::make_shared<const TensorProto>(read_tensor(r.message()));
        break;
      case 9:
        value = AttrPlaceholder{r.string()};
        break;
      case 10:
        value = read_function_name(r.message());
        break;
      default:
        r.skip();
    }
  }
  return value;
}

NodeDef read_node(protobuf::Reader r, Budget& budget) {
  budget.charge_nodes(1);
  NodeDef node;
  while (r.next()) {
    switch (r.field()) {
      case 1:
        node.name = r.string();
        break;
      case 2:
        node.op = r.string();
        break;
      case 3:
        node.inputs.push_back(r.string());
        break;
      case 4:
        node.device = r.string();
        break;
      case 5:
        read_attr(r.message(), node.attrs);
        break;
      default:
        r.skip();
    }
  }
  return node;
}

ArgDef read_arg(protobuf::Reader r) {
  ArgDef arg;
  while (r.next()) {
    switch (r.field()) {
      case 1:
        arg.name = r.string();
        break;
      case 3:
        arg.type = data_type_of(r.int64());
        break;
      case 4:
        arg.type_attr = r.string();
        break;
      case 5:
        arg.number_attr = r.string();
        break;
      case 6:
        arg.type_list_attr = r.string();
        break;
      default:
        r.skip();
    }
  }
  return arg;
}

void read_signature(protobuf::Reader r, FunctionDef& function) {
  while (r.next()) {
    switch (r.field()) {
      case 1:
        function.name = r.string();
        break;
      case 2:
        function.inputs.push_back(read_arg(r.message()));
        break;
      case 3:
        function.outputs.push_back(read_arg(r.message()));
        break;
      case 20:
        function.control_outputs.push_back(r.string());
        break;
      default:
        r.skip();
    }
  }
}

FunctionDef read_function(protobuf::Reader r, Budget& budget) {
  FunctionDef function;
  while (r.next()) {
    switch (r.field()) {
      case 1:
        read_signature(r.message(), function);
        break;
      case 3:
        function.nodes.push_back(read_node(r.message(), budget));
        break;
      case 4: {
        std::string key, value;
        for (protobuf::Reader e = r.message(); e.next();) {
          if (e.field() == 1) key = e.string();
          if (e.field() == 2) value = e.string();
        }
        function.returns.emplace_back(std::move(key), std::move(value));
        break;
      }
      case 5:
        read_attr(r.message(), function.attrs);
        break;
      default:
        r.skip();
    }
  }
  return function;
}

}  // namespace

GraphDef read_graph(protobuf::Reader r, Budget& budget) {
  GraphDef graph;
  while (r.next()) {
    switch (r.field()) {
      case 1:
        graph.nodes.push_back(read_node(r.message(), budget));
        break;
      case 2:
        for (protobuf::Reader l = r.message(); l.next();)
          if (l.field() == 1) graph.functions.push_back(read_function(l.message(), budget));
        break;
      case 3:
        graph.producer = r.int64();
        break;
      case 4:
        for (protobuf::Reader v = r.message(); v.next();) {
          if (v.field() == 1) graph.producer = v.int64();
          if (v.field() == 2) graph.min_consumer = v.int64();
        }
        break;
      default:
        r.skip();
    }
  }
  return graph;
}

}  // namespace ingot::formats::tensorflow
