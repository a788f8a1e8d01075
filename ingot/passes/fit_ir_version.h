#pragma once
#include <string>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot::passes {

/// The IR version that brought the element type.
std::int64_t ir_version_of(DType dtype);

/// The lowest IR version that can hold what the model uses: element types, functions, training info, metadata ...
struct IrNeed {
  std::int64_t version = 3;
  std::string why;  // what needs it
};
IrNeed needed_ir_version(const Model& model);

/// Makes the model fit an IR version and sets it. What the version lacks and can be said otherwise is: functions
/// are inlined (below 8), metadata of nodes moves into one property of the model and Ingot's own of values goes (below
/// 10), initializers become inputs with defaults (below 4). Returns what was done, a line each. Throws if something
/// remains that needs a newer one.
std::vector<std::string> fit_ir_version(Model& model, std::int64_t ir_version);

/// Below IR version 4 every initializer is an input too, and runtimes take it for a constant all the same. Says so:
/// the model gets IR version 4, and what has a default is an input no more.
void take_defaults_for_constants(Model& model);

/// The model property that holds the metadata of nodes where the IR version has no place for it: lines of
/// "node name<TAB>key<TAB>value", with tabs, newlines and backslashes escaped.
inline constexpr std::string_view kNodeMetadataProperty = "ingot.node_metadata";

/// Puts the metadata in kNodeMetadataProperty back to the nodes.
void restore_node_metadata(Model& model);

}  // namespace ingot::passes
