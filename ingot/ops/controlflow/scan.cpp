// Scan: a graph that runs over the slices of tensors and carries a state.
#include <algorithm>
#include <limits>

#include "ingot/ops/controlflow/rounds.h"
#include "ingot/ops/controlflow/run_body.h"
#include "ingot/ops/controlflow/scan_8.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::ops {
namespace {

// Before 11 axes could not count from the back.
void down_to_axes_from_front(StepContext& c) {
  const auto scanned =
      static_cast<std::size_t>(std::max<std::int64_t>(0, c.node.attributes.int_or("num_scan_inputs", 0)));
  const auto change = [&](std::string_view name, auto&& rank_of) {
    Attribute* a = c.node.attributes.find(name);
    auto* axes = a ? std::get_if<std::vector<std::int64_t>>(&a->value) : nullptr;
    for (std::size_t i = 0; axes && i < axes->size(); ++i)
      if ((*axes)[i] < 0) (*axes)[i] += rank_of(i, axes->size());
  };
  change("scan_input_axes", [&](std::size_t i, std::size_t) {
    return c.need_rank(c.node.input_count() - std::min(scanned, c.node.input_count()) + i);
  });
  change("scan_output_axes", [&](std::size_t i, std::size_t count) {
    const Value* y = count <= c.node.output_count() ? c.node.output(c.node.output_count() - count + i) : nullptr;
    if (!y || !y->type.shape) c.cannot("the rank of an output is needed but not known");
    return static_cast<std::int64_t>(y->type.shape->size());
  });
}

constexpr Step kSteps[] = {
    {.since = 9, .up = scan_8_to_9},
    {.since = 11, .down = down_to_axes_from_front},
};

std::int64_t axis_at(const InferContext& c, std::string_view name, std::size_t i, std::size_t count) {
  const auto* axes = c.attr_ints(name);
  if (!axes) return 0;
  if (axes->size() != count)
    c.fail(std::string(name) + " has " + std::to_string(axes->size()) + " entries, not " + std::to_string(count));
  return (*axes)[i];
}

void infer(InferContext& c) {
  const Graph* body = body_of(c);
  const auto wanted = c.need_int("num_scan_inputs");
  if (!body || !wanted) return;
  if (*wanted < 1 || *wanted > static_cast<std::int64_t>(c.input_count()))
    c.fail("num_scan_inputs is " + std::to_string(*wanted) + " of " + std::to_string(c.input_count()) + " inputs");
  const auto scanned = static_cast<std::size_t>(*wanted);
  const std::size_t states = c.input_count() - scanned;
  if (body->inputs().size() != c.input_count() || body->output_count() < states)
    c.fail("the body has " + std::to_string(body->inputs().size()) + " inputs and " +
           std::to_string(body->output_count()) + " outputs for " + std::to_string(c.input_count()) + " inputs");
  if (c.output_count() > body->output_count()) c.fail("the node has more outputs than its body gives");

  std::vector<Type> inputs;
  for (std::size_t i = 0; i < states; ++i) inputs.push_back(c.type(i));
  Dim rounds;
  for (std::size_t i = 0; i < scanned; ++i) {
    const Type& all = c.type(states + i);
    Type slice = all.is_tensor() ? Type::tensor(all.elem) : Type();
    if (const Shape* x = c.shape(states + i)) {
      const std::int64_t axis =
          c.axis(axis_at(c, "scan_input_axes", i, scanned), static_cast<std::int64_t>(x->size()), "scan_input_axes");
      const Dim& length = (*x)[static_cast<std::size_t>(axis)];
      if (!may_equal(rounds, length)) c.fail("the inputs have " + rounds.str() + " and " + length.str() + " slices");
      if (rounds.is_unknown() || length.is_known()) rounds = length;
      slice.shape = *x;
      slice.shape->erase(slice.shape->begin() + axis);
    }
    inputs.push_back(std::move(slice));
  }
  const std::vector<Type> outputs = infer_rounds(c, inputs, 0, states, 0);
  const std::size_t collected = outputs.size() - states;
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    if (i < states) {
      c.out(i, rounds.is_at_least(1) && outputs[i] ? outputs[i] : after_rounds(c, inputs[i], outputs[i]));
      continue;
    }
    if (!outputs[i].is_tensor()) continue;
    Type all = Type::tensor(outputs[i].elem);
    if (outputs[i].shape) {
      all.shape = *outputs[i].shape;
      const auto rank = static_cast<std::int64_t>(all.shape->size()) + 1;
      c.require(rank <= kMostDims, "the rank is too high");
      const std::int64_t axis = c.axis(axis_at(c, "scan_output_axes", i - states, collected), rank, "scan_output_axes");
      all.shape->insert(all.shape->begin() + axis, rounds);
    }
    c.out(i, std::move(all));
  }
}

