// Complex numbers, as pairs along a last axis of size 2, and Fourier transforms of them.
#include "ingot/frontends/tensorflow/complex.h"

#include "ingot/frontends/repeat.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {
namespace {

struct Parts {
  Value *real, *imag;
};

Parts parts_of(GraphBuilder& g, Value* pairs) {
  Value* real = g.op("Gather", {pairs, g.index(0)}, {{"axis", -1}});
  return {real, g.op("Gather", {pairs, g.index(1)}, {{"axis", -1}})};
}

Value* paired(const TfNode& n, GraphBuilder& g, const Parts& p) {
  Value* real = g.unsqueeze(p.real, {-1});
  return n.translation().mark_complex(g.concat({real, g.unsqueeze(p.imag, {-1})}, -1));
}

bool is_complex_type(const TfNode& n, std::string_view attr) { return is_complex(n.dtype(attr, DType::undefined)); }

}  // namespace

Values complex_add(const TfNode& n, GraphBuilder& g) {
  return {n.translation().mark_complex(g.add(n.complex_input(0), n.complex_input(1)))};
}
Values complex_sub(const TfNode& n, GraphBuilder& g) {
  return {n.translation().mark_complex(g.sub(n.complex_input(0), n.complex_input(1)))};
}
Values complex_mul(const TfNode& n, GraphBuilder& g) {
  const Parts a = parts_of(g, n.complex_input(0)), b = parts_of(g, n.complex_input(1));
  Value* ac = g.mul(a.real, b.real);
  Value* real = g.sub(ac, g.mul(a.imag, b.imag));
  Value* ad = g.mul(a.real, b.imag);
  return {paired(n, g, {real, g.add(ad, g.mul(a.imag, b.real))})};
}

Values cast(const TfNode& n, GraphBuilder& g) {
  if (is_complex_type(n, "DstT")) {
    const DType t = n.dtype("DstT") == DType::c64 ? DType::f32 : DType::f64;
    if (n.is_complex(0)) return {n.translation().mark_complex(g.cast(n.complex_input(0), t))};
    Value* real = g.cast(n.input(0), t);
    return {paired(n, g, {real, filled_like(g, real, 0)})};
  }
  Value* x = n.is_complex(0) ? parts_of(g, n.complex_input(0)).real : n.input(0);
  const DType to = n.dtype("DstT", x->type.elem);
  // What is too large for eight bits becomes infinite, or no number.
  if (to == DType::f8e4m3fn || to == DType::f8e4m3fnuz || to == DType::f8e5m2 || to == DType::f8e5m2fnuz)
    return {g.op("Cast", {x}, {{"to", to}, {"saturate", 0}})};
  return {g.cast(x, to)};
}

Values complex(const TfNode& n, GraphBuilder& g) {
  Value* dims = g.shape(g.add(n.input(0), n.input(1)));
  Value* real = g.op("Expand", {n.input(0), dims});
  return {paired(n, g, {real, g.op("Expand", {n.input(1), dims})})};
}
Values real(const TfNode& n, GraphBuilder& g) {
  return {n.is_complex(0) ? parts_of(g, n.complex_input(0)).real : n.input(0)};
}
Values imag(const TfNode& n, GraphBuilder& g) {
  return {n.is_complex(0) ? parts_of(g, n.complex_input(0)).imag : filled_like(g, n.input(0), 0)};
}
Values conj(const TfNode& n, GraphBuilder& g) {
  if (!n.is_complex(0)) return {n.input(0)};
  const Parts p = parts_of(g, n.complex_input(0));
  return {paired(n, g, {p.real, g.neg(p.imag)})};
}
Values complex_abs(const TfNode& n, GraphBuilder& g) {
  return {g.op("ReduceL2", {n.complex_input(0), g.ints({-1})}, {{"keepdims", 0}})};
}
Values angle(const TfNode& n, GraphBuilder& g) {
  if (!n.is_complex(0)) return {angle_of(g, filled_like(g, n.input(0), 0), n.input(0))};
  const Parts p = parts_of(g, n.complex_input(0));
  return {angle_of(g, p.imag, p.real)};
}

