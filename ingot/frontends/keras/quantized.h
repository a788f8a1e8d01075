#pragma once
#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// How a layer's weights are stored by its policy: "int8", "ternary" (of dense layers); empty: as real numbers. Refuses
/// other modes.
std::string quantization_mode(const Call& call);

// Layers whose weights are integers with a scale beside.
void quantized_dense(Call& call);
void quantized_einsum_dense(Call& call);
void quantized_embedding(Call& call);

}  // namespace ingot::frontends::keras
