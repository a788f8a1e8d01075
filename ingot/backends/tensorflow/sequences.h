#pragma once
#include "ingot/backends/tensorflow/operators.h"

namespace ingot::backends::tensorflow {

/// The sizes of a list's elements as TensorFlow's operators on lists take them.
Ref element_shape(Emitter& e, const Type& element);
Ref empty_list(Emitter& e, const Type& element);
/// All elements of a list as one tensor with an axis more.
Ref stacked(Emitter& e, Ref list, const Type& element);

}  // namespace ingot::backends::tensorflow
