#pragma once
#include <initializer_list>
#include <utility>

#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// An operation's argument as a tensor: what flows in, or what the configuration writes as a constant. `type`: of the
/// constant; undefined: by what it looks like.
IrValue* operand(Call& call, std::size_t place, DType type);
/// The same by its name too.
IrValue* operand_named(Call& call, std::size_t place, std::initializer_list<const char*> names, DType type);
/// Numbers in lists as a tensor; `type` undefined: int32 or float, by what they look like.
Tensor literal(const Call& call, const Config& value, DType type);
/// An argument by its place or its name; null: it is not given.
const Argument* argument_of(const Call& call, std::size_t place, std::initializer_list<const char*> names);
bool has_tensor(const Argument& argument);
/// Sizes of which some are computed, as one list of int64.
IrValue* sizes_of(Call& call, const Argument& stated);
/// The first two, of one type.
std::pair<IrValue*, IrValue*> pair_of(Call& call);
/// An argument that is a setting: by its place, its name, or as the layer's own configuration keeps it.
Config setting(const Call& call, std::size_t place, std::initializer_list<const char*> names);

/// The first argument.
IrValue* first(Call& call);
/// A number of the same type.
IrValue* number_like(GraphBuilder& b, const IrValue* x, double value);
/// Truths as whole numbers.
IrValue* number(GraphBuilder& b, IrValue* x);
/// Whole numbers as real ones.
IrValue* real(GraphBuilder& b, IrValue* x);
std::int64_t rank_needed(const Call& call, const IrValue* x);
/// A setting of numbers, or of one.
Ints ints_of(const Config& stated);
/// Refuses axes that lie outside of an input of this rank.
Ints counted_from_front(const Call& call, Ints axes, std::int64_t rank);

/// Without an axis, NumPy's operations take all elements as one list.
struct Along {
  IrValue* x;
  std::int64_t axis;
};
Along along(Call& call, std::size_t place, std::int64_t otherwise, bool may_be_flat);

}  // namespace ingot::frontends::keras
