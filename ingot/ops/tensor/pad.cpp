// Pad: elements added before and after each dimension, or taken away where the count is negative.
#include "ingot/ops/tensor/pad.h"

#include <algorithm>
#include <numeric>

#include "ingot/base/checked.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/short_list.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/index_maps.h"

namespace ingot::ops {
namespace {

void rename(Attributes& attributes, std::string_view from, std::string_view to) {
  if (Attribute* a = attributes.find(from)) a->name = to;
}

void up_to_inputs(StepContext& c) {
  c.attribute_to_input("pads", 1);
  const float value = c.node.attributes.float_or("value", 0);
  c.node.attributes.erase("value");
  if (value == 0) return;
  const DType elem = c.type(0).elem;
  if (elem == DType::undefined) c.cannot("the element type of the padded tensor is not known");
  c.node.set_input(2, c.g.scalar(static_cast<double>(value), elem));
}

void down_to_attributes(StepContext& c) {
  if (c.node.input(2)) {
    const Tensor* value = c.constant(2);
    if (!value || value->size() != 1)
      c.cannot("the value of the padding must be constant, but is computed while running");
    c.node.attributes.set(Attribute("value", static_cast<double>(value->to_doubles().front())));
    c.node.set_input(2, nullptr);
  }
  c.input_to_attribute(1, "pads");
}

// Before 18 all dimensions are padded: zeros for those that axes leave out.
void down_to_all_axes(StepContext& c) {
  if (!c.node.input(3)) return;
  const std::int64_t rank = c.need_rank(0);
  const auto places = static_cast<std::size_t>(2 * rank);
  Value *pads = c.node.input(1), *axes = c.node.input(3);
  if (const Tensor* constant_axes = c.constant(3)) {
    auto at = constant_axes->to_ints();
    for (std::int64_t& a : at) {
      if (a < -rank || a >= rank) c.cannot("axis " + std::to_string(a) + " is out of range");
      if (a < 0) a += rank;
    }
    const std::size_t count = at.size();
    for (std::size_t i = 0; i < count; ++i) at.push_back(at[i] + rank);
    if (const Tensor* constant_pads = c.constant(1)) {
      const auto given = constant_pads->to_ints();
      if (given.size() != at.size()) c.cannot("pads and axes differ in length");
      std::vector<std::int64_t> all(places, 0);
      for (std::size_t i = 0; i < at.size(); ++i) all[static_cast<std::size_t>(at[i])] = given[i];
      c.node.set_input(1, c.g.ints(all));
      c.node.resize_inputs(c.node.input(2) ? 3 : 2);
      return;
    }
    axes = c.g.ints(at);
  } else {
    Value* from_front = axes;
    if (c.type(3).elem != DType::i64) from_front = c.g.op("Cast", {axes}, {{"to", DType::i64}});
    // Mod has the sign of the divisor: -1 becomes rank - 1
    from_front = c.g.op("Mod", {from_front, c.g.ints({rank})});
    axes = c.g.concat({from_front, c.g.add(from_front, c.g.ints({rank}))}, 0);
  }
  Value* none = c.g.ints(std::vector<std::int64_t>(places, 0));
  c.node.set_input(1, c.g.op("ScatterElements", {none, axes, pads}, {{"axis", 0}}));
  c.node.resize_inputs(c.node.input(2) ? 3 : 2);
}

void down_to_no_wrap(StepContext& c) {
  if (c.node.attributes.string_or("mode", "constant") == "wrap")
    c.cannot("mode 'wrap' exists since opset 19", "use --opset 19 or newer");
}

constexpr Step kSteps[] = {
    {.since = 2,
     .up = [](StepContext& c) { rename(c.node.attributes, "paddings", "pads"); },
     .down = [](StepContext& c) { rename(c.node.attributes, "pads", "paddings"); }},
    {.since = 11, .up = up_to_inputs, .down = down_to_attributes},
    {.since = 18, .down = down_to_all_axes},
    {.since = 19, .down = down_to_no_wrap},
};

void infer(InferContext& c) {
  const std::string mode = c.attr("mode", "constant");
  c.require(mode == "constant" || mode == "reflect" || mode == "edge" || mode == "wrap", "the mode is not known");
  require_short_list(c, 1, 2 * kMostDims);
  require_short_list(c, 3);
  const Shape* x = c.shape(0);
  const auto pads = c.ints(1);
  if (!x) {
    if (pads && !c.has(3)) c.out_rank(0, static_cast<std::int64_t>(pads->size() / 2));
    return;
  }
  const auto rank = static_cast<std::int64_t>(x->size());
  std::optional<std::vector<std::int64_t>> axes;
  if (c.has(3)) {
    axes = c.const_ints(3);
  } else {
    axes.emplace(x->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!axes) {
    c.out_rank(0, rank);
    return c.name_open_dims(0);
  }
  if (pads && pads->size() != 2 * axes->size())
    c.fail("there are " + std::to_string(pads->size()) + " pads for " + std::to_string(axes->size()) + " axes");
  Shape y = *x;
  std::vector<bool> seen(x->size(), false);
  for (std::size_t k = 0; k < axes->size(); ++k) {
    const auto i = static_cast<std::size_t>(c.axis((*axes)[k], rank, "axes"));
    c.require(!seen[i], "axes name a dimension twice");
    seen[i] = true;
    y[i] = pads ? (*x)[i] + (*pads)[k] + (*pads)[k + axes->size()] : c.data_dim(0, static_cast<std::int64_t>(i));
    if (y[i].is_known() && y[i].value() < 0) c.fail("dimension " + std::to_string(i) + " becomes " + y[i].str());
  }
  c.out_shape(0, std::move(y));
}

/// The pads of all dimensions, those at the beginning first, where they are constant.
std::optional<std::vector<std::int64_t>> known_pads(const DecomposeContext& c, std::int64_t rank) {
  const Tensor *pads = c.constant(1), *given = c.constant(3);
  if (!pads || (c.has(3) && !given)) return std::nullopt;
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank)), all(static_cast<std::size_t>(2 * rank), 0);
  std::iota(axes.begin(), axes.end(), 0);
  if (given) axes = given->to_ints();
  const auto amounts = pads->to_ints();
  if (amounts.size() != 2 * axes.size()) return std::nullopt;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t axis = axes[k] < 0 ? axes[k] + rank : axes[k];
    if (axis < 0 || axis >= rank) return std::nullopt;
    all[static_cast<std::size_t>(axis)] = amounts[k];
    all[static_cast<std::size_t>(axis + rank)] = amounts[k + axes.size()];
  }
  return all;
}

