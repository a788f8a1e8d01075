#pragma once
#include "ingot/formats/json/document.h"
#include "ingot/train/training_graph.h"

namespace ingot::driver::keras {

/// Makes the learning rate of a training graph follow what an optimizer's configuration says: one of Keras's schedules,
/// or the 'decay' of older versions. The variable stays what the rate begins with. False: there is a schedule that has
/// no translation. `batches`: that make one step of the optimizer.
bool follow_schedule(train::TrainingGraph& training, const formats::json::Value& optimizer, std::uint64_t batches = 1);

/// What the rate begins with; nothing: the optimizer's own.
std::optional<double> first_learning_rate(const formats::json::Value& optimizer);

}  // namespace ingot::driver::keras
