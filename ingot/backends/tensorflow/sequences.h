#pragma once
#include <functional>

#include "ingot/backends/tensorflow/operators.h"

namespace ingot::backends::tensorflow {

/// The sizes of a list's elements as TensorFlow's operators on lists take them.
Ref element_shape(Emitter& e, const Type& element);
Ref empty_list(Emitter& e, const Type& element);
/// All elements of a list as one tensor with an axis more.
Ref stacked(Emitter& e, Ref list, const Type& element);

/// A part of what a list is outside of the graph: a ragged tensor's values and where its rows begin and end, or, of
/// single numbers, all of them in one tensor.
struct ListPart {
  std::string name;  // what follows the list's own name
  Type type;
  Ref tensor{};
};
std::vector<ListPart> parts_of_list(Emitter& e, const Type& sequence, Ref list);
/// The way back. `feed` gives each part, by name and type.
Ref list_of_parts(Emitter& e, const Type& sequence, const std::function<Ref(const char*, const Type&)>& feed);

}  // namespace ingot::backends::tensorflow
