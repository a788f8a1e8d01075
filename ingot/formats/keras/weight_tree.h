#pragma once
#include "ingot/formats/keras/model_file.h"

namespace ingot::formats::keras {

/// An attribute that is one text; empty: there is none.
std::string attribute_text(const hdf5::Object& object, const char* name);
/// Weights of a group that lists them in the attribute weight_names.
std::vector<Weight> listed_weights(const hdf5::Object& group);
/// A part for each of the layers that the attribute layer_names lists.
WeightTree layered_weights(const hdf5::Object& group);
/// Keras 3's tree: the variables of an object are in its group `vars`.
WeightTree object_weights(const hdf5::Object& root);

/// Adds what another file holds of the same objects; variables stand by their numbers.
void join(WeightTree& all, WeightTree more);

}  // namespace ingot::formats::keras
