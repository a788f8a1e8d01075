#pragma once
#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// Indices as Keras's output modes give them: "int", "one_hot", "multi_hot", "count". `weights`: of what is counted.
IrValue* encoded(Call& call, IrValue* index, std::int64_t size, const std::string& mode, IrValue* weights);

}  // namespace ingot::frontends::keras
