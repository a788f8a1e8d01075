#pragma once
#include <map>
#include <string>
#include <vector>

#include "ingot/base/json.h"
#include "ingot/driver/costs.h"
#include "ingot/ir/opaque_model.h"

namespace ingot::pages {

/// What else is told of nodes of the main graph.
struct GraphNotes {
  const driver::Costs* costs = nullptr;
  /// Nodes by driver::Difference's words, "conv1 (Conv)": "only" in this model, or "changed", with what changed.
  std::map<std::string, std::vector<std::string>> changed{};
  std::map<std::string, bool> only{};
  bool is_compared = false;
};

/// The graphs of a model as web/view.js draws them: nodes, also of graphs inside of nodes and of functions that are
/// called, with what is said of them; edges with the types that they carry. Texts are fit to be shown.
Json graph_data(const Model& model, const GraphNotes& notes = {});

}  // namespace ingot::pages
