// Iterators and queues: whatever feeds a graph while it is trained is an input of the model.
#include "ingot/frontends/tensorflow/pipelines.h"

#include <algorithm>

namespace ingot::frontends::tensorflow {
namespace {

const tf::AttrList* list_of(const tf::NodeDef& node, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const tf::AttrValue* attr = node.find(name))
      if (const auto* list = std::get_if<std::shared_ptr<const tf::AttrList>>(attr)) return list->get();
  return nullptr;
}

/// The queue that a node takes from; -1: it cannot be told.
std::int32_t queue_of(const Body& body, std::int32_t node) {
  if (body.inputs(node).empty()) return -1;
  return body.behind_identities(body.inputs(node)[0]).node;
}

}  // namespace

bool ends_pipeline(std::string_view op) {
  constexpr std::string_view kEnds[] = {
      "IteratorGetNext",    "IteratorGetNextSync", "QueueDequeue",       "QueueDequeueMany",
      "QueueDequeueManyV2", "QueueDequeueUpTo",    "QueueDequeueUpToV2", "QueueDequeueV2",
  };
  return std::ranges::find(kEnds, op) != std::end(kEnds);
}

Type pipeline_type(const Body& body, std::int32_t node, std::int32_t port, const std::string& name) {
  const tf::NodeDef& def = body.node(node);
  const auto at = static_cast<std::size_t>(port);
  const bool is_queue = def.op.starts_with("Queue"),
             has_batch = is_queue && !def.op.starts_with("QueueDequeueV") && def.op != "QueueDequeue";
  const std::int32_t queue = is_queue ? queue_of(body, node) : -1;
  Type type = Type::tensor(DType::undefined);
  if (const auto* types = list_of(def, {"output_types", "component_types"}); types && at < types->types.size())
    type.elem = tf::dtype_of(types->types[at]);
  const auto* shapes = is_queue && queue >= 0 ? list_of(body.node(queue), {"shapes"}) : list_of(def, {"output_shapes"});
  if (!shapes || at >= shapes->shapes.size() || shapes->shapes[at].unknown_rank) return type;
  std::vector<std::int64_t> dims = shapes->shapes[at].dims;
  if (has_batch) dims.insert(dims.begin(), -1);
  type.shape.emplace();
  for (std::size_t i = 0; i < dims.size(); ++i)
    type.shape->push_back(dims[i] < 0 ? Dim::symbol(name + "_" + std::to_string(i)) : Dim(dims[i]));
  return type;
}

}  // namespace ingot::frontends::tensorflow
