#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/formats/protobuf/wire_writer.h"
#include "ingot/onnx/fields.h"

// ONNX messages made by hand, to say things that the writer never would.
namespace ingot::test {

using Message = std::string;  // serialised
using Writer = formats::protobuf::Writer;

inline Message message(const std::function<void(Writer&)>& fill) { return formats::protobuf::serialize(fill); }

/// A model of IR 10 and opset 21 with this graph, and more fields.
Message model(const Message& graph, const std::function<void(Writer&)>& more = {});
/// A graph named g with one input x, one output y and a node y = Identity(x), and more fields.
Message graph(const std::function<void(Writer&)>& more = {});
Message node(std::string_view op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
             const std::vector<Message>& attributes = {});
/// An attribute of that type whose value stands in `field`.
Message attribute(std::string_view name, int type, std::uint32_t field, const Message& value);
Message value_info(std::string_view name);
Message external_tensor(const std::vector<std::pair<std::string, std::string>>& entries, std::int64_t elements = 4);
Message raw_tensor(const std::vector<std::int64_t>& dims, int data_type, std::string_view raw);

/// Models with the tensor in each place where one may stand, named.
std::vector<std::pair<std::string, Message>> models_with_tensor(const Message& tensor);

}  // namespace ingot::test
