// Every operator in its newest version.
#include "ingot/passes/canonicalize.h"

#include "ingot/ops/schema.h"
#include "ingot/passes/infer_calls.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::passes {
namespace {

OpsetImports targets_of(const Model& model) {
  OpsetImports targets = newest_imports(model.opsets);
  for (const auto& f : model.functions)
    for (const OpsetImport& import : newest_imports(f->opsets))
      if (targets.version(import.domain) == 0) targets.set(import.domain, import.version);
  return targets;
}

}  // namespace

OpsetImports newest_imports(const OpsetImports& from) {
  OpsetImports newest = from;
  for (OpsetImport& import : newest)
    if (const int version = ops::newest_opset(normal_domain(import.domain))) import.version = version;
  if (newest.version("") == 0) newest.set("", ops::newest_opset(""));
  return newest;
}

void canonicalize(Model& model, ops::InferSession& session, std::vector<Obstacle>& obstacles) {
  VersionReport report;
  move_nodes(model, targets_of(model), &session, report, obstacles);
}

void canonicalize(Model& model) {
  VersionReport report;
  if (!move_functions(model, targets_of(model), report)) inline_functions(model);
  canonicalize_graphs(model);
}

void canonicalize_graphs(Model& model) {
  ops::InferSession session;
  prepare(session, model);
  std::vector<Obstacle> obstacles;
  canonicalize(model, session, obstacles);
  refuse(obstacles, Code::cannot_upgrade, "the newest operator sets");
}

}  // namespace ingot::passes
