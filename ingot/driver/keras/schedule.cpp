// Keras's schedules of the learning rate, as a part of the training step.
#include "ingot/driver/keras/schedule.h"

#include <cmath>
#include <numbers>

#include "ingot/ir/model.h"
#include "ingot/ops/builder.h"

namespace ingot::driver::keras {
namespace {

using Config = formats::json::Value;

Config rate_of(const Config& optimizer) {
  return optimizer["learning_rate"].exists() ? optimizer["learning_rate"] : optimizer["lr"];
}

/// One schedule while it is written: the factor by which it changes the first rate at this step.
struct Schedule {
  GraphBuilder& b;
  Value* step;  // float: how many steps were done
  const Config& config;

  double number(const char* key, double otherwise) const { return config[key].as_number().value_or(otherwise); }
  bool flag(const char* key) const { return config[key].as_bool().value_or(false); }
  Value* constant(double value) const { return b.scalar(value, DType::f32); }
  /// Steps done in units of the decay, whole ones in a staircase.
  Value* progress() const {
    Value* p = b.div(step, number("decay_steps", 1));
    return flag("staircase") ? b.op("Floor", {p}) : p;
  }
};

Value* exponential(const Schedule& s) { return s.b.op("Pow", {s.constant(s.number("decay_rate", 1)), s.progress()}); }

Value* inverse_time(const Schedule& s) {
  return s.b.div(1, s.b.add(s.b.mul(s.progress(), s.number("decay_rate", 0)), 1));
}

Value* polynomial(const Schedule& s) {
  const double first = s.number("initial_learning_rate", 1), last = s.number("end_learning_rate", 1e-4);
  GraphBuilder& b = s.b;
  Value* p = b.div(s.step, s.number("decay_steps", 1));
  if (s.flag("cycle"))
    p = b.div(p, b.op("Max", {b.op("Ceil", {p}), s.constant(1)}));
  else
    p = b.op("Min", {p, s.constant(1)});
  Value* left = b.op("Pow", {b.sub(1, p), s.constant(s.number("power", 1))});
  return b.div(b.add(b.mul(left, first - last), last), first);
}

Value* piecewise(const Schedule& s) {
  const std::vector<Config> bounds = s.config["boundaries"].entries(), values = s.config["values"].entries();
  if (values.size() != bounds.size() + 1) return nullptr;
  const double first = values[0].as_number().value_or(0);
  if (first == 0) return nullptr;
  Value* factor = s.constant(values.back().as_number().value_or(0) / first);
  for (std::size_t i = bounds.size(); i-- > 0;) {
    Value* is_before = s.b.op("LessOrEqual", {s.step, s.constant(bounds[i].as_number().value_or(0))});
    factor = s.b.where(is_before, s.constant(values[i].as_number().value_or(0) / first), factor);
  }
  return factor;
}

Value* cosine(const Schedule& s) {
  GraphBuilder& b = s.b;
  const double first = s.number("initial_learning_rate", 1), alpha = s.number("alpha", 0);
  const auto target = s.config["warmup_target"].as_number();
  const double warmup = target ? s.number("warmup_steps", 0) : 0;
  if (first == 0) return nullptr;
  Value* since = b.sub(s.step, warmup);
  Value* p = b.op("Min", {b.div(since, s.number("decay_steps", 1)), s.constant(1)});
  Value* wave = b.mul(b.add(b.op("Cos", {b.mul(p, std::numbers::pi)}), 1), 0.5);
  Value* factor = b.mul(b.add(b.mul(wave, 1 - alpha), alpha), target ? *target / first : 1);
  if (!target || warmup <= 0) return factor;
  Value* rising = b.add(b.mul(b.div(s.step, warmup), (*target - first) / first), 1);
  return b.where(b.op("Less", {s.step, s.constant(warmup)}), rising, factor);
}

struct Row {
  std::string_view name;
  Value* (*factor)(const Schedule&);
};
constexpr Row kSchedules[] = {{"ExponentialDecay", exponential}, {"InverseTimeDecay", inverse_time},
                              {"PolynomialDecay", polynomial},   {"PiecewiseConstantDecay", piecewise},
                              {"PiecewiseConstant", piecewise},  {"CosineDecay", cosine}};

}  // namespace

std::optional<double> first_learning_rate(const Config& optimizer) {
  const Config rate = rate_of(optimizer);
  if (const auto fixed = rate.as_number()) return fixed;
  const Config config = rate["config"];
  if (const auto first = config["initial_learning_rate"].as_number()) return first;
  return config["values"][0].as_number();
}

bool follow_schedule(train::TrainingGraph& training, const Config& optimizer, std::uint64_t batches) {
  const Config rate = rate_of(optimizer);
  const double decay = optimizer["decay"].as_number().value_or(0);
  if (!rate.is_object() && decay == 0) return true;
  Graph& graph = *training.model.graph;
  Value *lr = graph.find(training.lr), *step = graph.find(training.step);
  if (!lr || !step) return false;
  const std::vector<Use> uses(lr->uses().begin(), lr->uses().end());
  GraphBuilder b(graph);
  b.name_after("train/schedule");
  if (batches > 1) step = b.op("Div", {step, b.index(static_cast<std::int64_t>(batches))});
  Value* done = b.cast(step, DType::f32);
  Value* factor = nullptr;
  if (rate.is_object()) {
    const Config config = rate["config"];
    const std::string_view name = rate["class_name"].text();
    for (const Row& row : kSchedules)
      if (row.name == name) factor = row.factor({b, done, config});
  } else {
    factor = b.div(1, b.add(b.mul(done, decay), 1));
  }
  if (!factor) return false;
  Value* now = b.mul(lr, b.cast(factor, lr->type.elem));
  for (const Use& use : uses)
    if (use.node) use.node->set_input(use.index, now);
  return true;
}

}  // namespace ingot::driver::keras
