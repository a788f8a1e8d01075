#pragma once
#include <deque>
#include <vector>

#include "ingot/ir/model.h"
#include "ingot/onnx/graph_assembly.h"
#include "ingot/onnx/read_context.h"

namespace ingot::onnx {

/// Reads graphs. Nested ones are queued and read after the graph around them is complete, so that they find its values
/// and nothing recurses.
class GraphReader {
 public:
  explicit GraphReader(ReadContext& context) : context_(context) {}

  /// Reads the parts of one GraphProto, which merge, into `graph` and then all graphs nested in it.
  void read(Graph& graph, std::vector<protobuf::Reader> parts);
  void read_function(Function& function, protobuf::Reader message);

 private:
  struct Pending {
    Graph* graph;
    std::vector<protobuf::Reader> parts;
    int depth;
  };

  struct AttributeParts;

  void read_one(const Pending& pending);
  void read_nested();
  void read_node(const protobuf::Reader& field, GraphAssembly& assembly);
  void read_node_fields(protobuf::Reader message, Node& node, GraphAssembly& assembly);
  Attribute read_attribute(protobuf::Reader message, Graph* parent);
  void read_value(protobuf::Reader& message, Graph* parent, AttributeParts& parts);
  void finish(AttributeParts& parts, Graph* parent);
  void read_initializers(const std::vector<protobuf::Reader>& parts, Graph& graph);
  GraphPtr nested(Graph* parent, std::vector<protobuf::Reader> parts);

  ReadContext& context_;
  std::deque<Pending> pending_;
  int depth_ = 0;  // of the graph being read
};

OpsetImport read_opset_import(protobuf::Reader message);

}  // namespace ingot::onnx