/// The same where they are computed.
Value* computed_pads(DecomposeContext& c, std::int64_t rank) {
  GraphBuilder& g = c.g;
  if (!c.has(3)) return c.in(1);
  Value* given = g.cast(c.in(3), DType::i64);
  Value* axes = g.op("Mod", {given, g.ints({rank})});  // has the sign of the divisor: -1 becomes rank - 1
  Value* ends = g.add(axes, g.ints({rank}));
  Value* none = g.ints(std::vector<std::int64_t>(static_cast<std::size_t>(2 * rank), 0));
  Value* places = g.concat({axes, ends}, 0);
  return g.op("ScatterElements", {none, places, c.in(1)}, {{"axis", 0}});
}

/// Padding by the tensor's own other end: along each axis, the elements (i mod size) for i from -before to size +
/// after.
Values wrapped(DecomposeContext& c, std::int64_t rank, const std::vector<std::int64_t>& pads) {
  GraphBuilder& g = c.g;
  Value *x = c.in(0), *shape = g.shape(x), *one = g.index(1);
  for (std::int64_t k = 0; k < rank; ++k) {
    const std::int64_t before = pads[static_cast<std::size_t>(k)], after = pads[static_cast<std::size_t>(k + rank)];
    if (before == 0 && after == 0) continue;
    Value* size = g.op("Gather", {shape, g.index(k)});
    Value* end = g.add(size, g.index(after));
    Value* places = g.op("Range", {g.index(-before), end, one});
    x = g.op("Gather", {x, g.op("Mod", {places, size})}, {{"axis", k}});
  }
  return {x};
}

/// The same for any pads: what negative ones cut off counts neither as element nor as size.
Values wrapped_or_cut(DecomposeContext& c, std::int64_t rank, Value* pads) {
  GraphBuilder& g = c.g;
  Value *x = c.in(0), *shape = g.shape(x), *zero = g.index(0), *one = g.index(1);
  for (std::int64_t k = 0; k < rank; ++k) {
    Value* before = g.op("Gather", {pads, g.index(k)});
    Value* after = g.op("Gather", {pads, g.index(k + rank)});
    Value* size = g.op("Gather", {shape, g.index(k)});
    Value* start = g.neg(before);
    Value* low = g.op("Max", {start, zero});
    Value* high = g.add(g.op("Min", {after, zero}), size);
    Value* period = g.sub(high, low);
    Value* end = g.add(size, after);
    Value* places = g.op("Range", {start, end, one});
    Value* phase = g.op("Mod", {g.sub(places, low), period});
    x = g.op("Gather", {x, g.add(phase, low)}, {{"axis", k}});
  }
  return {x};
}

