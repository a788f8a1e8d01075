// Dropout: in training, numbers become zero at random and the others grow to make up for it; else nothing happens.
#include <algorithm>

#include "ingot/ops/compute.h"
#include "ingot/ops/generator/random.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  c.out_shape_like(0, 0);
  c.out_shape_like(1, 0);
  for (std::size_t i = 1; i <= 2; ++i)
    if (const Shape* s = c.shape(i))
      c.require(may_equal(product(*s), 1), i == 1 ? "ratio is not one number" : "training_mode is not one value");
}

/// The dropping itself. Returns the output and the mask of what stays, as truth values. `ratio` is of x's type.
std::pair<Value*, Value*> drop(GraphBuilder& g, Value* x, DType elem, Value* ratio, Attrs seed) {
  seed.emplace_back("dtype", elem);
  Value* is_dropped = g.op("Less", {g.op("RandomUniformLike", {x}, seed), ratio});
  Value* mask = g.op("Not", {is_dropped});
  Value* kept = g.mul(x, g.op("Cast", {mask}, {{"to", elem}}));
  return {g.div(kept, g.sub(g.scalar(1, elem), ratio)), mask};
}

// Until 6 is_test said whether to drop (0) or not.
void up_from_is_test(StepContext& c) {
  const bool is_test = c.node.attributes.int_or("is_test", 0) != 0;
  c.node.attributes.erase("is_test");
  if (is_test) return;
  const float ratio = c.node.attributes.float_or("ratio", 0.5f);
  const DType elem = c.type(0).elem;
  if (elem == DType::undefined) c.cannot("the input's element type is not known");
  const auto [y, mask] = drop(c.g, c.node.input(0), elem, c.g.scalar(ratio, elem), {});
  c.replace({y, c.node.output(1) ? c.g.op("Cast", {mask}, {{"to", elem}}) : nullptr});
}

void down_to_is_test(StepContext& c) { c.node.attributes.set({"is_test", 1}); }

// Until 9 the mask had the input's type.
void up_to_truth_mask(StepContext& c) {
  Value* mask = c.node.output(1);
  if (!mask || mask->uses().empty()) return;
  const DType elem = c.type(0).elem;
  if (elem == DType::undefined) c.cannot("the input's element type is not known");
  Attrs attrs;
  if (const auto* ratio = c.node.attributes.get<float>("ratio")) attrs.emplace_back("ratio", *ratio);
  const Values made = c.g.op("Dropout", {c.node.input(0)}, attrs, 2);
  c.replace({made[0], c.g.op("Cast", {made[1]}, {{"to", elem}})});
}

void up_to_inputs(StepContext& c) {
  if (const auto* ratio = c.node.attributes.get<float>("ratio"))
    c.node.set_input(1, c.g.constant(Tensor::scalar(*ratio)));
  c.node.attributes.erase("ratio");
}

void down_to_attributes(StepContext& c) {
  if (c.node.input(2)) {
    const Tensor* mode = c.constant(2);
    if (!mode || mode->size() != 1) c.cannot("training_mode must be constant");
    if (mode->to_ints().front() != 0) c.cannot("operator set 11 drops nothing");
  }
  if (c.node.input(1)) {
    const Tensor* ratio = c.constant(1);
    if (!ratio || ratio->size() != 1) c.cannot("ratio must be constant");
    c.node.attributes.set({"ratio", ratio->to_doubles().front()});
  }
  c.node.resize_inputs(1);
  c.node.attributes.erase("seed");
}

constexpr Step kSteps[] = {
    {.since = 7, .up = up_from_is_test, .down = down_to_is_test},
    {.since = 10, .up = up_to_truth_mask},
    {.since = 12, .up = up_to_inputs, .down = down_to_attributes},
};

Values decompose(DecomposeContext& c) {
  const Tensor* mode = c.constant(2);
  if (c.has(2) && (!mode || mode->size() != 1)) return {};
  if (!c.has(2) || mode->to_ints().front() == 0) {
    Value* all = c.wants(1)
                     ? c.g.op("ConstantOfShape", {c.g.shape(c.in(0))}, {{"value", Tensor::of<bool>({1}, {true})}})
                     : nullptr;
    return {c.g.op("Identity", {c.in(0)}), all};
  }
  const DType elem = c.elem(0);
  if (!TypeSet(Floats{}).has(elem)) return {};
  Value* ratio = c.has(1) ? c.g.cast(c.in(1), elem) : c.g.scalar(0.5, elem);
  Attrs seed;
  if (const auto* number = c.node.attributes.get<std::int64_t>("seed"))
    seed.emplace_back("seed", static_cast<float>(*number));
  const auto [y, mask] = drop(c.g, c.in(0), elem, ratio, std::move(seed));
  return {y, c.wants(1) ? mask : nullptr};
}

// What stays grows by 1 / (1 - ratio), what goes is 0, whatever it was.
void run(KernelContext& c) {
  const Array& x = c.in(0);
  if ((c.has(1) && c.in(1).size() != 1) || (c.has(2) && c.in(2).size() != 1))
    c.fail("ratio or training_mode is not one value");
  const double ratio = c.has(1) ? c.in(1).to_doubles().front() : 0.5;
  const bool drops = c.has(2) && c.in(2).data<bool>()[0] && ratio != 0;
  Array mask = scratch(c, DType::boolean, x.dims());
  const auto stays = mask.mutable_data<bool>();
  if (!drops) {
    std::ranges::fill(stays, true);
    c.set(0, x);
    return c.set(1, mask);
  }
  if (!(ratio >= 0 && ratio <= 1)) c.fail("ratio is not between 0 and 1");
  const Random random(c);
  for (std::size_t i = 0; i < stays.size(); ++i) stays[i] = random.uniform(i) >= ratio;
  const Array numbers = computable(c, 0);
  Array y = scratch(c, numbers.dtype(), x.dims());
  dispatch(numbers.dtype(), ComputeFloats{}, [&]<class T>() {
    const auto in = numbers.data<T>();
    const auto out = y.mutable_data<T>();
    const T scale = static_cast<T>(1 / (1 - ratio));
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = stays[i] ? in[i] * scale : T{0};
  });
  put(c, 0, y, x.dtype());
  c.set(1, mask);
}

Values gradient_dropout(GradContext& c) {
  GraphBuilder& g = c.g;
  const Tensor* mode = c.constant(2);
  if (!c.has(2) || (mode && mode->size() == 1 && mode->to_ints().front() == 0)) return {c.dy()};
  Value* mask = c.ensure_output(1);
  Value* ratio = c.has(1) ? g.cast(c.x(1), c.elem()) : c.number(0.5);
  Value* drops = g.where(c.x(2), ratio, c.number(0));
  return {c.keep(mask, g.div(c.dy(), g.sub(1, drops)))};
}

}  // namespace

constinit const OpDef defs::Dropout = {
    .name = "Dropout",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_dropout,
};

}  // namespace ingot::ops
