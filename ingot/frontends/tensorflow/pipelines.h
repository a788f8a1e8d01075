#pragma once
#include <optional>

#include "ingot/frontends/tensorflow/body.h"
#include "ingot/ir/type.h"

namespace ingot::frontends::tensorflow {

/// Whether a node hands out what a program's input pipeline has read: its outputs are where a model begins.
bool ends_pipeline(std::string_view op);

/// The type of one of its outputs; undefined if the node does not say.
Type pipeline_type(const Body& body, std::int32_t node, std::int32_t port, const std::string& name);

}  // namespace ingot::frontends::tensorflow
