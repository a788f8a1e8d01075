// Functions for what PyTorch has no single operator for; a file holds those that it calls.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/torch/script.h"
#include "ingot/base/error.h"

namespace ingot::backends::torch {
namespace {

/// `code` is both TorchScript and Python; words with @ are spelled by the dialect.
struct Function {
  std::string_view name, code;
};

constexpr Function kFunctions[] = {
    {"all_axes", R"(def all_axes(x: Tensor) -> List[int]:
  axes: List[int] = []
  for i in range(x.dim()):
    axes.append(i)
  return axes
)"},
    {"depth_to_space", R"(def depth_to_space(x: Tensor, block: int, columns_first: bool) -> Tensor:
  b, c, h, w = x.shape
  d = c // (block * block)
  if columns_first:
    y = x.reshape([b, d, block, block, h, w]).permute([0, 1, 4, 2, 5, 3])
  else:
    y = x.reshape([b, block, block, d, h, w]).permute([0, 3, 4, 1, 5, 2])
  return y.reshape([b, d, h * block, w * block])
)"},
    {"diagonal", R"(def diagonal(x: Tensor, k: int) -> Tensor:
  rows = torch.arange(x.size(0)).unsqueeze(1)
  return torch.arange(x.size(1)) - rows == k
)"},
    {"divide_unsigned", R"(def divide_unsigned(a: Tensor, b: Tensor) -> Tensor:
  lowest = torch.bitwise_not(torch.full_like(b, 9223372036854775807))
  some = torch.where(b > 0, b, torch.ones_like(b))
  half = (a >> 1) & 9223372036854775807
  quotient = torch.div(half, some, rounding_mode="trunc") * 2
  rest = a - quotient * b
  quotient = quotient + ((rest ^ lowest) >= (b ^ lowest)).to(@i64)
  return torch.where(b < 0, ((a ^ lowest) >= (b ^ lowest)).to(@i64), quotient)
)"},
    {"dropout", R"(def dropout(x: Tensor, ratio: float, drops: bool) -> Tuple[Tensor, Tensor]:
  mask = torch.rand(x.shape) >= ratio if drops else torch.ones(x.shape) > 0
  y = torch.where(mask, x / (1 - ratio), torch.zeros_like(x)) if drops else x
  return y, mask
)"},
    {"float_of_unsigned", R"(def float_of_unsigned(x: Tensor) -> Tensor:
  y = x.to(@f64)
  return torch.where(x < 0, y + 18446744073709551616.0, y)
)"},
    {"floats", R"(def floats(x: Tensor) -> List[float]:
  made: List[float] = []
  flat = x.reshape([-1])
  for i in range(flat.numel()):
    made.append(float(flat[i]))
  return made
)"},
    {"gather_nd", R"(def gather_nd(x: Tensor, places: Tensor, batch_dims: int) -> Tensor:
  count = places.size(-1)
  flat = torch.zeros(places.shape[:-1], dtype=@i64)
  rows = 1
  for i in range(batch_dims):
    own: List[int] = []
    for j in range(places.dim() - 1):
      own.append(-1 if i == j else 1)
    flat = flat * x.size(i) + torch.arange(x.size(i)).reshape(own)
    rows = rows * x.size(i)
  for i in range(count):
    n = x.size(batch_dims + i)
    at = places.select(-1, i)
    flat = flat * n + torch.where(at < 0, at + n, at)
    rows = rows * n
  return x.reshape([rows] + list(x.shape[batch_dims + count:]))[flat]
)"},
    {"inserted", R"(def inserted(items: List[Tensor], x: Tensor, place: int) -> List[Tensor]:
  at = place + len(items) if place < 0 else place
  return items[:at] + [x] + items[at:]
)"},
    {"ints", R"(def ints(x: Tensor) -> List[int]:
  made: List[int] = []
  flat = x.reshape([-1])
  for i in range(flat.numel()):
    made.append(int(flat[i]))
  return made
)"},
    {"local_response_norm",
     R"(def local_response_norm(x: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor:
  ends: List[int] = []
  for i in range(x.dim() - 2):
    ends.append(0)
    ends.append(0)
  ends.append((size - 1) // 2)
  ends.append(size // 2)
  near = torch.constant_pad_nd(x * x, ends, 0).unfold(1, size, 1).sum([-1])
  return x / (near * (alpha / size) + bias) ** beta
)"},
    {"non_max_suppression",
     R"(def non_max_suppression(boxes: Tensor, scores: Tensor, most: int, most_overlap: float, least_score: float, is_centered: bool) -> Tensor:
  if is_centered:
    center, size = boxes[:, :, :2], boxes[:, :, 2:]
    low, high = center - size / 2, center + size / 2
  else:
    low = torch.minimum(boxes[:, :, :2], boxes[:, :, 2:])
    high = torch.maximum(boxes[:, :, :2], boxes[:, :, 2:])
  area = (high - low).prod(-1)
  chosen: List[Tensor] = []
  for b in range(scores.size(0)):
    for c in range(scores.size(1)):
      kept: List[int] = []
      order = torch.sort(scores[b, c], dim=0, descending=True, stable=True)[1]
      for k in range(order.numel()):
        i = int(order[k])
        is_free = len(kept) < most and float(scores[b, c, i]) > least_score
        for j in kept:
          if is_free:
            inner = torch.clamp(torch.minimum(high[b, i], high[b, j]) - torch.maximum(low[b, i], low[b, j]), 0)
            both = inner.prod(0)
            if float(both / (area[b, i] + area[b, j] - both)) > most_overlap:
              is_free = False
        if is_free:
          kept.append(i)
          chosen.append(torch.tensor([b, c, i]))
  if len(chosen) == 0:
    return torch.zeros([0, 3], dtype=@i64)
  return torch.stack(chosen, 0)
)"},
    {"one_hot", R"(def one_hot(places: Tensor, depth: int, values: Tensor, axis: int) -> Tensor:
  at = places.unsqueeze(axis)
  own: List[int] = []
  for i in range(at.dim()):
    own.append(-1 if i == axis else 1)
  numbers = torch.arange(depth).reshape(own)
  return torch.where(torch.where(at < 0, at + depth, at) == numbers, values[1], values[0])
)"},
    {"ordered", R"(def ordered(x: Tensor) -> Tensor:
  return x ^ torch.bitwise_not(torch.full_like(x, 9223372036854775807))
)"},
    {"pad_by_place", R"(def pad_by_place(x: Tensor, ends: List[int], axes: List[int], mode: str) -> Tensor:
  y = x
  for i in range(len(axes)):
    n = y.size(axes[i])
    at = torch.arange(-ends[i], n + ends[i + len(axes)])
    if mode == "edge":
      at = torch.clamp(at, 0, n - 1)
    elif mode == "wrap":
      at = torch.remainder(at, n)
    else:
      period = max(2 * (n - 1), 1)
      at = torch.remainder(at, period)
      at = torch.where(at >= n, period - at, at)
    y = torch.index_select(y, axes[i], at)
  return y
)"},
    {"pad_ends", R"(def pad_ends(x: Tensor, ends: List[int], axes: List[int]) -> List[int]:
  made: List[int] = []
  for k in range(x.dim()):
    before = 0
    after = 0
    for i in range(len(axes)):
      axis = axes[i] + x.dim() if axes[i] < 0 else axes[i]
      if axis == x.dim() - 1 - k:
        before = ends[i]
        after = ends[i + len(axes)]
    made.append(before)
    made.append(after)
  return made
)"},
    {"prod_axes", R"(def prod_axes(x: Tensor, axes: List[int], keep: bool) -> Tensor:
  y = x
  for k in range(x.dim()):
    axis = x.dim() - 1 - k
    for a in axes:
      if a == axis or a + x.dim() == axis:
        y = torch.prod(y, axis, keep, dtype=x.dtype)
  return y
)"},
    {"reshape", R"(def reshape(x: Tensor, shape: List[int], allow_zero: bool) -> Tensor:
  made: List[int] = []
  for i in range(len(shape)):
    made.append(x.size(i) if not allow_zero and i < x.dim() and shape[i] == 0 else shape[i])
  return x.reshape(made)
)"},
    {"resize",
     R"(def resize(x: Tensor, axes: List[int], sizes: List[int], scales: List[float], mode: str, coordinates: str, rounding: str, a: float, is_inside: bool) -> Tensor:
  y = x
  for k in range(len(axes)):
    n = y.size(axes[k])
    scale = scales[k] if len(scales) > 0 else sizes[k] / n
    count = sizes[k] if len(sizes) > 0 else int(n * scale)
    at = torch.arange(count, dtype=@f64)
    if coordinates == "asymmetric":
      at = at / scale
    elif coordinates == "align_corners":
      at = at * ((n - 1) / (n * scale - 1)) if n * scale > 1 else at * 0
    elif coordinates == "tf_half_pixel_for_nn":
      at = (at + 0.5) / scale
    elif coordinates == "half_pixel_symmetric":
      at = n / 2 * (1 - count / (n * scale)) + (at + 0.5) / scale - 0.5
    elif coordinates == "pytorch_half_pixel" and count == 1:
      at = at * 0
    else:
      at = (at + 0.5) / scale - 0.5
    if mode != "nearest":
      low = torch.floor(at)
      own: List[int] = []
      for i in range(y.dim()):
        own.append(-1 if i == axes[k] or i == axes[k] + y.dim() else 1)
      parts: List[Tensor] = []
      shares: List[Tensor] = []
      for i in range(0 if mode == "linear" else -1, 2 if mode == "linear" else 3):
        far = torch.abs(at - low - i)
        share = 1 - far
        if mode == "cubic":
          near = ((a + 2) * far - (a + 3)) * far * far + 1
          share = torch.where(far <= 1, near, ((a * far - 5 * a) * far + 8 * a) * far - 4 * a)
        place = low + i
        if is_inside:
          share = torch.where((place < 0) | (place > n - 1), torch.zeros_like(share), share)
        shares.append(share)
        parts.append(torch.index_select(y, axes[k], torch.clamp(place, 0, n - 1).to(@i64)))
      whole = torch.stack(shares, 0).sum([0])
      y = torch.zeros_like(parts[0])
      for i in range(len(parts)):
        y = y + parts[i] * (shares[i] / whole).to(y.dtype).reshape(own)
    else:
      if rounding == "floor":
        at = torch.floor(at)
      elif rounding == "ceil":
        at = torch.ceil(at)
      elif rounding == "round_prefer_ceil":
        at = torch.floor(at + 0.5)
      else:
        at = torch.ceil(at - 0.5)
      y = torch.index_select(y, axes[k], torch.clamp(at, 0, n - 1).to(@i64))
  return y
)"},
    {"reverse_sequence", R"(def reverse_sequence(x: Tensor, lengths: Tensor, batch: int, time: int) -> Tensor:
  parts: List[Tensor] = []
  axis = time - 1 if time > batch else time
  for i in range(x.size(batch)):
    one = x.select(batch, i)
    n = int(lengths[i])
    head = torch.flip(one.narrow(axis, 0, n), [axis])
    parts.append(torch.cat([head, one.narrow(axis, n, one.size(axis) - n)], axis))
  return torch.stack(parts, batch)
)"},
    {"scatter_nd", R"(def scatter_nd(x: Tensor, places: Tensor, updates: Tensor, adds: bool) -> Tensor:
  count = places.size(-1)
  flat = torch.zeros(places.shape[:-1], dtype=@i64)
  rows = 1
  for i in range(count):
    n = x.size(i)
    at = places.select(-1, i)
    flat = flat * n + torch.where(at < 0, at + n, at)
    rows = rows * n
  flat = flat.reshape([-1])
  tail = list(x.shape[count:])
  table = x.reshape([rows] + tail)
  given = updates.reshape([flat.numel()] + tail)
  if adds:
    return table.index_add(0, flat, given).reshape(x.shape)
  return table.index_put([flat], given).reshape(x.shape)
)"},
    {"shift_right", R"(def shift_right(x: Tensor, by: Tensor) -> Tensor:
  some = torch.clamp(by, 1)
  y = (x >> some) & (torch.full_like(x, 9223372036854775807) >> (some - 1))
  return torch.where(by == 0, x, y)
)"},
    {"shifted", R"(def shifted(x: Tensor, axis: int, first: int) -> Tensor:
  y = x
  for k in range(x.dim()):
    if k == axis or k == axis + x.dim():
      head = torch.full_like(x.narrow(k, 0, 1), first)
      y = torch.cat([head, x.narrow(k, 0, x.size(k) - 1)], k)
  return y
)"},
    {"slice_axes",
     R"(def slice_axes(x: Tensor, starts: List[int], ends: List[int], axes: List[int], steps: List[int]) -> Tensor:
  y = x
  for axis in range(x.dim()):
    n = x.size(axis)
    for i in range(len(starts)):
      own = axes[i] if len(axes) > 0 else i
      if own == axis or own + x.dim() == axis:
        step = steps[i] if len(steps) > 0 else 1
        start = starts[i] + n if starts[i] < 0 else starts[i]
        end = ends[i] + n if ends[i] < 0 else ends[i]
        if step > 0:
          start = min(max(start, 0), n)
          end = min(max(end, start), n)
        else:
          start = min(max(start, -1), n - 1)
          end = min(max(end, -1), start)
        y = torch.index_select(y, axis, torch.arange(start, end, step))
  return y
)"},
    {"sorted_along", R"(def sorted_along(x: Tensor, axis: int, from_largest: bool) -> Tuple[Tensor, Tensor]:
  values, places = torch.sort(x, dim=axis, descending=from_largest, stable=True)
  return values, places
)"},
    {"space_to_depth", R"(def space_to_depth(x: Tensor, block: int) -> Tensor:
  b, c, h, w = x.shape
  y = x.reshape([b, c, h // block, block, w // block, block]).permute([0, 3, 5, 1, 2, 4])
  return y.reshape([b, c * block * block, h // block, w // block])
)"},
    {"spread", R"(def spread(x: Tensor, shape: List[int]) -> Tensor:
  made: List[int] = []
  rank = max(x.dim(), len(shape))
  for i in range(rank):
    own = i - (rank - x.dim())
    asked = i - (rank - len(shape))
    size = x.size(own) if own >= 0 else 1
    if asked >= 0:
      size = shape[asked] if size == 1 else size
    made.append(size)
  return x.expand(made)
)"},
    {"squeeze_axes", R"(def squeeze_axes(x: Tensor, axes: List[int]) -> Tensor:
  shape: List[int] = []
  for i in range(x.dim()):
    is_kept = True
    for a in axes:
      if a == i or a + x.dim() == i:
        is_kept = False
    if is_kept:
      shape.append(x.size(i))
  return x.reshape(shape)
)"},
    {"to_power_of_two", R"(def to_power_of_two(x: Tensor, mode: str, saturate: bool) -> Tensor:
  size = torch.abs(x.to(@f64))
  some = torch.clamp(size, 2.0 ** -127)
  exponent = torch.floor(torch.log2(some))
  fraction = some / torch.pow(2.0, exponent)
  if mode == "up":
    exponent = exponent + (fraction > 1).to(@f64)
  if mode == "nearest":
    exponent = exponent + (fraction >= 1.5).to(@f64)
  top = torch.pow(2.0, torch.clamp(exponent, -127, 127))
  y = top if saturate else torch.where(exponent > 127, torch.full_like(top, nan), top)
  return torch.where(torch.isinf(size) | torch.isnan(size), torch.full_like(y, nan), y).to(@f32)
)"},
    {"to_small_float",
     R"(def to_small_float(x: Tensor, mantissa: int, smallest: int, largest: float, over: float, no_number: float) -> Tensor:
  v = x.to(@f64)
  size = torch.abs(v)
  exponent = torch.floor(torch.log2(torch.where(size > 0, size, torch.ones_like(size))))
  step = torch.pow(2.0, torch.clamp(exponent, smallest, 1000) - mantissa)
  y = torch.round(size / step) * step
  y = torch.where(y > largest, torch.full_like(y, over), y)
  y = torch.where(v < 0, -y, y)
  return torch.where(torch.isnan(v), torch.full_like(y, no_number), y).to(@f32)
)"},
    {"unique", R"(def unique(x: Tensor, axis: int, is_sorted: bool) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
  y, inverse, counts = @unique
  order = torch.sort(inverse, dim=0, descending=False, stable=True)[1]
  first = order[torch.cumsum(counts, 0) - counts]
  if not is_sorted:
    by_place = torch.argsort(first)
    y = torch.index_select(y, axis, by_place)
    inverse = torch.argsort(by_place)[inverse]
    counts = counts[by_place]
    first = first[by_place]
  return y, first, inverse, counts
)"},
    {"unsigned_of_float", R"(def unsigned_of_float(x: Tensor) -> Tensor:
  y = torch.clamp(x.to(@f64), 0)
  return torch.where(y >= 9223372036854775808.0, y - 18446744073709551616.0, y).to(@i64)
)"},
    {"unsqueeze_axes", R"(def unsqueeze_axes(x: Tensor, axes: List[int]) -> Tensor:
  rank = x.dim() + len(axes)
  shape: List[int] = []
  k = 0
  for i in range(rank):
    is_new = False
    for a in axes:
      if a == i or a + rank == i:
        is_new = True
    if is_new:
      shape.append(1)
    else:
      shape.append(x.size(k))
      k = k + 1
  return x.reshape(shape)
)"},
    {"without", R"(def without(items: List[Tensor], place: int) -> List[Tensor]:
  at = place + len(items) if place < 0 else place
  return items[:at] + items[at + 1:]
)"},
};
static_assert(std::ranges::is_sorted(kFunctions, {}, &Function::name), "keep the functions sorted");

/// The function in the words of a dialect, with its own indentation.
std::string spelled(std::string_view code, const Script& script) {
  const std::pair<std::string_view, std::string> words[] = {
      {"@f32", script.type(DType::f32)},
      {"@f64", script.type(DType::f64)},
      {"@i64", script.type(DType::i64)},
      {"@unique", script.is_source() ? "torch.unique(x, return_inverse=True, return_counts=True, dim=axis)"
                                     : "torch.unique_dim(x, axis, True, True, True)"}};
  std::string made;
  bool is_at_start = true;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const auto word = std::ranges::find_if(words, [&](const auto& w) { return code.substr(i).starts_with(w.first); });
    is_at_start &= code[i] == ' ';
    if (word != std::end(words)) {
      made += word->second;
      i += word->first.size() - 1;
    } else {
      made += code[i];
      if (is_at_start && script.is_source()) made += ' ';  // Python's people indent by four
    }
    is_at_start |= code[i] == '\n';
  }
  return made;
}

}  // namespace

std::string Script::function(std::string_view name) {
  const auto row = std::ranges::find(kFunctions, name, &Function::name);
  if (row == std::end(kFunctions)) throw Error(Code::internal, fmt::format("there is no script function '{}'", name));
  functions_.emplace(name);
  return (is_source() ? "" : "__torch__.") + std::string(name);
}

bool Script::is_function(std::string_view name) {
  return std::ranges::find(kFunctions, name, &Function::name) != std::end(kFunctions);
}

std::string Script::functions() const {
  std::string code;
  for (const Function& f : kFunctions)
    if (functions_.contains(f.name)) code += spelled(f.code, *this) + (is_source() ? "\n\n" : "");
  return code;
}

}  // namespace ingot::backends::torch