Values decompose(DecomposeContext& c) {
  const auto rank = c.rank(0);
  if (c.attr("mode", "constant") != "wrap" || !rank || !c.has(1)) return {};
  const auto known = known_pads(c, *rank);
  if (!known) return wrapped_or_cut(c, *rank, computed_pads(c, *rank));
  if (std::ranges::all_of(*known, [](std::int64_t n) { return n >= 0; })) return wrapped(c, *rank, *known);
  return wrapped_or_cut(c, *rank, c.g.ints(*known));
}

Values gradient_pad(GradContext& c) {
  GraphBuilder& g = c.g;
  const std::string mode = c.attr("mode", "constant");
  if (mode != "constant") {
    return {c.back_to_picked(c.x(), c.dy(), [&](Value* places) {
      return g.op("Pad", {places, c.x(1), nullptr, c.x(3)}, {{"mode", mode}});
    })};
  }
  // Negative padding cuts off.
  Value* dx = g.op("Pad", {c.dy(), g.neg(c.x(1)), nullptr, c.x(3)});
  if (!c.wants(2)) return {dx};
  Value* inside = g.op("ReduceSum", {dx}, {{"keepdims", 0}});
  Value* all = g.op("ReduceSum", {c.dy()}, {{"keepdims", 0}});
  return {dx, nullptr, c.shaped(g.sub(all, inside), c.x(2))};
}

/// Where the elements of a padded axis come from; -1: from nowhere. Counts below 0 cut, before the rest is padded.
class PaddedAxis {
 public:
  PaddedAxis(const KernelContext& c, std::int64_t size, std::int64_t before, std::int64_t after)
      : before_(before), low_(before < 0 ? before + size < 0 ? size : -before : 0), high_(size) {
    if (after < 0) high_ = after + size < low_ ? low_ : size + after;
    constexpr std::int64_t kMost = std::int64_t{1} << 61;
    const auto first = checked_add(size, before), sum = first ? checked_add(*first, after) : first;
    if (!sum || *sum < 0 || before < -kMost || before > kMost)
      c.fail("a dimension of " + std::to_string(size) + " cannot be padded that way");
    count_ = *sum;
  }

  std::int64_t count() const { return count_; }

  std::int64_t source(std::int64_t i, const std::string& mode) const {
    const std::int64_t at = i - before_, size = high_ - low_;
    if (at >= low_ && at < high_) return at;
    if (size == 0 || mode == "constant") return -1;
    if (mode == "edge") return at < low_ ? low_ : high_ - 1;
    const std::int64_t period = mode == "wrap" ? size : std::max<std::int64_t>(2 * (size - 1), 1);
    const std::int64_t phase = ((at - low_) % period + period) % period;
    return low_ + (phase < size ? phase : period - phase);
  }

 private:
  std::int64_t before_, low_, high_, count_ = 0;
};

void run(KernelContext& c) {
  const Padding padding = read_padding(c);
  Array& y = c.make(0, c.in(0).dtype(), padding.dims);
  std::vector<IndexMap> maps;
  for (const Array& map : padding.maps) maps.push_back(map.data<std::int64_t>());
  gather_by_maps(c, c.in(0), maps, padding.fill, y);
}

}  // namespace

Padding read_padding(KernelContext& c) {
  const Array& x = c.in(0);
  const std::string mode = c.attr("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") c.fail("the mode is not known");
  const std::vector<std::size_t> axes = axes_of_input(c, 3, x.rank());
  const std::vector<std::int64_t> pads = list_of_ints(c, 1);
  if (pads.size() != 2 * axes.size())
    c.fail("there are " + std::to_string(pads.size()) + " pads for " + std::to_string(axes.size()) + " axes");
  Padding padding{.dims = x.dims(), .maps = {}, .fill = Array(x.dtype(), {})};
  if (c.has(2)) {
    padding.fill = c.in(2);
    if (padding.fill.size() != 1 || padding.fill.dtype() != x.dtype())
      c.fail("the value is not one element of the input's type");
  }
  Dims& dims = padding.dims;
  std::vector<PaddedAxis> padded;
  for (const std::int64_t size : dims) padded.emplace_back(c, size, 0, 0);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    padded[axes[k]] = PaddedAxis(c, dims[axes[k]], pads[k], pads[k + axes.size()]);
    dims[axes[k]] = padded[axes[k]].count();
  }
  if (tensor_size(dims) == 0) return padding;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    padding.maps.push_back(scratch(c, DType::i64, {dims[i]}));
    const auto map = padding.maps.back().mutable_data<std::int64_t>();
    for (std::size_t k = 0; k < map.size(); ++k) {
      map[k] = padded[i].source(static_cast<std::int64_t>(k), mode);
      if (map[k] < 0 && mode != "constant") c.fail("an empty dimension has nothing to be padded with");
    }
  }
  return padding;
}

constinit const OpDef defs::Pad = {
    .name = "Pad",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_pad,
};

}  // namespace ingot::ops
