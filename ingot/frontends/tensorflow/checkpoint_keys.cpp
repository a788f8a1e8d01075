// Which value of a checkpoint belongs to which variable.
#include "ingot/frontends/tensorflow/checkpoint_keys.h"

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/frontends/tensorflow/body.h"

namespace ingot::frontends::tensorflow {
namespace {

/// The name that output `port` of a RestoreV2 asks for.
std::optional<std::string> restored_name(const Body& body, Source source) {
  source = body.behind_identities(source);
  if (source.node < 0 || body.node(source.node).op != "RestoreV2" || body.inputs(source.node).size() < 2)
    return std::nullopt;
  const Source names = body.behind_identities(body.inputs(source.node)[1]);
  if (names.node < 0 || body.node(names.node).op != "Const") return std::nullopt;
  const tf::AttrValue* attr = body.node(names.node).find("value");
  const auto* tensor = attr ? std::get_if<std::shared_ptr<const tf::TensorProto>>(attr) : nullptr;
  if (!tensor || static_cast<std::size_t>(source.port) >= (*tensor)->strings.size()) return std::nullopt;
  return (*tensor)->strings[static_cast<std::size_t>(source.port)];
}

}  // namespace

std::map<std::string, std::string> checkpoint_keys(const tf::MetaGraph& meta) {
  std::map<std::string, std::string> keys;
  const Body::FindFunction find = [&](std::string_view name) -> const tf::FunctionDef* {
    const auto found = std::ranges::find(meta.graph.functions, name, &tf::FunctionDef::name);
    return found == meta.graph.functions.end() ? nullptr : &*found;
  };
  const Body graph(meta.graph.nodes, nullptr, find);
  const auto add = [&](const Body& body, const std::function<std::int32_t(Source)>& variable_of) {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(body.size()); ++i) {
      const std::string& op = body.node(i).op;
      if ((op != "Assign" && op != "AssignVariableOp") || body.inputs(i).size() < 2) continue;
      const auto key = restored_name(body, body.inputs(i)[1]);
      const std::int32_t variable = variable_of(body.behind_identities(body.inputs(i)[0]));
      if (key && variable >= 0) keys.try_emplace(graph.node(variable).name, *key);
    }
  };
  add(graph, [](Source s) { return s.node; });
  if (!meta.saver) return keys;
  // TF2: a call of a function that restores, with the handles as arguments.
  const std::int32_t call = graph.find(meta.saver->restore_op);
  if (call < 0) return keys;
  const tf::AttrValue* attr = graph.node(call).find("f");
  const auto* name = attr ? std::get_if<std::shared_ptr<const tf::FunctionName>>(attr) : nullptr;
  const tf::FunctionDef* function = name ? find((*name)->name) : nullptr;
  if (!function) return keys;
  const Body body(function->nodes, function, find);
  add(body, [&](Source s) -> std::int32_t {
    if (s.node >= 0 || static_cast<std::size_t>(s.port) >= graph.inputs(call).size()) return -1;
    return graph.inputs(call)[static_cast<std::size_t>(s.port)].node;
  });
  return keys;
}

}  // namespace ingot::frontends::tensorflow
