#pragma once

/// The public interface of Ingot: what this header includes keeps its promises between versions.
///
///   ingot::Model model = ingot::load("model.onnx").model;
///   const ingot::Session session(model);
///   std::vector<float> pixels(1 * 3 * 224 * 224);
///   auto image = ingot::Array::view(ingot::DType::f32, {1, 3, 224, 224}, pixels.data());  // not copied
///   const auto outputs = session.run({{"image", image}});
///   for (const float score : outputs[0].value.array()->data<float>()) ...
///
/// Whatever goes wrong is an ingot::Error. docs/engine.md explains sessions, limits and threads.

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/datum.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "ingot/ir/array.h"
#include "ingot/ir/model.h"

namespace ingot {

using driver::load;
using driver::LoadOptions;
using driver::save;
using driver::SaveOptions;
using engine::NamedDatum;
using engine::Profile;
using engine::RunOptions;
using engine::Session;
using engine::SessionOptions;

}  // namespace ingot
