#pragma once
#include <map>

#include "ingot/frontends/tensorflow/import.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {

/// What each table of a graph holds, by the name of its node, as the nodes and functions that fill tables say: from
/// constants, or from text files that are assets. Tables that nothing fills in such a way are not in the map.
std::map<std::string, Table> table_contents(Translation& translation, const Body& graph);

}  // namespace ingot::frontends::tensorflow
