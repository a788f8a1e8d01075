#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/formats/tensorflow/saved_model.h"
#include "ingot/frontends/tensorflow/import.h"

namespace ingot::driver::tensorflow {

/// Inputs or outputs of a signature; of a composite tensor, its parts.
std::vector<frontends::tensorflow::Port> ports_of(
    const std::vector<std::pair<std::string, formats::tensorflow::TensorInfo>>& infos);

/// The signature asked for, else the one for serving, else the only one; null if there is none.
const formats::tensorflow::Signature* signature_of(const std::vector<formats::tensorflow::Signature>& all,
                                                   const std::string& wanted);

/// The signature that trains, and the operations that a graph of the first kind names.
void find_training(const formats::tensorflow::MetaGraph& meta, frontends::tensorflow::ImportOptions& import);

}  // namespace ingot::driver::tensorflow
