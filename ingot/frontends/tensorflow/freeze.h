#pragma once
#include "ingot/frontends/tensorflow/import.h"

namespace ingot::frontends::tensorflow {

/// What the tensors named in `outputs` depend on, in one flat graph: variables become constants, calls of functions
/// become what they call, under the names that an import gives them. Conditions and loops by functions stay calls.
/// Parsers of tf.Examples and the ends of input pipelines give way to placeholders: name of the feature or component,
/// tensor here. Throws where a variable's value is not known.
using Features = std::vector<std::pair<std::string, std::string>>;
formats::tensorflow::GraphDef freeze(const formats::tensorflow::GraphDef& graph, const ModelFiles& files,
                                     std::vector<std::string>& outputs, Budget& budget, Features* features = nullptr);

}  // namespace ingot::frontends::tensorflow
