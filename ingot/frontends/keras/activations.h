#pragma once
#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// An activation as configurations name it: by its name, or as an object with settings. Null: none.
IrValue* activated(Call& call, const Config& activation, IrValue* x);
/// By its name; refuses unknown ones.
IrValue* activated(Call& call, std::string_view name, IrValue* x);
/// The same into any graph, as Keras of this version has it.
IrValue* activated(GraphBuilder& b, int version, std::string_view name, IrValue* x);
/// The name that an activation goes by, "linear" for none; empty: it is a layer with settings of its own.
std::string activation_name(const Config& activation);

/// Softmax over several axes at once.
IrValue* softmax(GraphBuilder& b, IrValue* x, const Ints& axes);

}  // namespace ingot::frontends::keras
