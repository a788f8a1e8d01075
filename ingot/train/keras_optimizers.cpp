// FTRL and Adafactor, by Keras's formulas.
#include <algorithm>

#include "ingot/train/update.h"

namespace ingot::train {
namespace {

Value* rms(Update& u, Value* x) { return u.root(u.g.op("ReduceMean", {u.square(x)}, {{"keepdims", 0}})); }

}  // namespace

Value* ftrl(Update& u) {
  add_decay(u);
  GraphBuilder& g = u.g;
  const FtrlOptions& o = u.options.ftrl;
  const auto power = [&](Value* x) {
    return o.power == -0.5 ? u.root(x) : g.op("Pow", {x, g.scalar(-o.power, u.elem())});
  };
  Value *sum = u.slot("sum", u.parameter().dims(), u.options.first_sum), *linear = u.slot("linear");
  Value* next_sum = u.keep(sum, g.add(sum, u.square(u.dx)));
  Value* lr = u.lr();
  Value* growth = g.div(g.sub(power(next_sum), power(sum)), lr);
  Value* pull = g.add(u.dx, g.mul(u.base, 2 * o.shrinkage));
  Value* next = u.keep(linear, g.add(linear, g.sub(pull, g.mul(growth, u.base))));
  Value* l2 = u.rounded(g.add(g.div(o.beta, u.lr_double()), 2 * o.l2));
  Value* curvature = g.add(g.div(power(next_sum), lr), l2);
  Value* kept = g.op("Clip", {next, g.scalar(-o.l1, u.elem()), g.scalar(o.l1, u.elem())});
  return g.div(g.sub(kept, next), curvature);
}

Value* adafactor(Update& u) {
  add_decay(u);
  GraphBuilder& g = u.g;
  const AdafactorOptions& o = u.options.adafactor;
  Value* falling = g.div(1, g.op("Sqrt", {u.count()}));
  Value* rate = u.rounded(g.op("Min", {u.lr_double(), falling}));
  Value* alpha = g.mul(g.op("Max", {rms(u, u.base), g.scalar(o.least_size, u.elem())}), rate);
  Value* fresh = g.op("Pow", {u.count(), g.scalar(o.decay, DType::f64)});
  Value *new_share = u.rounded(fresh), *old_share = u.rounded(g.sub(1, fresh));
  const auto blend = [&](Value* average, Value* value) {
    return g.add(g.mul(average, old_share), g.mul(value, new_share));
  };
  Value* squares = g.add(u.square(u.dx), o.least_square);
  const Dims& dims = u.parameter().dims();
  Value* spread = nullptr;
  if (dims.size() < 2) {
    Value* v = u.slot("square_average");
    spread = u.keep(v, blend(v, squares));
  } else {  // of a matrix, the means of rows and of columns stand for the whole
    Dims of_rows(dims.begin(), dims.end() - 1), of_columns(dims.begin(), dims.end() - 2);
    of_columns.push_back(dims.back());
    const auto mean = [&](Value* x, std::int64_t axis, bool keeps) {
      return g.op("ReduceMean", {x, g.ints({axis})}, {{"keepdims", keeps}});
    };
    Value *r = u.slot("rows", of_rows, 0), *c = u.slot("columns", of_columns, 0);
    Value* rows = u.keep(r, blend(r, mean(squares, -1, false)));
    Value* columns = u.keep(c, blend(c, mean(squares, -2, false)));
    Value* share = g.div(rows, mean(rows, -1, true));
    spread = g.mul(g.unsqueeze(share, {-1}), g.unsqueeze(columns, {-2}));
  }
  Value* step = g.div(u.dx, u.root(spread));
  Value* excess = g.div(rms(u, step), o.longest);
  step = g.div(step, g.op("Max", {excess, g.scalar(1, u.elem())}));
  return u.step_by(alpha, step);
}

}  // namespace ingot::train
