// What there is to ask when nodes or functions move between operator set versions.
#include "ingot/passes/version_steps.h"

#include <algorithm>

namespace ingot::passes {

bool same_default(const ops::AttrSchema& a, const ops::AttrSchema& b) {
  return a.has_default == b.has_default && a.int_default == b.int_default && a.float_default == b.float_default &&
         a.string_default == b.string_default && std::ranges::equal(a.ints_default, b.ints_default) &&
         std::ranges::equal(a.floats_default, b.floats_default);
}

const ops::Step* step_to(const ops::OpDef& def, int since) {
  for (const ops::Step& step : def.steps)
    if (step.since == since) return &step;
  return nullptr;
}

const Attribute* reference_in(const Node& node) {
  const auto it = std::ranges::find_if(node.attributes, &Attribute::is_reference);
  return it == node.attributes.end() ? nullptr : &*it;
}

void complete(OpsetImports& imports, const OpsetImports& targets) {
  if (imports.version("") == 0 && targets.version("") != 0) imports.set("", targets.version(""));
}

OpsetImports moved(const OpsetImports& imports, const OpsetImports& targets) {
  OpsetImports to = imports;
  complete(to, targets);
  for (OpsetImport& import : to)
    if (const std::int64_t version = targets.version(import.domain)) import.version = version;
  return to;
}

}  // namespace ingot::passes
