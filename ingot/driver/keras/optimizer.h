#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ingot/formats/keras/model_file.h"
#include "ingot/train/training_graph.h"

namespace ingot::driver::keras {

/// A variable that an optimizer keeps of each parameter: Ingot's name for it (empty: Ingot has none), and its place in
/// Keras's files, which keep one group behind the other and the variables of one group together for each parameter.
struct Slot {
  std::string_view name;
  int group = 0;
};

/// What compile() was told of the optimizer.
struct Optimizer {
  train::TrainingOptions training;
  std::vector<Slot> slots;
  double fading = 1;         // of Nadam's momentum, which is 0.96 to the power of this times the step
  bool has_schedule = true;  // off: what is called decay is not the learning rate's
  formats::json::Value config;
};

/// `version`: of Keras, as the file tells it. Refuses optimizers and settings that have no translation.
Optimizer read_optimizer(const formats::json::Value& stated, const std::string& version);

/// Puts the optimizer's stored variables into the model's algorithm, the last; false: those of the file do not fit.
/// `trained`: the names of the parameters, in Keras's order.
bool restore_optimizer(Model& model, const formats::keras::WeightTree& stored, const Optimizer& optimizer,
                       const std::vector<std::string>& trained);

}  // namespace ingot::driver::keras
