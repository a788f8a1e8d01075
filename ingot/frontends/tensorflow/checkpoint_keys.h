#pragma once
#include <map>
#include <string>

#include "ingot/formats/tensorflow/saved_model.h"

namespace ingot::frontends::tensorflow {

/// Under which key of the checkpoint each variable's value is, by the name of the variable's node, as the part of the
/// graph that restores them says. Variables that it does not mention are not in the map.
std::map<std::string, std::string> checkpoint_keys(const formats::tensorflow::MetaGraph& meta);

}  // namespace ingot::frontends::tensorflow
