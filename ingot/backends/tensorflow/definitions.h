#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/formats/tensorflow/graph_def.h"

namespace ingot::backends::tensorflow {

/// What TensorFlow says of one of its operators.
struct Definition {
  struct Argument {
    std::string_view name, type_attr, number_attr, type_list_attr;
    formats::tensorflow::DataType type = formats::tensorflow::DataType::invalid;  // where no attribute tells
  };
  struct Attribute {
    std::string_view name, type;
    bool has_default = false;
    formats::tensorflow::DataType default_type = formats::tensorflow::DataType::invalid;
    std::vector<std::string_view> allowed;  // empty: anything
    bool allows(formats::tensorflow::DataType value) const;
  };
  std::vector<Argument> inputs, results;
  std::vector<Attribute> attributes;

  const Attribute* find(std::string_view attribute) const;
};

/// Null: the backend does not use such an operator.
const Definition* definition_of(std::string_view op);

/// How many tensors an argument stands for, by the attributes of a node.
std::size_t count_of(const Definition::Argument& argument, const std::vector<formats::tensorflow::Attr>& attrs);
/// How a function's body names a result of a node: "z:0", "output:3".
std::string result_name(std::string_view op, const std::vector<formats::tensorflow::Attr>& attrs, std::int32_t port);

}  // namespace ingot::backends::tensorflow