/// One entry of a list attribute that has an entry for each of `count`; 0 without the list.
std::int64_t entry(const KernelContext& c, std::string_view name, std::size_t i, std::size_t count) {
  const std::vector<std::int64_t> list = c.attr_ints(name);
  if (list.empty()) return 0;
  if (list.size() != count) c.fail(std::string(name) + " does not have " + std::to_string(count) + " entries");
  return list[i];
}

void run(KernelContext& c) {
  const Graph& body = graph_of(c, "body");
  const std::int64_t wanted = c.attr("num_scan_inputs", std::int64_t{0});
  if (wanted < 1 || wanted > static_cast<std::int64_t>(c.input_count())) c.fail("num_scan_inputs does not fit");
  const auto scanned = static_cast<std::size_t>(wanted);
  const std::size_t states = c.input_count() - scanned;
  if (body.inputs().size() != c.input_count() || body.output_count() < states || c.output_count() > body.output_count())
    c.fail("the inputs and outputs of the body do not fit those of the node");
  const std::size_t collecting = body.output_count() - states;
  std::vector<std::int64_t> axes;
  std::optional<std::int64_t> length;
  for (std::size_t i = 0; i < scanned; ++i) {
    const Array& x = c.in(states + i);
    axes.push_back(c.axis(entry(c, "scan_input_axes", i, scanned), x.rank()));
    const std::int64_t slices = x.dims()[static_cast<std::size_t>(axes.back())];
    if (length && slices != *length) c.fail("the inputs differ in their number of slices");
    length = slices;
  }
  std::vector<Datum> inputs(c.input_count());
  for (std::size_t i = 0; i < states; ++i) inputs[i] = c.datum(i);
  std::vector<std::vector<Array>> rounds(collecting);
  for (std::int64_t round = 0; round < *length; ++round) {
    for (std::size_t i = 0; i < scanned; ++i) {
      const bool is_reverse = entry(c, "scan_input_directions", i, scanned) != 0;
      const Array slice = part_of(c, c.in(states + i), axes[i], is_reverse ? *length - 1 - round : round, 1);
      Dims dims = slice.dims();
      dims.erase(dims.begin() + axes[i]);
      inputs[states + i] = slice.reshaped(std::move(dims));
    }
    std::vector<Datum> results = c.host().run_graph(body, inputs);
    for (std::size_t k = 0; k < collecting; ++k)
      if (c.wants(states + k)) rounds[k].push_back(tensor_of(c, results[states + k]));
    for (std::size_t i = 0; i < states; ++i) inputs[i] = std::move(results[i]);
  }
  for (std::size_t i = 0; i < states; ++i) c.set(i, std::move(inputs[i]));
  for (std::size_t k = 0; k < collecting; ++k) {
    if (!c.wants(states + k)) continue;
    if (entry(c, "scan_output_directions", k, collecting) != 0) std::ranges::reverse(rounds[k]);
    const std::int64_t axis = entry(c, "scan_output_axes", k, collecting);
    c.set(states + k, collected(c, std::move(rounds[k]), body.output(states + k), axis));
  }
}

/// One entry of a list attribute; 0 without the list, nothing where the list does not fit.
std::optional<std::int64_t> entry(const DecomposeContext& c, std::string_view name, std::size_t i, std::size_t count) {
  const auto* list = c.node.attributes.get<std::vector<std::int64_t>>(name);
  if (!list) return 0;
  return list->size() == count ? std::optional((*list)[i]) : std::nullopt;
}

