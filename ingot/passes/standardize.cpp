// Operators of others in ONNX's own words.
#include "ingot/passes/standardize.h"

#include <algorithm>
#include <map>
#include <set>

#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::passes {
namespace {

std::string full_name(const Node& node) { return (node.domain.empty() ? "" : node.domain + ".") + node.op; }

/// Whether the node is one that ONNX does not define.
bool is_foreign(const Node& node) {
  if (!ops::is_standard_domain(normal_domain(node.domain))) return true;
  return ops::find_vendor("", node.op) != nullptr && normal_domain(node.domain).empty();
}

std::string why_not(const Node& node) {
  const std::string_view reason = ops::why_undefined(node.domain, node.op);
  if (!reason.empty()) return std::string(reason);
  return ops::find(node) ? "its form cannot be said by ONNX's operators, or needs shapes that are not known"
                         : "nothing is known of the operator";
}

/// Definitions ask for types, which bodies of functions do not have: where one uses what ONNX does not define, all are
/// inlined.
void inline_foreign(Model& model) {
  const FunctionIndex functions(model);
  bool found = false;
  for (const auto& function : model.functions)
    for_each_graph(*function->body, [&](Graph& graph) {
      for (const Node& node : graph.nodes()) found |= !functions.find(node) && is_foreign(node);
    });
  if (!found) return;
  inline_functions(model);
  InferOptions tolerant;
  tolerant.tolerate_errors = true;
  infer(model, tolerant);
}

}  // namespace

StandardizeReport standardize(Model& model) {
  inline_foreign(model);
  canonicalize(model);
  const FunctionIndex functions(model);
  std::map<std::string, std::size_t> before;
  std::map<std::string, std::string> problems;
  decompose(model, [&](const Node& node) {
    if (functions.find(node) || !is_foreign(node)) return true;
    ++before[full_name(node)];
    return false;
  });
  std::set<std::string> used;
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes()) {
      used.insert(std::string(normal_domain(node.domain)));
      if (!functions.find(node) && is_foreign(node))
        problems.emplace(full_name(node), node.label() + ": " + why_not(node));
    }
  if (!problems.empty()) {
    std::string text = "the model has operators that ONNX's own cannot say:";
    for (const auto& [op, where] : problems) text += "\n  " + op + " (" + where + ")";
    throw Error(Code::unsupported_feature, text)
        .hint("--input-shape may help; 'ingot ops --domain' lists what is known");
  }
  if (!model.opsets.version("")) model.opsets.set("", ops::newest_opset(""));
  const auto is_idle = [&](const OpsetImport& import) {
    return !normal_domain(import.domain).empty() && !used.contains(import.domain);
  };
  std::erase_if(model.opsets, is_idle);
  for (const auto& function : model.functions) std::erase_if(function->opsets, is_idle);
  return {{before.begin(), before.end()}};
}

}  // namespace ingot::passes
