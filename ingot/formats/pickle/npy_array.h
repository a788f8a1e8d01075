#pragma once
#include "ingot/formats/pickle/document.h"

namespace ingot::formats::pickle {

// .npy files as the values that a pickle would hold in their place. The bytes must be kept by the arena.

/// Of any element type, structures too.
Ref npy_array(Arena& arena, const Bytes& file);
/// A file of one element as NumPy's number or text.
Ref npy_scalar(Arena& arena, const Bytes& file);
/// A file of whole numbers as a tuple.
Ref npy_tuple(Arena& arena, const Bytes& file);
/// An array of objects: `shape` is a tuple, `objects` a list.
Ref object_array(Arena& arena, Ref shape, Ref objects);

}  // namespace ingot::formats::pickle