/// The first axis of x becomes number `to`.
Value* first_axis_to(GraphBuilder& g, Value* x, std::int64_t to, std::int64_t rank) {
  std::vector<std::int64_t> perm;
  for (std::int64_t i = 1; i < rank; ++i) perm.push_back(i);
  perm.insert(perm.begin() + to, 0);
  return g.transpose(x, perm);
}

/// A Loop whose rounds take their slices by themselves.
Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const GraphPtr* attribute = c.node.attributes.get<GraphPtr>("body");
  const std::int64_t wanted = c.attr("num_scan_inputs", std::int64_t{0});
  if (!attribute || wanted < 1 || wanted > static_cast<std::int64_t>(c.node.input_count())) return {};
  const Graph& old = **attribute;
  const auto scanned = static_cast<std::size_t>(wanted);
  const std::size_t states = c.node.input_count() - scanned, collecting = old.output_count() - states;
  if (old.inputs().size() != c.node.input_count() || c.node.output_count() > old.output_count()) return {};

  Graph& outer = g.graph();
  auto body = std::make_unique<Graph>(&outer);
  body->name = old.name;
  Value* round = body->add_input(outer.fresh_name("round"), Type::tensor(DType::i64, Shape()));
  Value* goes_on = body->add_input(outer.fresh_name("goes_on"), Type::tensor(DType::boolean, Shape()));
  Graph::ValueMap map;
  for (std::size_t i = 0; i < states; ++i)
    map[old.inputs()[i]] = body->add_input(outer.fresh_name(old.inputs()[i]->name()), old.inputs()[i]->type);
  GraphBuilder inner(*body);
  Value* length = nullptr;
  for (std::size_t i = 0; i < scanned; ++i) {
    Value* x = c.in(states + i);
    const auto axis = entry(c, "scan_input_axes", i, scanned), back = entry(c, "scan_input_directions", i, scanned);
    if (!x || !axis || !back) return {};
    if (!length) length = g.squeeze(size_along(g, x, *axis), {0});
    Value* at = *back ? inner.sub(inner.sub(length, 1), round) : round;
    map[old.inputs()[states + i]] = inner.op("Gather", {x, at}, {{"axis", *axis}});
  }
  for (const Value* v : old.initializers())
    if (v->initializer) map[v] = inner.constant(*v->initializer);
  for (const Node& node : old.nodes()) body->add_copy(node, map);
  body->add_output(inner.op("Identity", {goes_on}));
  const auto inside = [&](Value* v) {
    const auto found = map.find(v);
    return found == map.end() ? v : found->second;
  };
  for (Value* v : old.outputs()) body->add_output(inner.op("Identity", {inside(v)}));

  Values inputs{length, nullptr};
  for (std::size_t i = 0; i < states; ++i) inputs.push_back(c.in(i));
  Node* loop = g.node("Loop", "", inputs, {}, old.output_count());
  loop->attributes.append(Attribute("body", AttrValue(std::move(body))));
  InferSession session;
  infer_node(*loop, session);
  Values made = loop->outputs();
  for (std::size_t i = 0; i < collecting; ++i) {
    Value*& y = made[states + i];
    if (!c.wants(states + i)) continue;
    auto axis = entry(c, "scan_output_axes", i, collecting);
    const auto back = entry(c, "scan_output_directions", i, collecting);
    if (!axis || !back) return {};
    if (*back) {
      Value *last = g.ints({-1}), *end = g.ints({std::numeric_limits<std::int64_t>::min()}), *first = g.ints({0});
      y = g.op("Slice", {y, last, end, first, last});
    }
    if (*axis == 0) continue;
    if (!y->type.shape) return {};
    const auto rank = static_cast<std::int64_t>(y->type.shape->size());
    if (*axis < 0) *axis += rank;
    if (*axis < 0 || *axis >= rank) return {};
    y = first_axis_to(g, y, *axis, rank);
  }
  made.resize(c.node.output_count());
  return made;
}

}  // namespace

constinit const OpDef defs::Scan = {
    .name = "Scan",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
