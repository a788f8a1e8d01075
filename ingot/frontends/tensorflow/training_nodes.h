#pragma once
#include <map>
#include <string>
#include <vector>

#include "ingot/frontends/tensorflow/body.h"
#include "ingot/frontends/tensorflow/import.h"

namespace ingot::frontends::tensorflow {

// Which nodes of a graph have to do with training.

/// The nodes that `from` depends on, by data and by control, and these themselves.
std::vector<bool> ancestors(const Body& body, const std::vector<std::int32_t>& from);

/// Nodes of a body that change variables when it runs; of the main graph, those that lead to the named operations, if
/// there are any.
std::vector<std::int32_t> update_nodes(const Body& body, bool is_main, const std::vector<std::string>& operations);

/// Assignments of values that never change, by the variable's node: how variables begin.
std::map<std::int32_t, Source> beginnings(const Body& main);
/// Values that only say how variables begin are no outputs of the model.
void drop_beginnings(const Body& main, std::vector<Port>& outputs);

}  // namespace ingot::frontends::tensorflow
