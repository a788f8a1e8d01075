// Every operator in its newest version.
#include "ingot/passes/canonicalize.h"

#include "ingot/ops/schema.h"
#include "ingot/passes/infer_calls.h"

namespace ingot::passes {
namespace {

OpsetImports newest_imports(const OpsetImports& from) {
  OpsetImports newest = from;
  for (OpsetImport& import : newest)
    if (const int version = ops::newest_opset(normal_domain(import.domain))) import.version = version;
  return newest;
}

}  // namespace

void canonicalize(Model& model, ops::InferSession& session, std::vector<Obstacle>& obstacles) {
  OpsetImports targets = newest_imports(model.opsets);
  for (const auto& f : model.functions)
    for (const OpsetImport& import : newest_imports(f->opsets))
      if (targets.version(import.domain) == 0) targets.set(import.domain, import.version);
  if (targets.version("") == 0) targets.set("", ops::newest_opset(""));
  VersionReport report;
  move_nodes(model, targets, &session, report, obstacles);
}

void canonicalize(Model& model, ops::InferSession& session) {
  std::vector<Obstacle> obstacles;
  canonicalize(model, session, obstacles);
  refuse(obstacles, Code::cannot_upgrade, "the newest operator sets");
}

void canonicalize(Model& model) {
  ops::InferSession session;
  prepare(session, model);
  canonicalize(model, session);
}

}  // namespace ingot::passes
