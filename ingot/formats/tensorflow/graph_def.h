#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/formats/tensorflow/data_type.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::tensorflow {

/// A dimension of -1 is not known.
struct TensorShape {
  bool unknown_rank = false;
  std::vector<std::int64_t> dims{};
  bool operator==(const TensorShape&) const = default;
};

/// A tensor as a file has it. `elements` are little-endian, element_size() bytes each; where there are fewer than the
/// shape has, the last is repeated, and without any all are zero. Strings are a list of their own by the same rule.
struct TensorProto {
  DataType dtype = DataType::invalid;
  TensorShape shape{};
  Bytes elements{};
  std::vector<std::string> strings{};
  bool operator==(const TensorProto&) const = default;
};

/// All elements of a tensor: the rule of the last element applied, memory asked of the budget. Strings are not here.
Bytes expanded_elements(const TensorProto& tensor, Budget& budget);
std::vector<std::string> expanded_strings(const TensorProto& tensor, Budget& budget);
/// The number of elements; refuses unknown and negative dimensions and products that do not fit.
std::uint64_t element_count(const TensorShape& shape);

struct Attr;

/// A function by name, with the attributes it is instantiated with.
struct FunctionName {
  std::string name;
  std::vector<Attr> attrs;
};

/// In a function's body: the attribute of the caller that gives the value.
struct AttrPlaceholder {
  std::string name;
};

struct AttrList {
  std::vector<std::string> strings{};
  std::vector<std::int64_t> ints{};
  std::vector<float> floats{};
  std::vector<bool> bools{};
  std::vector<DataType> types{};
  std::vector<TensorShape> shapes{};
  std::vector<TensorProto> tensors{};
  std::vector<std::shared_ptr<const FunctionName>> functions{};
};

using AttrValue = std::variant<std::monostate, std::string, std::int64_t, float, bool, DataType, TensorShape,
                               std::shared_ptr<const TensorProto>, std::shared_ptr<const AttrList>, AttrPlaceholder,
                               std::shared_ptr<const FunctionName>>;

struct Attr {
  std::string name;
  AttrValue value;
};

struct NodeDef {
  std::string name, op, device;
  /// "node", "node:2", "^control"; in functions "argument", "node:output_name:2".
  std::vector<std::string> inputs;
  std::vector<Attr> attrs;  // of one name the last counts

  const AttrValue* find(std::string_view attr) const;
};

/// One input or output in the signature of a function.
struct ArgDef {
  std::string name;
  DataType type = DataType::invalid;
  std::string type_attr, number_attr, type_list_attr;
};

struct FunctionDef {
  std::string name;
  std::vector<ArgDef> inputs, outputs;
  std::vector<NodeDef> nodes;
  std::vector<std::pair<std::string, std::string>> returns;  // output -> value in the body
  std::vector<std::string> control_outputs;
  std::vector<Attr> attrs;
};

struct GraphDef {
  std::vector<NodeDef> nodes;
  std::vector<FunctionDef> functions;
  std::int64_t producer = 0, min_consumer = 0;
};

}  // namespace ingot::formats::tensorflow
