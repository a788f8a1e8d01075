// Sequences of tensors: made, read and changed.
#include "ingot/ops/catalog.h"
#include "ingot/ops/controlflow/merge_types.h"

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

}  // namespace

constinit const OpDef defs::SequenceAt = {
    .name = "SequenceAt",
    .infer = infer_at,
};
constinit const OpDef defs::SequenceConstruct = {
    .name = "SequenceConstruct",
    .infer = infer_construct,
};
constinit const OpDef defs::SequenceEmpty = {
    .name = "SequenceEmpty",
    .infer = infer_empty,
};
constinit const OpDef defs::SequenceErase = {
    .name = "SequenceErase",
    .infer = infer_erase,
};
constinit const OpDef defs::SequenceInsert = {
    .name = "SequenceInsert",
    .infer = infer_insert,
};
constinit const OpDef defs::SequenceLength = {
    .name = "SequenceLength",
    .infer = infer_length,
};

}  // namespace ingot::ops
