// Cast and CastLike: numbers and strings in another element type. BitCast: the same bits as another type.
#include <algorithm>
#include <cctype>

#include "ingot/ops/gradient.h"
#include "ingot/ops/math/cast_kernel.h"
#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/math/type_attribute.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

constexpr TypeSet kRounded = {DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz, DType::f8e8m0};

void cast_elements(InferContext& c, DType to) {
  auto known = known_elements(c, 0);
  if (!known) return;
  for (Dim& d : *known) {
    if (to == DType::boolean) d = d.is_at_least(1) ? Dim(1) : d.as_int() ? Dim(*d.as_int() != 0) : Dim();
    d = as_held(d, to);
  }
  c.out_ints(0, std::move(*known));
}

void infer_cast(InferContext& c) {
  infer_same_shape(c);
  const auto to = c.need_int("to");
  if (!to) return;
  out_elem_from_attribute(c, "to", DType::undefined);
  cast_elements(c, static_cast<DType>(*to));
}

void infer_cast_like(InferContext& c) {
  infer_same_shape(c);
  if (c.elem(1) == DType::undefined) return;
  c.out_elem(0, c.elem(1));
  cast_elements(c, c.elem(1));
}

void infer_bit_cast(InferContext& c) {
  infer_same_shape(c);
  const auto to = c.need_int("to");
  if (!to) return;
  out_elem_from_attribute(c, "to", DType::undefined);
  const DType from = c.elem(0);
  if (from != DType::undefined && bits_of(from) != bits_of(static_cast<DType>(*to)))
    c.fail(std::string(name_of(from)) + " and " + std::string(name_of(static_cast<DType>(*to))) + " differ in width");
}

std::string changed_case(std::string text, int (*change)(int)) {
  std::ranges::transform(text, text.begin(), [&](unsigned char letter) { return static_cast<char>(change(letter)); });
  return text;
}

// Version 1 names the type as TensorProto does: "FLOAT", "INT64".
void up_to_number(StepContext& c) {
  const auto* name = c.node.attributes.get<std::string>("to");
  if (!name) return;
  const auto to = dtype_from_name(changed_case(*name, std::tolower));
  if (!to) c.cannot("attribute 'to' names no element type: '" + *name + "'");
  c.node.attributes.set({"to", *to});
}

void down_to_name(StepContext& c) {
  const std::int64_t to = c.node.attributes.int_or("to", 0);
  if (!is_valid_dtype(to)) c.cannot("attribute 'to' is no element type");
  const std::string name = changed_case(std::string(name_of(static_cast<DType>(to))), std::toupper);
  c.node.attributes.set(Attribute("to", AttrValue(name)));
}

/// An attribute that only some target types heed goes where the target is another one.
void drop_unless(StepContext& c, TypeSet heeding, std::string_view attribute) {
  const Value* output = c.node.output();
  const DType to = output ? output->type.elem : DType::undefined;
  if (to != DType::undefined && !heeding.has(to)) c.node.attributes.erase(attribute);
}

constexpr Step kSteps[] = {
    {.since = 6, .up = up_to_number, .down = down_to_name},
    {.since = 19, .down = [](StepContext& c) { drop_unless(c, kRounded, "saturate"); }},
    {.since = 24, .down = [](StepContext& c) { drop_unless(c, {DType::f8e8m0}, "round_mode"); }},
};
constexpr std::span<const Step> kLikeSteps = std::span(kSteps).subspan(1);

Values decompose_cast_like(DecomposeContext& c) {
  if (c.elem(1) == DType::undefined) return {};
  Attrs attrs = {{"to", c.elem(1)}};
  if (c.elem(1) == DType::f8e8m0) attrs.emplace_back("round_mode", c.attr("round_mode", "up"));
  if (kRounded.has(c.elem(1))) attrs.emplace_back("saturate", c.attr("saturate", std::int64_t{1}));
  return {c.g.op("Cast", {c.in(0)}, attrs)};
}

DType type_attribute(const KernelContext& c) {
  const std::int64_t to = c.attr("to", std::int64_t{0});
  if (!is_valid_dtype(to)) c.fail("attribute 'to' is no element type");
  return static_cast<DType>(to);
}

void run_cast(KernelContext& c) { run_cast_to(c, type_attribute(c)); }
void run_cast_like(KernelContext& c) { run_cast_to(c, c.in(1).dtype()); }

using SubByte = JoinTypes<SmallIntegers, Types<Float4E2M1>>;

void run_bit_cast(KernelContext& c) {
  const Array& x = c.in(0);
  const DType to = type_attribute(c);
  if (bits_of(x.dtype()) == 0 || bits_of(x.dtype()) != bits_of(to))
    c.fail(std::string(name_of(x.dtype())) + " and " + std::string(name_of(to)) + " differ in width");
  if (x.dtype() == to) return c.set(0, x);
  Array& y = c.make(0, to, x.dims());
  if (is_sub_byte(to)) {
    // Arrays hold their values, one per byte.
    dispatch(x.dtype(), SubByte{}, [&]<class From>() {
      dispatch(to, SubByte{}, [&]<class To>() {
        std::ranges::transform(x.data<From>(), y.mutable_data<To>().begin(),
                               [](From value) { return To::from_bits(value.to_bits()); });
      });
    });
  } else if (to == DType::boolean) {
    // Every byte but 0 is true; C++ knows no third truth value.
    std::transform(x.bytes(), x.bytes() + x.byte_size(), y.mutable_data<bool>().begin(),
                   [](std::byte byte) { return byte != std::byte{0}; });
  } else {
    std::copy_n(x.bytes(), x.byte_size(), y.bytes());
  }
}

Values gradient_cast(GradContext& c) {
  if (!is_float(c.elem()) || !is_float(c.y()->type.elem)) return {};
  return {c.g.cast(c.dy(), c.elem())};
}

}  // namespace

constinit const OpDef defs::BitCast = {
    .name = "BitCast",
    .infer = infer_bit_cast,
    .kernel = run_bit_cast,
};
constinit const OpDef defs::Cast = {
    .name = "Cast",
    .infer = infer_cast,
    .steps = kSteps,
    .kernel = run_cast,
    .gradient = gradient_cast,
};
constinit const OpDef defs::CastLike = {
    .name = "CastLike",
    .infer = infer_cast_like,
    .steps = kLikeSteps,
    .decompose = decompose_cast_like,
    .kernel = run_cast_like,
    .gradient = gradient_cast,
};

}  // namespace ingot::ops
