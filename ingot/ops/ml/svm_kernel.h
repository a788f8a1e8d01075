#pragma once
#include "ingot/ops/kernel.h"

namespace ingot::ops {

void run_svm_classifier(KernelContext& c);
void run_svm_regressor(KernelContext& c);

}  // namespace ingot::ops
