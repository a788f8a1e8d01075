// Regularizers and constraints of layers, as a part of the training step.
#include "ingot/driver/keras/penalties.h"

#include "ingot/base/error.h"
#include "ingot/frontends/keras/weights.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/known.h"

namespace ingot::driver::keras {
namespace {

using Config = formats::json::Value;

/// A regularizer or constraint of the file: by name, as an object with settings, or with them beside (Keras 1).
struct Stated {
  std::string name;
  Config config;

  explicit Stated(const Config& stated) {
    std::string_view word = stated.is_text() ? stated.text() : stated["class_name"].text();
    if (word.empty()) word = stated["name"].text();
    name = frontends::keras::snake_case(word.substr(word.rfind('>') + 1));
    config = stated["config"].is_object() ? stated["config"] : stated;
  }
  double number(std::string_view key, double otherwise) const { return config[key].as_number().value_or(otherwise); }
};

[[noreturn]] void refuse(const std::string& what, const Stated& stated, const std::string& where) {
  throw Error(Code::unsupported_setting, "the " + what + " '" + stated.name + "' of '" + where + "' has no translation")
      .hint("convert without --mode, and train with 'ingot train'");
}

Value* sum_of(GraphBuilder& b, Value* x) { return b.op("ReduceSum", {x}, {{"keepdims", 0}}); }

Value* weighed(GraphBuilder& b, Value* x, double l1, double l2) {
  Value* sum = nullptr;
  if (l1 != 0) sum = b.mul(sum_of(b, b.op("Abs", {x})), l1);
  if (l2 == 0) return sum;
  Value* squares = b.mul(sum_of(b, b.mul(x, x)), l2);
  return sum ? b.add(sum, squares) : squares;
}

/// The mean of the products of unlike rows, or columns, of length 1.
Value* orthogonal(GraphBuilder& b, Value* x, const Stated& stated, const std::string& where) {
  const bool is_rows = stated.config["mode"].text() != "columns";
  const auto size = dim_of(x, is_rows ? 0 : 1);
  if (rank_of(x) != 2 || !size) refuse("regularizer", stated, where);
  if (*size < 2) return nullptr;
  Value* length = b.op("ReduceL2", {x, b.ints({is_rows ? 1 : 0})});
  Value* unit = b.div(x, b.op("Max", {length, b.scalar(1e-6, x->type.elem)}));
  Value* turned = b.transpose(unit, {1, 0});
  Value* products = b.op("Abs", {is_rows ? b.op("MatMul", {unit, turned}) : b.op("MatMul", {turned, unit})});
  Value* eye = b.op("EyeLike", {products});
  Value* sum = sum_of(b, b.mul(products, b.sub(1, eye)));
  const double pairs = static_cast<double>(*size) * static_cast<double>(*size - 1) / 2;
  return b.mul(sum, stated.number("factor", 0.01) * 0.5 / pairs);
}

/// Null: it adds nothing.
Value* penalty_of(GraphBuilder& b, Value* x, const Config& regularizer, const std::string& where) {
  const Stated stated(regularizer);
  const bool is_name = regularizer.is_text();
  if (stated.name == "l1") return weighed(b, x, stated.number("l1", 0.01), 0);
  if (stated.name == "l2") return weighed(b, x, 0, stated.number("l2", 0.01));
  if (stated.name == "orthogonal_regularizer") return orthogonal(b, x, stated, where);
  for (const char* both : {"l1_l2", "l1l2", "activity_regularization", "weight_regularizer", "activity_regularizer"})
    if (stated.name == both)
      return weighed(b, x, stated.number("l1", is_name ? 0.01 : 0), stated.number("l2", is_name ? 0.01 : 0));
  refuse("regularizer", stated, where);
}

std::vector<std::int64_t> axes_of(const Stated& stated) {
  std::vector<std::int64_t> axes;
  if (const auto one = stated.config["axis"].as_int()) axes.push_back(*one);
  for (const Config& entry : stated.config["axis"].entries()) axes.push_back(entry.as_int().value_or(0));
  if (axes.empty()) axes.push_back(0);
  return axes;
}

Value* constrained(GraphBuilder& b, Value* x, const Config& constraint, const std::string& where) {
  constexpr double kEpsilon = 1e-7;
  const Stated stated(constraint);
  const auto number = [&](double value) { return b.scalar(value, x->type.elem); };
  if (stated.name == "non_neg") return b.op("Relu", {x});
  const bool is_unit = stated.name == "unit_norm", is_bounded = stated.name == "min_max_norm";
  if (!is_unit && !is_bounded && stated.name != "max_norm") refuse("constraint", stated, where);
  Value* squares = b.op("ReduceSum", {b.mul(x, x), b.ints(axes_of(stated))});
  Value* norms = b.op("Sqrt", {squares});
  Value* divisor = b.add(norms, kEpsilon);
  if (is_unit) return b.div(x, divisor);
  const double least = is_bounded ? stated.number("min_value", 0) : 0;
  const double most =
      stated.config["m"].is_number() ? stated.number("m", 2) : stated.number("max_value", is_bounded ? 1 : 2);
  const double rate = is_bounded ? stated.number("rate", 1) : 1;
  Value* desired = b.op("Clip", {norms, number(least), number(most)});
  if (rate != 1) desired = b.add(b.mul(desired, rate), b.mul(norms, 1 - rate));
  return b.mul(x, b.div(desired, divisor));
}

}  // namespace

bool add_penalty(Model& model, const frontends::keras::Imported& imported) {
  Graph& graph = *model.graph;
  GraphBuilder b(graph);
  b.name_after(kPenalty);
  Value* sum = nullptr;
  const auto count = [&](Value* penalty) {
    if (penalty) penalty = b.cast(penalty, DType::f32);
    if (penalty) sum = sum ? b.add(sum, penalty) : penalty;
  };
  for (const frontends::keras::Parameter& parameter : imported.parameters) {
    Value* x = graph.find(parameter.name);
    if (x && !parameter.regularizer.is_null()) count(penalty_of(b, x, parameter.regularizer, parameter.name));
  }
  for (const frontends::keras::Activity& activity : imported.activities) {
    Value* x = graph.find(activity.value);
    Value* penalty = x ? penalty_of(b, x, activity.regularizer, activity.value) : nullptr;
    if (penalty && activity.is_mean) {
      Value* batch = b.op("Slice", {b.shape(x), b.ints({0}), b.ints({1}), b.ints({0})});
      penalty = b.div(penalty, b.cast(b.squeeze(batch, {0}), x->type.elem));
    }
    count(penalty);
  }
  if (!sum) return false;
  sum = b.op("Identity", {sum});
  graph.rename(sum, kPenalty);
  graph.add_output(sum);
  return true;
}

void constrain(train::TrainingGraph& training, const std::vector<frontends::keras::Parameter>& parameters) {
  Graph& graph = *training.model.graph;
  for (const frontends::keras::Parameter& parameter : parameters) {
    if (parameter.constraint.is_null()) continue;
    for (const auto& [name, next] : training.state) {
      if (name != parameter.name) continue;
      Node* last = graph.find(next)->producer();  // hands the next value on under its name
      GraphBuilder b(graph, last);
      b.name_after("train/constraint/" + name);
      last->set_input(0, constrained(b, last->input(0), parameter.constraint, name));
    }
  }
}

}  // namespace ingot::driver::keras
