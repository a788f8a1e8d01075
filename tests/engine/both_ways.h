#pragma once
#include "ingot/engine/session.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {

/// Of the newest operator set.
Model empty_model();

/// The first output for the input "x".
Array run(const Model& model, const Array& x, bool is_fast, int threads);

/// Runs the model with fast kernels, on one and on two threads, and with reference kernels.
void expect_same(const Model& model, const Array& x, float tolerance);

}  // namespace ingot::engine
