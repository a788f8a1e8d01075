// Models in other versions of operator sets.
#include "ingot/passes/convert_version.h"

#include "ingot/base/error.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::passes {

VersionReport convert_version(Model& model, const OpsetImports& targets) {
  for (const OpsetImport& t : targets) {
    const int newest = ops::newest_opset(normal_domain(t.domain));
    if (newest && (t.version < 1 || t.version > newest))
      throw Error(Code::unknown_opset,
                  "opset " + std::to_string(t.version) + " of " + domain_name(t.domain) + " does not exist")
          .hint("versions 1 to " + std::to_string(newest) + " do");
  }
  InferOptions options;
  options.keep_declared = true;
  options.tolerate_errors = true;
  infer(model, options);
  VersionReport report;
  std::vector<Obstacle> obstacles;
  if (!move_functions(model, targets, report)) {
    inline_functions(model);
    infer(model, options);
  }
  move_nodes(model, targets, nullptr, report, obstacles);
  std::string goal;
  for (const OpsetImport& t : targets)
    goal += (goal.empty() ? "" : ", ") + domain_name(t.domain) + " " + std::to_string(t.version);
  refuse(obstacles, Code::cannot_downgrade, "opset " + goal);
  return report;
}

}  // namespace ingot::passes
