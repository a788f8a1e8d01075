// Random numbers: distributions are the same, the numbers are not.
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

Attrs seeded(Op& op) {
  op.import.note("random numbers have the distribution that TFLite gives them, not the same values");
  const std::int64_t seed = op.options.get_int("seed"), second = op.options.get_int("seed2");
  if (!seed && !second) return {};
  return {{"seed", static_cast<float>(seed * 1000003 + second)}};
}

void random_like(Op& op, ops::Name fixed, ops::Name like) {
  Attrs attrs = seeded(op);
  attrs.emplace_back("dtype", op.out_dtype());
  if (const auto dims = op.known_ints(0)) {
    attrs.emplace_back("shape", *dims);
    return op.set(0, op.b.op(fixed, {}, attrs));
  }
  Value* shape = op.index_list(0);
  Value* zeros = op.b.op("ConstantOfShape", {shape});
  op.set(0, op.b.op(like, {zeros}, attrs));
}

}  // namespace

void random_uniform(Op& op) { random_like(op, "RandomUniform", "RandomUniformLike"); }
void random_standard_normal(Op& op) { random_like(op, "RandomNormal", "RandomNormalLike"); }

void multinomial(Op& op) {
  const std::int64_t count = op.integer(1, "the number of samples");
  Attrs attrs = seeded(op);
  attrs.emplace_back("sample_size", count);
  attrs.emplace_back("dtype", DType::i32);
  Value* logits = op.real(0);
  Value* drawn = op.b.op("Multinomial", {logits}, attrs);
  op.set(0, op.b.cast(drawn, op.out_dtype()));
}

}  // namespace ingot::frontends::tflite
