#pragma once
#include "ingot/ops/kernel.h"

namespace ingot::ops {

void run_reduce_l1(KernelContext& c);
void run_reduce_l2(KernelContext& c);
void run_reduce_log_sum(KernelContext& c);
void run_reduce_log_sum_exp(KernelContext& c);
void run_reduce_max(KernelContext& c);
void run_reduce_mean(KernelContext& c);
void run_reduce_min(KernelContext& c);
void run_reduce_prod(KernelContext& c);
void run_reduce_sum(KernelContext& c);
void run_reduce_sum_square(KernelContext& c);

}  // namespace ingot::ops
