#pragma once
#include <initializer_list>
#include <utility>

#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// An operation's argument as a tensor: what flows in, or what the configuration writes as a constant. `type`: of the
/// constant; undefined: by what it looks like.
IrValue* operand(Call& call, std::size_t place, DType type);
/// The first two, of one type.
std::pair<IrValue*, IrValue*> pair_of(Call& call);
/// An argument that is a setting: by its place, its name, or as the layer's own configuration keeps it.
Config setting(const Call& call, std::size_t place, std::initializer_list<const char*> names);

}  // namespace ingot::frontends::keras