// Fourier transforms over the last axes.
namespace {

Value* transformed(GraphBuilder& g, Value* pairs, std::int64_t axis, bool inverse, bool onesided = false) {
  return g.op("DFT", {pairs, nullptr, g.index(axis)}, {{"inverse", inverse}, {"onesided", onesided}});
}

Values whole(const TfNode& n, GraphBuilder& g, std::int64_t axes, bool inverse) {
  Value* x = n.complex_input(0);
  for (std::int64_t axis = 0; axis < axes; ++axis) x = transformed(g, x, -2 - axis, inverse);
  return {n.translation().mark_complex(x)};
}

/// Cut or filled up with zeros to a length (rank 1) along an axis, counted from the end.
Value* sized(const TfNode& n, GraphBuilder& g, Value* x, Value* length, std::int64_t axis) {
  const auto rank = rank_of(x);
  if (!rank) n.unsupported("the rank of the signal must be known");
  Value* cut = g.op("Slice", {x, g.ints({0}), length, g.ints({axis})});
  Value* now = g.op("Gather", {g.shape(cut), g.ints({axis})});
  return g.op("Pad", {cut, g.concat({g.ints({0}), g.sub(length, now)}, 0), nullptr, g.ints({axis})});
}

Value* length_of(GraphBuilder& g, Value* lengths, std::int64_t i) { return g.op("Gather", {lengths, g.ints({i})}); }

Values from_real(const TfNode& n, GraphBuilder& g, std::int64_t axes) {
  Value* x = n.input(0);
  Value* lengths = as_int64_vector(g, n.input(1));
  for (std::int64_t i = 0; i < axes; ++i) x = sized(n, g, x, length_of(g, lengths, i), i - axes);
  x = transformed(g, g.unsqueeze(x, {-1}), -2, false, true);
  for (std::int64_t axis = 1; axis < axes; ++axis) x = transformed(g, x, -2 - axis, false);
  return {n.translation().mark_complex(x)};
}

Values to_real(const TfNode& n, GraphBuilder& g, std::int64_t axes) {
  Value* x = n.complex_input(0);
  Value* lengths = as_int64_vector(g, n.input(1));
  for (std::int64_t i = 0; i + 1 < axes; ++i) x = sized(n, g, x, length_of(g, lengths, i), i - axes - 1);
  Value* length = length_of(g, lengths, axes - 1);
  Value* half = g.div(length, g.ints({2}));
  x = sized(n, g, x, g.add(half, g.ints({1})), -2);
  for (std::int64_t axis = 1; axis < axes; ++axis) x = transformed(g, x, -2 - axis, true);
  // The other half mirrors the first: the conjugates in reverse.
  Value* k = counted(g, g.squeeze(length, {0}));
  Value* is_first = g.op("LessOrEqual", {k, half});
  Value* places = g.where(is_first, k, g.sub(length, k));
  const Parts p = parts_of(g, g.op("Gather", {x, places}, {{"axis", -2}}));
  Value* imag = g.where(is_first, p.imag, g.neg(p.imag));
  Value* y = transformed(g, paired(n, g, {p.real, imag}), -2, true);
  return {parts_of(g, y).real};
}

}  // namespace

Values fft(const TfNode& n, GraphBuilder& g) { return whole(n, g, 1, false); }
Values fft_2d(const TfNode& n, GraphBuilder& g) { return whole(n, g, 2, false); }
Values fft_3d(const TfNode& n, GraphBuilder& g) { return whole(n, g, 3, false); }
Values ifft(const TfNode& n, GraphBuilder& g) { return whole(n, g, 1, true); }
Values ifft_2d(const TfNode& n, GraphBuilder& g) { return whole(n, g, 2, true); }
Values ifft_3d(const TfNode& n, GraphBuilder& g) { return whole(n, g, 3, true); }
Values rfft(const TfNode& n, GraphBuilder& g) { return from_real(n, g, 1); }
Values rfft_2d(const TfNode& n, GraphBuilder& g) { return from_real(n, g, 2); }
Values rfft_3d(const TfNode& n, GraphBuilder& g) { return from_real(n, g, 3); }
Values irfft(const TfNode& n, GraphBuilder& g) { return to_real(n, g, 1); }
Values irfft_2d(const TfNode& n, GraphBuilder& g) { return to_real(n, g, 2); }
Values irfft_3d(const TfNode& n, GraphBuilder& g) { return to_real(n, g, 3); }

}  // namespace ingot::frontends::tensorflow
