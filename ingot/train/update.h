#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/ops/builder.h"
#include "ingot/train/optimizers.h"

namespace ingot::train {

/// One parameter's update while it is built.
class Update {
 public:
  Update(GraphBuilder& builder, const OptimizerOptions& o, std::string f, Value* p, Value* gradient, Value* rate,
         Value* t)
      : g(builder), options(o), flavour(std::move(f)), x(p), base(p), dx(gradient), lr_(rate), count_(t) {}

  GraphBuilder& g;
  const OptimizerOptions& options;
  std::string flavour;
  Value* x;     // the parameter
  Value* base;  // from where the step is made: the parameter, as a rule
  Value* dx;
  std::vector<StateVariable> slots;

  DType elem() const { return x->type.elem; }
  /// A number in double that changes from step to step, as one of the parameter's type.
  Value* rounded(Value* number) { return g.cast(number, elem()); }
  Value* lr() { return rounded(lr_); }
  Value* lr_double() { return lr_; }
  /// The number of the step from 1 on, in double.
  Value* count() { return count_; }
  /// 1 - beta^t.
  Value* correction(double beta) {
    Value* power = g.op("Pow", {g.scalar(beta, DType::f64), count_});
    return g.sub(1, power);
  }
  /// A variable beside the parameter, of its shape, zero at first.
  Value* slot(const std::string& name) { return slot(name, parameter().dims(), 0); }
  Value* slot(const std::string& name, const Dims& dims, double first);
  const Tensor& parameter() const;
  Value* keep(Value* now, Value* next) {
    slots.push_back({now, next});
    return next;
  }
  /// decay * average + (1 - decay) * value
  Value* blend(Value* average, double decay, Value* value) {
    Value* old = g.mul(average, decay);
    return g.add(old, g.mul(value, 1 - decay));
  }
  Value* square(Value* v) { return g.mul(v, v); }
  Value* root(Value* v) { return g.op("Sqrt", {v}); }
  Value* step_by(Value* rate, Value* direction) { return g.sub(base, g.mul(direction, rate)); }

 private:
  Value *lr_, *count_;
};

/// Weight decay: beside the gradient in Keras's flavour, as a part of it in the others.
void add_decay(Update& update);

// Optimizers that Keras alone has.
Value* ftrl(Update& update);
Value* adafactor(Update& update);

}  // namespace ingot::train
