// Keras's losses.
#include "ingot/driver/keras/losses.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/weights.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/versions.h"

namespace ingot::driver::keras {
namespace {

constexpr double kEpsilon = 1e-7;

/// What a loss is computed from.
struct Loss {
  GraphBuilder& b;
  Value *p, *y;
  const formats::json::Value config;
  int version;

  bool is_logits() const { return config["from_logits"].as_bool().value_or(false); }
  Value* clipped(Value* x, double low, double high) const {
    return b.op("Clip", {x, b.scalar(low, x->type.elem), b.scalar(high, x->type.elem)});
  }
  Value* mean(Value* x) const { return b.op("ReduceMean", {x}, {{"keepdims", 0}}); }
  Value* last_sum(Value* x) const { return b.reduce_sum(x, {-1}, false); }
  Value* abs(Value* x) const { return b.op("Abs", {x}); }
  Value* log(Value* x) const { return b.op("Log", {x}); }
  Value* number(const char* key, double otherwise) const {
    return b.scalar(config[key].as_number().value_or(otherwise), p->type.elem);
  }
};

Value* mean_squared_error(const Loss& l) {
  Value* away = l.b.sub(l.p, l.y);
  return l.mean(l.b.mul(away, away));
}
Value* mean_absolute_error(const Loss& l) { return l.mean(l.abs(l.b.sub(l.p, l.y))); }
Value* mean_absolute_percentage_error(const Loss& l) {
  Value* size = l.b.op("Max", {l.abs(l.y), l.b.scalar(kEpsilon, l.y->type.elem)});
  return l.b.mul(l.mean(l.abs(l.b.div(l.b.sub(l.y, l.p), size))), 100);
}
Value* mean_squared_logarithmic_error(const Loss& l) {
  const auto part = [&](Value* x) { return l.log(l.b.add(l.b.op("Max", {x, l.b.scalar(kEpsilon, x->type.elem)}), 1)); };
  Value* away = l.b.sub(part(l.p), part(l.y));
  return l.mean(l.b.mul(away, away));
}

Value* binary_crossentropy(const Loss& l) {
  GraphBuilder& b = l.b;
  Value* y = l.y;
  if (const double smoothing = l.config["label_smoothing"].as_number().value_or(0); smoothing != 0)
    y = b.add(b.mul(y, 1 - smoothing), smoothing / 2);
  if (l.is_logits()) {  // max(x, 0) - x * y + log(1 + exp(-|x|))
    Value* tail = b.op("Softplus", {b.neg(l.abs(l.p))});
    return l.mean(b.add(b.sub(b.op("Relu", {l.p}), b.mul(l.p, y)), tail));
  }
  Value* p = l.clipped(l.p, kEpsilon, 1 - kEpsilon);
  const double more = l.version >= 3 ? 0 : kEpsilon;  // Keras 2 adds it once more
  Value* yes = b.mul(y, l.log(b.add(p, more)));
  Value* no = b.mul(b.sub(1, y), l.log(b.add(b.sub(1, p), more)));
  return l.mean(b.neg(b.add(yes, no)));
}

Value* categorical_crossentropy(const Loss& l) {
  GraphBuilder& b = l.b;
  Value* y = l.y;
  const double smoothing = l.config["label_smoothing"].as_number().value_or(0);
  if (smoothing != 0) {
    const auto classes = y->type.shape->back().as_int();
    if (!classes) throw Error(Code::shape_needed, "label smoothing needs a known number of classes");
    y = b.add(b.mul(y, 1 - smoothing), smoothing / static_cast<double>(*classes));
  }
  if (l.is_logits()) return l.mean(b.neg(l.last_sum(b.mul(y, b.op("LogSoftmax", {l.p}, {{"axis", -1}})))));
  Value* p = b.div(l.p, b.reduce_sum(l.p, {-1}));
  return l.mean(b.neg(l.last_sum(b.mul(y, l.log(l.clipped(p, kEpsilon, 1 - kEpsilon))))));
}

Value* sparse_categorical_crossentropy(const Loss& l) {
  GraphBuilder& b = l.b;
  Value* scores = l.is_logits() ? l.p : l.log(l.clipped(l.p, kEpsilon, 1 - kEpsilon));
  Value* logs = b.op("LogSoftmax", {scores}, {{"axis", -1}});
  Value* own = b.op("GatherElements", {logs, b.unsqueeze(l.y, {-1})}, {{"axis", -1}});
  return b.neg(l.mean(own));
}

Value* huber(const Loss& l) {
  GraphBuilder& b = l.b;
  const double delta = l.config["delta"].as_number().value_or(1);
  Value* size = l.abs(b.sub(l.y, l.p));
  Value* is_small = b.op("LessOrEqual", {size, b.scalar(delta, size->type.elem)});
  return l.mean(b.where(is_small, b.mul(b.mul(size, size), 0.5), b.sub(b.mul(size, delta), 0.5 * delta * delta)));
}
Value* log_cosh(const Loss& l) {
  GraphBuilder& b = l.b;
  Value* x = b.sub(l.p, l.y);
  return l.mean(b.sub(b.add(x, b.op("Softplus", {b.mul(x, -2)})), 0.6931471805599453));
}
/// Targets as -1 and 1: where all are 0 or 1, these are meant.
Value* signed_targets(const Loss& l) {
  GraphBuilder& b = l.b;
  Value* is_binary = b.op("Equal", {l.y, b.mul(l.y, l.y)});
  Value* all = b.op("ReduceMin", {b.cast(is_binary, DType::i32)}, {{"keepdims", 0}});
  return b.where(b.cast(all, DType::boolean), b.sub(b.mul(l.y, 2), 1), l.y);
}
Value* margin(const Loss& l) { return l.b.op("Relu", {l.b.sub(1, l.b.mul(signed_targets(l), l.p))}); }
Value* hinge(const Loss& l) { return l.mean(margin(l)); }
Value* squared_hinge(const Loss& l) {
  Value* x = margin(l);
  return l.mean(l.b.mul(x, x));
}
Value* categorical_hinge(const Loss& l) {
  GraphBuilder& b = l.b;
  Value* right = l.last_sum(b.mul(l.y, l.p));
  Value* wrong = b.op("ReduceMax", {b.mul(b.sub(1, l.y), l.p), b.ints({-1})}, {{"keepdims", 0}});
  return l.mean(b.op("Relu", {b.add(b.sub(wrong, right), 1)}));
}
/// Easy examples count less: alpha (1 - p)^gamma times the cross entropy, for each class or for yes and no.
Value* binary_focal_crossentropy(const Loss& l) {
  GraphBuilder& b = l.b;
  Value* y = l.y;
  if (const double smoothing = l.config["label_smoothing"].as_number().value_or(0); smoothing != 0)
    y = b.add(b.mul(y, 1 - smoothing), smoothing / 2);
  Value* p = l.clipped(l.is_logits() ? b.op("Sigmoid", {l.p}) : l.p, kEpsilon, 1 - kEpsilon);
  const auto either = [&](Value* yes, Value* no) { return b.add(b.mul(y, yes), b.mul(b.sub(1, y), no)); };
  Value* focus = b.op("Pow", {b.sub(1, either(p, b.sub(1, p))), l.number("gamma", 2)});
  Value* loss = b.mul(focus, b.neg(either(l.log(p), l.log(b.sub(1, p)))));
  if (!l.config["apply_class_balancing"].as_bool().value_or(false)) return l.mean(loss);
  const double alpha = l.config["alpha"].as_number().value_or(0.25);
  return l.mean(b.mul(loss, b.add(b.mul(y, 2 * alpha - 1), 1 - alpha)));
}
Value* categorical_focal_crossentropy(const Loss& l) {
  GraphBuilder& b = l.b;
  if (l.config["alpha"].is_list() || l.config["label_smoothing"].as_number().value_or(0) != 0)
    throw Error(Code::unsupported_setting,
                "focal losses with an alpha for each class, or smoothing, have no translation");
  Value* p = l.is_logits() ? b.op("Softmax", {l.p}, {{"axis", -1}}) : b.div(l.p, b.reduce_sum(l.p, {-1}));
  p = l.clipped(p, kEpsilon, 1 - kEpsilon);
  Value* focus = b.mul(b.op("Pow", {b.sub(1, p), l.number("gamma", 2)}), l.config["alpha"].as_number().value_or(0.25));
  return l.mean(l.last_sum(b.mul(focus, b.neg(b.mul(l.y, l.log(p))))));
}
/// One less twice what both share, over all elements.
Value* dice(const Loss& l) {
  GraphBuilder& b = l.b;
  if (!l.config["axis"].is_null()) throw Error(Code::unsupported_setting, "dice over some axes has no translation");
  const auto sum = [&](Value* x) { return b.op("ReduceSum", {x}, {{"keepdims", 0}}); };
  Value* shared = b.add(b.mul(sum(b.mul(l.y, l.p)), 2), kEpsilon);
  return b.sub(1, b.div(shared, b.add(b.add(sum(l.y), sum(l.p)), kEpsilon)));
}
Value* poisson(const Loss& l) { return l.mean(l.b.sub(l.p, l.b.mul(l.y, l.log(l.b.add(l.p, kEpsilon))))); }
Value* kl_divergence(const Loss& l) {
  Value *y = l.clipped(l.y, kEpsilon, 1), *p = l.clipped(l.p, kEpsilon, 1);
  return l.mean(l.last_sum(l.b.mul(y, l.log(l.b.div(y, p)))));
}
Value* cosine_similarity(const Loss& l) {
  GraphBuilder& b = l.b;
  const auto unit = [&](Value* x) {
    Value* sum = b.op("Max", {b.reduce_sum(b.mul(x, x), {-1}), b.scalar(1e-12, x->type.elem)});
    return b.div(x, b.op("Sqrt", {sum}));
  };
  return b.neg(l.mean(l.last_sum(b.mul(unit(l.y), unit(l.p)))));
}

struct Named {
  std::string_view name;
  Value* (*make)(const Loss&);
};
constexpr Named kLosses[] = {
    {"binary_crossentropy", binary_crossentropy},
    {"binary_focal_crossentropy", binary_focal_crossentropy},
    {"categorical_crossentropy", categorical_crossentropy},
    {"categorical_focal_crossentropy", categorical_focal_crossentropy},
    {"categorical_hinge", categorical_hinge},
    {"cosine_similarity", cosine_similarity},
    {"dice", dice},
    {"hinge", hinge},
    {"huber", huber},
    {"huber_loss", huber},
    {"kl_divergence", kl_divergence},
    {"kld", kl_divergence},
    {"kullback_leibler_divergence", kl_divergence},
    {"log_cosh", log_cosh},
    {"logcosh", log_cosh},
    {"mae", mean_absolute_error},
    {"mape", mean_absolute_percentage_error},
    {"mean_absolute_error", mean_absolute_error},
    {"mean_absolute_percentage_error", mean_absolute_percentage_error},
    {"mean_squared_error", mean_squared_error},
    {"mean_squared_logarithmic_error", mean_squared_logarithmic_error},
    {"mse", mean_squared_error},
    {"msle", mean_squared_logarithmic_error},
    {"poisson", poisson},
    {"sparse_categorical_crossentropy", sparse_categorical_crossentropy},
    {"squared_hinge", squared_hinge},
};
static_assert(std::ranges::is_sorted(kLosses, {}, &Named::name), "keep the table sorted");

/// The loss as it is asked for: the mean over the batch, or the sum, times a number.
Value* reduced(const Loss& l, Value* loss, double weight) {
  GraphBuilder& b = l.b;
  const std::string_view reduction = l.config["reduction"].text();
  if (reduction == "none")
    throw Error(Code::unsupported_setting, "a loss that is not reduced to one number has no step");
  if (reduction == "sum") {
    Value* sizes = b.op("Slice", {b.shape(l.p), b.ints({0}), b.ints({-1}), b.ints({0})});
    Value* count = b.op("ReduceProd", {sizes}, {{"keepdims", 0}});
    loss = b.mul(loss, b.cast(count, loss->type.elem));
  }
  return weight == 1 ? loss : b.mul(loss, weight);
}

}  // namespace

std::shared_ptr<const Model> loss_graph(const formats::json::Value& loss, double weight, const Type& prediction,
                                        int version) {
  std::string name(loss.is_text()             ? loss.text()
                   : loss["config"].is_text() ? loss["config"].text()
                                              : std::string_view());
  formats::json::Value config;
  if (name.empty() && loss["class_name"].is_text()) {
    name = loss["class_name"].text();
    config = loss["config"];
  }
  if (name.find('_') == std::string::npos && !name.empty() && name.front() >= 'A' && name.front() <= 'Z')
    name = frontends::keras::snake_case(name);
  if (name == "klDivergence" || name == "k_l_divergence") name = "kl_divergence";
  const auto row = std::ranges::lower_bound(kLosses, std::string_view(name), {}, &Named::name);
  if (row == std::end(kLosses) || row->name != name)
    throw Error(Code::unsupported_setting, "the loss '" + name + "' is not one of Keras's")
        .hint("convert without --mode, and choose a loss with 'ingot train --loss' or '--loss-graph'");
  auto model = std::make_shared<Model>();
  model->opsets.set("", ops::newest_opset(""));
  model->ir_version = ops::ir_version_for(model->opsets);
  Graph& graph = *model->graph;
  graph.name = "loss";
  Value* p = graph.add_input("prediction", prediction);
  Type target = prediction;
  if (name == "sparse_categorical_crossentropy") {
    target.elem = DType::i64;
    if (target.shape && !target.shape->empty()) target.shape->pop_back();
  }
  Value* y = graph.add_input("target", target);
  GraphBuilder b(graph);
  b.name_after("loss");
  if (!config["ignore_class"].is_null())
    throw Error(Code::unsupported_setting, "a loss with 'ignore_class' has no translation");
  const Loss made{b, p, y, config, version};
  graph.add_output(reduced(made, row->make(made), weight));
  return model;
}

}  // namespace ingot::driver::keras
