#pragma once
#include "ingot/ops/kernel.h"

namespace ingot::ops {

void run_conv_integer(KernelContext& c);
void run_matmul_integer(KernelContext& c);
void run_qlinear_conv(KernelContext& c);
void run_qlinear_matmul(KernelContext& c);

}  // namespace ingot::ops
