#pragma once
#include "ingot/ops/kernel.h"

namespace ingot::ops {

void run_binarizer(KernelContext& c);
void run_feature_extractor(KernelContext& c);
void run_feature_vectorizer(KernelContext& c);
void run_imputer(KernelContext& c);
void run_normalizer(KernelContext& c);
void run_one_hot_encoder(KernelContext& c);
void run_scaler(KernelContext& c);

}  // namespace ingot::ops
