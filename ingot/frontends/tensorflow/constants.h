#pragma once
#include "ingot/formats/tensorflow/graph_def.h"
#include "ingot/ir/tensor.h"

namespace ingot {
class Budget;
}

namespace ingot::frontends::tensorflow {

/// A tensor of a graph as ours; its bytes stay where they are whenever they are complete.
Tensor to_tensor(const formats::tensorflow::TensorProto& proto, Budget& budget);

}  // namespace ingot::frontends::tensorflow
