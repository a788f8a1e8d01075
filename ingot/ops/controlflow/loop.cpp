// Loop: a graph repeated a number of times or while a condition holds.
#include <limits>

#include "ingot/ops/controlflow/rounds.h"
#include "ingot/ops/controlflow/run_body.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::ops {
namespace {

void down_to_carried(StepContext& c) {
  if (c.node.input_count() < 3) c.cannot("before opset 11 a loop must carry a value");
}

constexpr Step kSteps[] = {{.since = 11, .down = down_to_carried}};

bool is_true(const Tensor* t) {
  return t && t->dtype() == DType::boolean && t->size() == 1 && t->to_ints().front() != 0;
}

// Whether nothing but the trip count ends the loop.
bool runs_to_the_end(const InferContext& c, const Graph& body) {
  if (c.has(1) && !is_true(c.constant(1))) return false;
  const Value* condition = body.output(0);
  while (condition && condition->producer() && condition->producer()->is("Identity"))
    condition = condition->producer()->input(0);
  return is_true(constant_of(condition)) || (body.inputs().size() > 1 && condition == body.inputs()[1]);
}

// The counter and the condition are scalars; some files make them lists of one.
Type scalar_like(const Value& input, DType elem) {
  const auto& stated = input.type.shape;
  return stated && stated->size() == 1 ? Type::tensor(elem) : Type::tensor(elem, Shape());
}

void infer(InferContext& c) {
  const Graph* body = body_of(c);
  if (!body) return;
  const std::size_t carried = c.input_count() < 2 ? 0 : c.input_count() - 2;
  if (body->inputs().size() != carried + 2 || body->output_count() < carried + 1)
    c.fail("the body has " + std::to_string(body->inputs().size()) + " inputs and " +
           std::to_string(body->output_count()) + " outputs for " + std::to_string(carried) + " carried values");
  if (c.output_count() > body->output_count() - 1) c.fail("the node has more outputs than its body gives");

  std::vector<Type> inputs = {scalar_like(*body->inputs()[0], DType::i64),
                              scalar_like(*body->inputs()[1], DType::boolean)};
  for (std::size_t i = 0; i < carried; ++i) inputs.push_back(c.type(i + 2));
  const std::vector<Type> outputs = infer_rounds(c, inputs, 2, carried, 1);

  Dim rounds = c.data_dim(carried, 0);
  bool runs_at_all = false;
  if (const auto trips = c.ints(0); trips && trips->size() == 1 && runs_to_the_end(c, *body)) {
    const Dim known = max(trips->front(), 0);
    if (!known.is_unknown()) rounds = known;
    runs_at_all = known.is_at_least(1);
  }
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    const Type& last = outputs[i + 1];
    if (i < carried) {
      c.out(i, runs_at_all && last ? last : after_rounds(c, inputs[i + 2], last));
    } else if (last) {
      if (!last.is_tensor()) c.fail("what is collected in each round is " + last.schema_name() + ", not a tensor");
      Type all = Type::tensor(last.elem);
      if (last.shape) {
        all.shape = *last.shape;
        all.shape->insert(all.shape->begin(), rounds);
        c.require(all.shape->size() <= static_cast<std::size_t>(kMostDims), "the rank is too high");
      }
      c.out(i, std::move(all));
    }
  }
}

/// The counter, as a scalar or, as some files have it, a list of one.
Array counter(const Graph& body, std::int64_t round) {
  const auto& stated = body.inputs()[0]->type.shape;
  return Array::of<std::int64_t>(stated && stated->size() == 1 ? Dims{1} : Dims{}, {round});
}

void run(KernelContext& c) {
  const Graph& body = graph_of(c, "body");
  const std::size_t carried = c.input_count() < 2 ? 0 : c.input_count() - 2;
  if (body.inputs().size() != carried + 2 || body.output_count() < carried + 1 ||
      c.output_count() > body.output_count() - 1)
    c.fail("the inputs and outputs of the body do not fit those of the node");
  std::int64_t trips = c.has(0) ? single_int(c, 0) : std::numeric_limits<std::int64_t>::max();
  std::vector<Datum> inputs(carried + 2);
  inputs[1] = c.has(1) ? c.datum(1) : Datum(Array::scalar(true));
  for (std::size_t i = 0; i < carried; ++i) inputs[i + 2] = c.datum(i + 2);
  if (!holds(c, inputs[1])) trips = 0;
  const std::size_t scanned = body.output_count() - 1 - carried;
  std::vector<std::vector<Array>> rounds(scanned);
  for (std::int64_t round = 0; round < trips; ++round) {
    inputs[0] = counter(body, round);
    std::vector<Datum> results = c.host().run_graph(body, inputs);
    for (std::size_t i = 0; i <= carried; ++i) inputs[i + 1] = std::move(results[i]);
    for (std::size_t k = 0; k < scanned; ++k)
      if (c.wants(carried + k)) rounds[k].push_back(tensor_of(c, results[carried + 1 + k]));
    if (!holds(c, inputs[1])) break;
  }
  for (std::size_t i = 0; i < carried; ++i) c.set(i, std::move(inputs[i + 2]));
  for (std::size_t k = 0; k < scanned; ++k)
    if (c.wants(carried + k)) c.set(carried + k, collected(c, std::move(rounds[k]), body.output(carried + 1 + k), 0));
}

}  // namespace

constinit const OpDef defs::Loop = {
    .name = "Loop",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
};

}  // namespace ingot::ops
