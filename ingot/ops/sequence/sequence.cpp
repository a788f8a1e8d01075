// Sequences of tensors: made, read and changed.
#include "ingot/ops/catalog.h"
#include "ingot/ops/controlflow/merge_types.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/sequence/elements.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::ops {
namespace {

void expect_sequence(const InferContext& c) {
  if (c.type(0) && !c.type(0).is_sequence()) c.fail("the input is " + c.type(0).schema_name() + ", not a sequence");
}

void infer_construct(InferContext& c) {
  c.require(c.input_count() > 0, "there are no elements");
  Type element = c.type(0);
  for (std::size_t i = 1; i < c.input_count(); ++i) element = merged(c, element, c.type(i), "an element");
  c.out(0, Type::sequence(std::move(element)));
}

void infer_empty(InferContext& c) {
  const std::int64_t elem = c.attr("dtype", static_cast<std::int64_t>(DType::f32));
  if (!is_valid_dtype(elem)) c.fail("dtype is " + std::to_string(elem));
  c.out(0, Type::sequence(Type::tensor(static_cast<DType>(elem))));
}

void infer_at(InferContext& c) {
  expect_sequence(c);
  if (c.type(0).inner()) c.out(0, c.type(0).inner());
}

void infer_insert(InferContext& c) {
  expect_sequence(c);
  const Type both = merged(c, c.type(0).inner(), c.type(1), "an element");
  const Node* producer = c.node().input(0) ? c.node().input(0)->producer() : nullptr;
  const bool was_empty = producer && producer->is("SequenceEmpty") && c.type(1);
  c.out(0, Type::sequence(was_empty ? c.type(1) : both));
}

void infer_erase(InferContext& c) {
  expect_sequence(c);
  c.out_like(0, 0);
}

void infer_length(InferContext& c) {
  expect_sequence(c);
  c.out_shape(0, {});
}

const Sequence& sequence_in(const KernelContext& c) {
  const Sequence* sequence = c.has(0) ? c.datum(0).sequence() : nullptr;
  if (!sequence) c.fail("the input is not a sequence");
  return *sequence;
}

void run_at(KernelContext& c) {
  const Sequence& sequence = sequence_in(c);
  const std::int64_t at = index_within(c, single_int(c, 1), static_cast<std::int64_t>(sequence.size()));
  c.set(0, sequence[static_cast<std::size_t>(at)]);
}

void run_construct(KernelContext& c) {
  Sequence sequence;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    if (c.in(i).dtype() != c.in(0).dtype()) c.fail("the elements differ in element type");
    sequence.push_back(c.datum(i));
  }
  c.set(0, std::move(sequence));
}

void run_empty(KernelContext& c) { c.set(0, Sequence()); }

void run_erase(KernelContext& c) {
  Sequence sequence = sequence_in(c);
  const auto size = static_cast<std::int64_t>(sequence.size());
  if (size == 0) c.fail("an empty sequence has nothing to erase");
  sequence.erase(sequence.begin() + (c.has(1) ? index_within(c, single_int(c, 1), size) : size - 1));
  c.set(0, std::move(sequence));
}

void run_insert(KernelContext& c) {
  Sequence sequence = sequence_in(c);
  const auto size = static_cast<std::int64_t>(sequence.size());
  std::int64_t at = size;
  if (c.has(2)) {
    at = single_int(c, 2);
    if (at < -size || at > size)
      c.fail("position " + std::to_string(at) + " is out of range for " + std::to_string(size) + " elements");
    if (at < 0) at += size;
  }
  if (!sequence.empty() && sequence.front().array() && sequence.front().array()->dtype() != c.in(1).dtype())
    c.fail("the elements differ in element type");
  sequence.insert(sequence.begin() + at, c.datum(1));
  c.set(0, std::move(sequence));
}

void run_length(KernelContext& c) {
  c.set(0, Array::scalar<std::int64_t>(static_cast<std::int64_t>(sequence_in(c).size())));
}

/// A position counted from the front, in a sequence of the length of `among`.
Value* from_front(GraphBuilder& g, Value* position, Value* among) {
  Value *at = g.cast(position, DType::i64), *zero = g.index(0);
  Value* from_back = g.add(at, g.op("SequenceLength", {among}));
  Value* is_from_back = g.op("Less", {at, zero});
  return g.where(is_from_back, from_back, at);
}

Values gradient_at(GradContext& c) {
  Value* at = from_front(c.g, c.x(1), c.x(0));
  Value* others = c.g.op("SequenceErase", {zeros_like(c.g, c.x(0)), at});
  return {c.g.op("SequenceInsert", {others, c.dy(), at})};
}

Values gradient_construct(GradContext& c) {
  Values dxs(c.node.input_count());
  for (std::size_t i = 0; i < dxs.size(); ++i)
    if (c.wants(i)) dxs[i] = c.g.op("SequenceAt", {c.dy(), c.g.index(static_cast<std::int64_t>(i))});
  return dxs;
}

Values gradient_insert(GradContext& c) {
  Value* at = c.has(2) ? from_front(c.g, c.x(2), c.x(0)) : c.g.op("SequenceLength", {c.x(0)});
  Value* others = c.g.op("SequenceErase", {c.dy(), at});
  return {others, c.g.op("SequenceAt", {c.dy(), at})};
}

Values gradient_erase(GradContext& c) {
  Value* last = c.has(1) ? nullptr : c.g.op("SequenceLength", {c.x(0)});
  Value* at = last ? c.g.sub(last, c.g.index(1)) : from_front(c.g, c.x(1), c.x(0));
  Value* nothing = zeros_like(c.g, c.g.op("SequenceAt", {c.x(0), at}));
  return {c.g.op("SequenceInsert", {c.dy(), nothing, at})};
}

}  // namespace

constinit const OpDef defs::SequenceAt = {
    .name = "SequenceAt",
    .infer = infer_at,
    .kernel = run_at,
    .gradient = gradient_at,
};
constinit const OpDef defs::SequenceConstruct = {
    .name = "SequenceConstruct",
    .infer = infer_construct,
    .kernel = run_construct,
    .gradient = gradient_construct,
};
constinit const OpDef defs::SequenceEmpty = {
    .name = "SequenceEmpty",
    .infer = infer_empty,
    .kernel = run_empty,
};
constinit const OpDef defs::SequenceErase = {
    .name = "SequenceErase",
    .infer = infer_erase,
    .kernel = run_erase,
    .gradient = gradient_erase,
};
constinit const OpDef defs::SequenceInsert = {
    .name = "SequenceInsert",
    .infer = infer_insert,
    .kernel = run_insert,
    .gradient = gradient_insert,
};
constinit const OpDef defs::SequenceLength = {
    .name = "SequenceLength",
    .infer = infer_length,
    .kernel = run_length,
};

}  // namespace ingot::ops
