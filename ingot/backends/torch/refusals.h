#pragma once
#include "ingot/backends/torch/operators.h"

// Why PyTorch lacks an operator as a node has it.
namespace ingot::backends::torch::refuse {

Refused unranked(const Node& node);
Refused not_float(const Node& node);
Refused axis_from_end(const Node& node);
Refused arg_extremum(const Node& node);
Refused average_pool(const Node& node);
Refused batch_normalization(const Node& node);
Refused conv(const Node& node);
Refused conv_transpose(const Node& node);
Refused gelu(const Node& node);
Refused grid_sample(const Node& node);
Refused group_normalization(const Node& node);
Refused images(const Node& node);
Refused layer_normalization(const Node& node);
Refused loop(const Node& node);
Refused max_pool(const Node& node);
Refused pad(const Node& node);
Refused scatter(const Node& node);
Refused transpose(const Node& node);
Refused truth(const Node& node);
Refused unique(const Node& node);

}  // namespace ingot::backends::torch::refuse
