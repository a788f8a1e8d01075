// Operators whose kernel slides over spatial axes.
#include "ingot/lower/window.h"

#include "ingot/lower/rows.h"

namespace ingot::lower {

Sliding sliding_of(Lowering& l, const View& x, const ops::Window& w, const Exprs& kernel) {
  Sliding s;
  s.strides = w.strides;
  s.dilations = w.dilations;
  for (std::size_t i = 0; i < w.rank(); ++i) {
    if (!w.kernel[i].is_known() && kernel.empty()) l.refuse("the size of the kernel is only known at run time");
    s.kernel.push_back(w.kernel[i].is_known() ? Expr(w.kernel[i].value()) : kernel[i]);
    const Expr in = x.dims[i + 2];
    const std::int64_t stride = w.strides[i];
    const Expr reach = (s.kernel[i] - 1) * w.dilations[i] + 1;
    Expr out, before = 0, after = 0;
    if (w.is_same()) {
      out = ceil_div(in, stride);
      const Expr total = max(0, (out - 1) * stride + reach - in);
      before = w.auto_pad == ops::Window::AutoPad::same_upper ? floor_div(total, 2) : ceil_div(total, 2);
      after = total - before;
    } else {
      if (w.auto_pad == ops::Window::AutoPad::notset) {
        before = w.pads[i];
        after = w.pads[i + w.rank()];
      }
      const Expr room = in + before + after - reach;
      out = floor_div(room, stride) + 1;
      if (w.ceil_mode) {
        const Expr windows = ceil_div(room, stride) + 1;
        out = select(less((windows - 1) * stride, in + before), windows, windows - 1);
      }
    }
    s.in.push_back(in);
    s.out.push_back(out);
    s.before.push_back(before);
    s.after.push_back(after);
  }
  Exprs dims = {x.dims[0], x.dims[1]};
  dims.insert(dims.end(), s.out.begin(), s.out.end());
  l.settle(0, dims);
  s.out.assign(dims.begin() + 2, dims.end());
  return s;
}

Shape kernel_shape(const View& w) {
  Shape shape;
  for (std::size_t i = 2; i < w.rank(); ++i) {
    const auto n = w.dims[i].as_int();
    shape.push_back(n ? Dim(*n) : Dim());
  }
  return shape;
}

namespace {

/// The sizes of a kernel, if all are known.
std::optional<std::vector<std::int64_t>> known_kernel(const Sliding& s) {
  std::vector<std::int64_t> sizes;
  for (const Expr& k : s.kernel) {
    if (!k.as_int()) return std::nullopt;
    sizes.push_back(*k.as_int());
  }
  return sizes;
}

}  // namespace

Expr guarded(const Sliding& s, const View& x, const Expr& n, const Expr& c, const Exprs& at, const Exprs& inner,
             const Expr& outside) {
  Exprs place = {n, c};
  Expr is_inside = Expr::integer(1, DType::boolean);
  for (std::size_t i = 0; i < s.rank(); ++i) {
    const Expr p = s.place(i, at[i], inner[i]);
    const Expr last = (s.out[i] - 1) * s.strides[i] + (s.kernel[i] - 1) * s.dilations[i];
    const bool stays =
        s.before[i].as_int() == 0 && s.in[i].as_int() && last.as_int() && *last.as_int() < *s.in[i].as_int();
    if (!stays) is_inside = both(is_inside, both(less_equal(0, p), less(p, s.in[i])));
    place.push_back(p);
  }
  return select(is_inside, x.at(place), outside);
}

Exprs tail(const Exprs& at, std::size_t from) {
  return Exprs(at.begin() + static_cast<std::ptrdiff_t>(from), at.end());
}

namespace {

/// [N, C, ...] * [M, C / group, ...] by plain loops, in the type of the views.
View convolved(Lowering& l, const View& x, const View& w, const Sliding& s, const Expr& group) {
  Exprs dims = {x.dims[0], w.dims[0]}, over = {w.dims[1]};
  dims.insert(dims.end(), s.out.begin(), s.out.end());
  over.insert(over.end(), s.kernel.begin(), s.kernel.end());
  return l.reduced(x.type, dims, over, Combine::sum, [&](const Exprs& at, const Exprs& inner) {
    const Expr of = floor_div(at[1], floor_div(w.dims[0], group));
    Exprs weight = {at[1]};
    weight.insert(weight.end(), inner.begin(), inner.end());
    const Expr v =
        guarded(s, x, at[0], of * w.dims[1] + inner[0], tail(at, 2), tail(inner, 1), Expr::constant(0, x.type));
    return Expr::make(Op::mul, x.type, {v, w.at(weight)});
  });
}

/// In float, or double where it is that.
View widened(Lowering& l, const View& x) {
  if (x.type == DType::f32 || x.type == DType::f64) return l.stored(x);
  return l.stored(l.computed(
      DType::f32, x.dims, [x](const Exprs& at) { return cast(x.at(at), DType::f32); }, 1));
}

/// That there are as many biases as features.
void require_biases(Lowering& l, const Expr& features) {
  if (l.has(2)) l.require_same(l.in(2).dims[0], features);
}

}  // namespace

void lower_conv(Lowering& l) {
  const View x = l.in(0), w = l.in(1);
  const Shape kernel = kernel_shape(w);
  const ops::Window window = ops::Window::read(l.node().attributes, x.rank() - 2, &kernel);
  const Sliding s = sliding_of(l, x, window, tail(w.dims, 2));
  const auto known = known_kernel(s);
  const std::int64_t group = l.attr("group", 1);
  const auto channels = x.dims[1].as_int(), features = w.dims[0].as_int();
  require_biases(l, w.dims[0]);
  l.require_same(x.dims[1], w.dims[1] * group);
  Exprs dims = {x.dims[0], w.dims[0]};
  dims.insert(dims.end(), s.out.begin(), s.out.end());
  if ((x.type == DType::f32 || x.type == DType::f64) && channels && features && known) {
    const View source = l.stored(x), weights = l.stored(w), bias = l.has(2) ? l.stored(l.in(2)) : View{};
    const View y = l.fresh(x.type, dims);
    Convolution c;
    c.out = y.tensor;
    c.x = source.tensor;
    c.w = weights.tensor;
    c.bias = bias.tensor;
    c.batch = x.dims[0];
    c.channels = *channels;
    c.features = *features;
    c.group = group;
    c.in = s.in;
    c.outs = Exprs(y.dims.begin() + 2, y.dims.end());
    c.kernel = *known;
    c.strides = s.strides;
    c.dilations = s.dilations;
    c.pads = s.before;
    l.emit({c});
    return l.out(0, y);
  }
  const View sums = convolved(l, widened(l, x), widened(l, w), s, group);
  const bool has_bias = l.has(2);
  const View bias = has_bias ? l.in(2) : View{};
  l.out(0, l.computed(
               x.type, sums.dims,
               [=](const Exprs& at) {
                 Expr v = sums.at(at);
                 if (has_bias) v = Expr::make(Op::add, v.type(), {v, cast(bias.at({at[1]}), v.type())});
                 return cast(v, x.type);
               },
               1));
}

/// Of channels whose number is only known at run time; else it is a convolution in groups.
void lower_causal_conv_with_state(Lowering& l) {
  const View x = l.in(0), w = l.stored(l.in(1));
  const bool has_bias = l.has(2), has_past = l.has(3);
  const View bias = has_bias ? l.in(2) : View{}, past = has_past ? l.stored(l.in(3)) : View{}, now = l.stored(x);
  const std::string activation = l.node().attributes.string_or("activation", "none");
  const DType type = x.type, sum = type == DType::f64 ? type : DType::f32;
  const Expr kept = l.let(w.dims[2] - 1);
  l.require_same(w.dims[0], x.dims[1]);
  if (has_bias) l.require_same(bias.dims[0], x.dims[1]);
  if (has_past) l.require_same(past.dims, {x.dims[0], x.dims[1], kept});
  const auto history = [=](const Expr& n, const Expr& c, const Expr& t) {
    const Expr before = has_past ? past.at({n, c, t}) : Expr::constant(0, type);
    return select(less(t, kept), before, now.at({n, c, t - kept}));
  };
  const auto make = [&](Op op, const Expr& a, const Expr& b) { return Expr::make(op, sum, {a, b}); };
  const View sums = l.reduced(sum, x.dims, {w.dims[2]}, Combine::sum, [&](const Exprs& at, const Exprs& k) {
    return make(Op::mul, cast(history(at[0], at[1], at[2] + k[0]), sum), cast(w.at({at[1], 0, k[0]}), sum));
  });
  const auto read = [=](const Exprs& at) {
    Expr y = sums.at(at);
    if (has_bias) y = make(Op::add, y, cast(bias.at({at[1]}), sum));
    y = cast(y, type);
    if (activation == "none") return y;
    const Expr wide = cast(y, sum);
    return cast(make(Op::mul, wide, Expr::make(Op::sigmoid, sum, {wide})), type);
  };
  l.out(0, l.computed(type, x.dims, read, 4));
  l.out(1, l.computed(type, {x.dims[0], x.dims[1], kept},
                      [=](const Exprs& at) { return history(at[0], at[1], at[2] + x.dims[2]); }));
}

void lower_conv_transpose(Lowering& l) {
  const View x = l.stored(l.in(0)), w = l.stored(l.in(1));
  const Shape kernel = kernel_shape(w);
  const ops::Window window = ops::Window::read(l.node().attributes, x.rank() - 2, &kernel);
  const std::size_t rank = window.rank();
  const auto stated = l.node().attributes.ints_or("output_shape", {});
  const auto extra = l.node().attributes.ints_or("output_padding", {});
  const std::int64_t group = l.attr("group", 1);
  const Expr features = w.dims[1] * group, channels = floor_div(x.dims[1], group);
  l.require_same(x.dims[1], w.dims[0]);
  require_biases(l, features);
  Exprs dims = {x.dims[0], features}, begins, over = {channels};
  for (std::size_t i = 0; i < rank; ++i) {
    const Expr reach = (w.dims[i + 2] - 1) * window.dilations[i] + 1 + (extra.empty() ? 0 : extra[i]);
    const Expr full = (x.dims[i + 2] - 1) * window.strides[i] + reach;
    if (stated.empty() && !window.is_same()) {
      const bool is_padded = window.auto_pad == ops::Window::AutoPad::notset;
      begins.push_back(is_padded ? Expr(window.pads[i]) : Expr(0));
      dims.push_back(full - (is_padded ? window.pads[i] + window.pads[i + rank] : 0));
    } else {
      const Expr size = stated.empty() ? x.dims[i + 2] * window.strides[i] : Expr(stated[i + stated.size() - rank]);
      const Expr total = max(0, full - size), half = floor_div(total, 2);
      begins.push_back(window.auto_pad == ops::Window::AutoPad::same_upper ? half : total - half);
      dims.push_back(size);
    }
    over.push_back(w.dims[i + 2]);
  }
  l.settle(0, dims);
  const DType type = x.type == DType::f64 ? DType::f64 : DType::f32;
  const View sums = l.reduced(type, dims, over, Combine::sum, [&](const Exprs& at, const Exprs& inner) {
    const Expr of = floor_div(at[1], w.dims[1]), channel = of * channels + inner[0];
    Exprs from = {at[0], channel}, weight = {channel, modulo(at[1], w.dims[1])};
    Expr is_inside = Expr::integer(1, DType::boolean);
    for (std::size_t i = 0; i < rank; ++i) {
      const Expr reached = at[i + 2] + begins[i] - inner[i + 1] * window.dilations[i];
      const Expr place = floor_div(reached, window.strides[i]);
      is_inside = both(is_inside, both(less_equal(0, reached), less(place, x.dims[i + 2])));
      if (window.strides[i] != 1) is_inside = both(is_inside, equal(modulo(reached, window.strides[i]), 0));
      from.push_back(place);
      weight.push_back(inner[i + 1]);
    }
    const Expr term = Expr::make(Op::mul, type, {cast(x.at(from), type), cast(w.at(weight), type)});
    return select(is_inside, term, Expr::constant(0, type));
  });
  const bool has_bias = l.has(2);
  const View bias = has_bias ? l.in(2) : View{};
  l.out(0, l.computed(
               x.type, sums.dims,
               [=](const Exprs& at) {
                 Expr v = sums.at(at);
                 if (has_bias) v = Expr::make(Op::add, type, {v, cast(bias.at({at[1]}), type)});
                 return cast(v, x.type);
               },
               1));
}

namespace {

Expr lowest(DType type) {
  switch (type) {
    case DType::u8:
      return Expr::integer(0, type);
    case DType::i8:
      return Expr::integer(-128, type);
    default:
      return Expr::constant(-__builtin_inf(), type);
  }
}

/// The largest elements and where they stand in the whole input.
void lower_max_pool_with_places(Lowering& l, const View& x, const Sliding& s, const Exprs& dims) {
  const View y = l.fresh(x.type, dims), places = l.fresh(DType::i64, dims);
  const bool is_column_major = l.attr("storage_order", 0) != 0;
  l.loops(dims, [&](const Exprs& at) {
    const Expr best = l.let(lowest(x.type), true), place = l.let(-1, true);
    l.loops(s.kernel, [&](const Exprs& inner) {
      Exprs here = {at[0], at[1]};
      Expr is_inside = Expr::integer(1, DType::boolean), flat = at[0] * x.dims[1] + at[1];
      for (std::size_t i = 0; i < s.rank(); ++i) {
        here.push_back(l.let(s.place(i, at[i + 2], inner[i])));
        is_inside = both(is_inside, both(less_equal(0, here.back()), less(here.back(), s.in[i])));
      }
      Expr inside = 0;
      for (std::size_t i = 0; i < s.rank(); ++i) {
        const std::size_t a = is_column_major ? s.rank() - 1 - i : i;
        inside = inside * s.in[a] + here[a + 2];
      }
      flat = flat * product(s.in) + inside;
      l.branch(is_inside, [&] {
        l.branch(either(less(place, 0), less(best, x.at(here))), [&] {
          l.set(best, x.at(here));
          l.set(place, flat);
        });
      });
    });
    l.store(y, at, best);
    l.store(places, at, from_index(place, DType::i64));
  });
  l.out(0, y);
  l.out(1, places);
}

Exprs pooled_dims(const View& x, const Sliding& s) {
  Exprs dims = {x.dims[0], x.dims[1]};
  dims.insert(dims.end(), s.out.begin(), s.out.end());
  return dims;
}

}  // namespace

void lower_max_pool(Lowering& l) {
  const View x = l.stored(l.in(0));
  const Sliding s = sliding_of(l, x, ops::Window::read(l.node().attributes, x.rank() - 2));
  const Exprs dims = pooled_dims(x, s);
  if (l.wants(1)) return lower_max_pool_with_places(l, x, s, dims);
  const Expr outside = lowest(x.type);
  l.out(0, l.reduced(x.type, dims, s.kernel, Combine::max, [&](const Exprs& at, const Exprs& inner) {
    return guarded(s, x, at[0], at[1], tail(at, 2), inner, outside);
  }));
}

void lower_average_pool(Lowering& l) {
  const View x = l.stored(l.in(0));
  const Sliding s = sliding_of(l, x, ops::Window::read(l.node().attributes, x.rank() - 2));
  const bool counts_padding = l.attr("count_include_pad", 0) != 0;
  const DType type = x.type == DType::f64 ? DType::f64 : DType::f32;
  const View sums =
      l.reduced(type, pooled_dims(x, s), s.kernel, Combine::sum, [&](const Exprs& at, const Exprs& inner) {
        return cast(guarded(s, x, at[0], at[1], tail(at, 2), inner, Expr::constant(0, x.type)), type);
      });
  l.out(0, l.computed(
               x.type, sums.dims,
               [=](const Exprs& at) {
                 Expr count = 1;
                 for (std::size_t i = 0; i < s.rank(); ++i) {
                   const Expr low = counts_padding ? 0 - s.before[i] : Expr(0);
                   count = count * s.count(i, at[i + 2], low, counts_padding ? s.in[i] + s.after[i] : s.in[i]);
                 }
                 return cast(Expr::make(Op::div, type, {sums.at(at), from_index(count, type)}), x.type);
               },
               1));
}

void lower_max_unpool(Lowering& l) {
  const View x = l.in(0), places = l.in(1);
  const ops::Window w = ops::Window::read(l.node().attributes, x.rank() - 2);
  Exprs pooled = {x.dims[0], x.dims[1]};
  for (std::size_t i = 0; i < w.rank(); ++i) {
    const std::int64_t kept = w.kernel[i].value() - w.pads[i] - w.pads[i + w.rank()];
    pooled.push_back((x.dims[i + 2] - 1) * w.strides[i] + kept);
  }
  Exprs dims = l.has(2) ? l.ints(2, pooled.size()) : pooled;
  l.settle(0, dims);
  // A smaller output can only be what was pooled itself.
  Expr is_smaller = Expr::integer(0, DType::boolean);
  for (std::size_t i = 0; i < dims.size(); ++i) is_smaller = either(is_smaller, less(dims[i], pooled[i]));
  Exprs counted;
  for (std::size_t i = 0; i < dims.size(); ++i) counted.push_back(select(is_smaller, dims[i], pooled[i]));
  l.require_same(places.dims, x.dims);
  l.require_place(product(counted), product(x.dims));
  const View y = l.fresh(x.type, dims);
  l.map(
      y, y.dims, [](const Exprs& at) { return at; }, [&](const Exprs&) { return Expr::constant(0, x.type); });
  l.loops(x.dims, [&](const Exprs& at) {
    Expr rest = l.let(place_of(places.at(at), product(counted)));
    Exprs place(counted.size());
    for (std::size_t i = counted.size(); i-- > 0;) {
      place[i] = i ? modulo(rest, counted[i]) : rest;
      if (i) rest = floor_div(rest, counted[i]);
    }
    l.store(y, place, x.at(at));
  });
  l.out(0, y);
}

void lower_lrn(Lowering& l) {
  const View x = l.stored(l.in(0));
  const std::int64_t size = l.attr("size", 1), before = (size - 1) / 2;
  const auto number = [&](const char* name, float fallback) {
    return Expr::constant(l.node().attributes.float_or(name, fallback), DType::f32);
  };
  const Expr bias = number("bias", 1), beta = number("beta", 0.75f);
  const Expr alpha =
      Expr::constant(l.node().attributes.float_or("alpha", 1e-4f) / static_cast<float>(size), DType::f32);
  const View squares = l.reduced(DType::f32, x.dims, {size}, Combine::sum, [&](Exprs at, const Exprs& inner) {
    const Expr c = at[1] + inner[0] - before;
    at[1] = c;
    const Expr v = cast(x.at(at), DType::f32);
    return select(both(less_equal(0, c), less(c, x.dims[1])), Expr::make(Op::mul, DType::f32, {v, v}),
                  Expr::constant(0, DType::f32));
  });
  l.out(0, l.computed(
               x.type, x.dims,
               [=](const Exprs& at) {
                 const auto make = [](Op op, const Expr& a, const Expr& b) {
                   return Expr::make(op, DType::f32, {a, b});
                 };
                 const Expr scale = make(Op::pow, make(Op::add, bias, make(Op::mul, alpha, squares.at(at))), beta);
                 return cast(make(Op::div, cast(x.at(at), DType::f32), scale), x.type);
               },
               4));
}

}  // namespace ingot::lower
