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
/// Training:
///
///   ingot::TrainingOptions how;
///   how.optimizer.name = "adam";
///   ingot::Trainer trainer(model, how);  // or Trainer::stored(model), if the model says how
///   trainer.fit(ingot::load_dataset("train.csv", {.target = "class"}, model), {.batch = 64, .epochs = 5});
///   ingot::save(trainer.trained(), "trained.onnx");
///   ingot::save(ingot::make_trainable(model, {.training = how}), "trainable.onnx");
///
/// Whatever goes wrong is an ingot::Error. docs/engine.md explains sessions, limits and threads, docs/training.md
/// training; examples/ holds programs.

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/dataset.h"
#include "ingot/driver/datum.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "ingot/ir/array.h"
#include "ingot/ir/model.h"
#include "ingot/train/trainer.h"
#include "ingot/train/training_info.h"

namespace ingot {

using driver::load;
using driver::load_dataset;
using driver::LoadOptions;
using driver::save;
using driver::SaveOptions;
using engine::NamedDatum;
using engine::Profile;
using engine::RunOptions;
using engine::Session;
using engine::SessionOptions;
using train::Dataset;
using train::DatasetOptions;
using train::evaluate;
using train::Evaluation;
using train::EvaluationOptions;
using train::LoopEvents;
using train::LoopOptions;
using train::LoopReport;
using train::make_trainable;
using train::MakeTrainableOptions;
using train::Trainer;
using train::TrainingOptions;

}  // namespace ingot
