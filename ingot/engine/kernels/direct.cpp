// Convolutions as plain sums on channels in blocks of eight: how filters lie, and what is done at once.
#include "ingot/engine/kernels/direct.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "ingot/base/budget.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/direct_rows.h"
#include "ingot/engine/pages.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kDepth = 512;         // inputs that one sum takes in before the next begins
constexpr std::int64_t kStrip = 96;          // neighbouring results where a plane is one row
constexpr std::int64_t kInputs = 64 * 1024;  // floats that a piece of work reads again and again
constexpr double kPiece = 1 << 20;           // multiplications of a piece of work, if there are enough
constexpr double kSmall = 1 << 18;           // multiplications for which it does not pay to wake another thread
constexpr std::int64_t kMostPieces = 16;     // of an image

std::int64_t parts_of(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }

/// Memory of this thread, kept for the next convolution.
float* room(std::int64_t floats) {
  thread_local std::shared_ptr<std::byte> kept;
  thread_local std::int64_t size = 0;
  if (floats > size) {
    kept = take_pages(static_cast<std::size_t>(floats) * sizeof(float));
    size = floats;
  }
  return reinterpret_cast<float*>(kept.get());
}

/// One axis: how a filter lies along it. Axes that are not there have sizes of 1.
struct Axis {
  std::int64_t kernel = 1, stride = 1, dilation = 1, pad = 0, from = 1, to = 1;
  std::int64_t reach(std::int64_t results) const { return (results - 1) * stride + (kernel - 1) * dilation + 1; }
  bool is_inside() const { return pad == 0 && reach(to) <= from; }
  /// Whether some filter has this element on the image: where filters are larger, most meet padding alone.
  bool meets(std::int64_t tap) const {
    const std::int64_t first = tap * dilation - pad;
    return first < from && first + (to - 1) * stride >= 0;
  }
  bool is_single() const { return kernel == 1 && stride == 1 && pad == 0 && to == from; }
};

}  // namespace

struct DirectConvolution::State {
  ConvolutionSpec spec;
  Tensor weights;  // none once they are packed
  Dims kernel;
  std::int64_t out, in;  // channels of one group
  std::int64_t taps;     // elements of a filter
  std::int64_t unit;     // inputs that stand together: those of a block, or 1
  std::once_flag flag;
  std::shared_ptr<std::byte> packed;  // by group, register, unit of inputs, tap, input, result
  // Where zeros stand for nothing: sets of taps, and which of them each register has.
  std::vector<std::vector<bool>> patterns;
  std::vector<std::size_t> pattern_of;

  std::int64_t registers() const { return parts_of(out, kWide); }
  std::int64_t units() const { return parts_of(in, unit); }
  float* weights_of(std::int64_t group, std::int64_t reg, std::int64_t first_unit) const {
    return reinterpret_cast<float*>(packed.get()) +
           ((group * registers() + reg) * units() + first_unit) * unit * taps * kWide;
  }
  std::size_t pattern(std::int64_t group, std::int64_t reg) const {
    return pattern_of.empty() ? 0 : pattern_of[static_cast<std::size_t>(group * registers() + reg)];
  }
  void pack(std::int64_t group, std::int64_t reg) const;
  void find_patterns();
};

/// How the filters lie on the images of one run, and how the work is cut: by sizes only.
struct DirectConvolution::Layout {
  Axis depth, height, width;
  std::int64_t unit;
  bool is_flat, is_copied;       // a plane is one row; inputs are read from a copy with their padding
  std::int64_t in_plane, plane;  // floats of a unit of inputs, and of a block of results
  std::int64_t rows, length;     // of results, in each slice of a plane
  std::int64_t registers;        // of results at once
  std::int64_t units;            // of inputs that one sum takes in before the next begins
  std::int64_t piece_rows, row_pieces, piece_length, column_pieces, piece_registers, register_pieces;
  std::int64_t row_size, slice_size, unit_size;  // floats of what is read: of the image or the copy
  std::vector<std::vector<DirectTap>> taps;      // of so many units, by pattern

  Layout(const State& s, const Dims& dims, const Dims& out);
  std::int64_t slices() const { return is_flat ? 1 : depth.to; }
  std::int64_t length_of(const Piece& at, std::int64_t row) const {
    return is_flat ? std::min(length, plane / kBlock - row * length) : std::min(piece_length, length - at.column);
  }
  void copy(const float* x, std::int64_t count, const Piece& at, float* to) const;

 private:
  void cut(const State& s, std::int64_t images);
  void find_taps(const State& s);
  std::vector<DirectTap> taps_of(const State& s, const std::vector<bool>* pattern) const;
};

DirectConvolution::Layout::Layout(const State& s, const Dims& dims, const Dims& out) : unit(s.unit) {
  const std::size_t rank = s.kernel.size();
  Axis* const axes[] = {&depth, &height, &width};
  for (std::size_t i = 0; i < rank; ++i)
    *axes[3 - rank + i] = {s.kernel[i],          s.spec.strides[i], s.spec.dilations[i],
                           s.spec.pads_begin[i], dims[i + 2],       out[i + 2]};
  is_flat = unit == kBlock && depth.is_single() && height.is_single() && width.is_single();
  is_copied = !depth.is_inside() || !height.is_inside() || !width.is_inside();
  in_plane = depth.from * height.from * width.from * unit;
  plane = depth.to * height.to * width.to * kBlock;
  rows = height.to;
  length = width.to;
  if (is_flat) {
    const std::int64_t all = plane / kBlock, strips = parts_of(all, kStrip);
    length = parts_of(all, strips);
    rows = parts_of(all, length);
  }
  cut(s, dims[0]);
  row_size = (is_flat ? length : is_copied ? width.reach(piece_length) : width.from) * unit;
  slice_size = is_copied ? height.reach(piece_rows) * row_size : height.from * width.from * unit;
  unit_size = is_copied ? depth.kernel * slice_size : in_plane;
  find_taps(s);
}

void DirectConvolution::Layout::cut(const State& s, std::int64_t images) {
  units = std::min(s.units(), std::max<std::int64_t>(1, kDepth / (unit * s.taps)));
  // Short rows have too few sums to keep the arithmetic units busy.
  const bool is_short = length <= 4 && unit == kBlock && width.stride <= 2;
  registers = s.registers() == 1 ? 1 : is_short ? 4 : 2;
  // Long rows are copied in parts.
  const std::int64_t parts = is_copied ? parts_of(units * unit * width.reach(length), kInputs) : 1;
  piece_length = std::max(std::min(length, kStrip), parts_of(length, parts));
  column_pieces = parts_of(length, piece_length);
  const std::int64_t row_inputs = units * unit * (is_flat ? length : height.stride * width.reach(piece_length));
  const std::int64_t fitting = std::max<std::int64_t>(4, kInputs / row_inputs);
  const double work = static_cast<double>(rows * length) * static_cast<double>(s.out * s.in * s.taps);
  const std::int64_t groups = images * s.spec.groups * slices();
  const auto wanted = static_cast<std::int64_t>(
      std::clamp(work / kPiece, 1.0, std::max(1.0, static_cast<double>(kMostPieces / groups))));
  row_pieces = std::max(parts_of(rows, fitting), std::min(wanted, parts_of(rows, 4)));
  piece_rows = parts_of(rows, row_pieces);
  row_pieces = parts_of(rows, piece_rows);
  const std::int64_t together = parts_of(s.registers(), registers);
  piece_registers = parts_of(together, std::min(together, parts_of(wanted, row_pieces * column_pieces))) * registers;
  register_pieces = parts_of(s.registers(), piece_registers);
}

void DirectConvolution::Layout::find_taps(const State& s) {
  for (std::size_t i = 0; i < std::max<std::size_t>(1, s.patterns.size()); ++i)
    taps.push_back(taps_of(s, s.patterns.empty() ? nullptr : &s.patterns[i]));
}

std::vector<DirectTap> DirectConvolution::Layout::taps_of(const State& s, const std::vector<bool>* pattern) const {
  std::vector<DirectTap> found;
  found.reserve(static_cast<std::size_t>(units * s.taps));
  const std::int64_t slice_step = is_copied ? slice_size : depth.dilation * slice_size;
  std::int64_t weights = 0;
  for (std::int64_t i = 0; i < units; ++i)
    for (std::int64_t z = 0; z < depth.kernel; ++z)
      for (std::int64_t y = 0; y < height.kernel; ++y)
        for (std::int64_t x = 0; x < width.kernel; ++x, weights += unit * kWide) {
          const auto tap = static_cast<std::size_t>((z * height.kernel + y) * width.kernel + x);
          const std::int64_t at = i * unit_size + z * slice_step + y * height.dilation * row_size;
          if (depth.meets(z) && height.meets(y) && width.meets(x) && (!pattern || (*pattern)[tap]))
            found.push_back({at + x * width.dilation * unit, weights});
        }
  return found;
}

/// What the filters of a piece meet, of so many units of inputs.
void DirectConvolution::Layout::copy(const float* x, std::int64_t count, const Piece& at, float* to) const {
  const std::int64_t lines = height.reach(std::min(piece_rows, rows - at.row));
  const std::int64_t top = at.row * height.stride - height.pad, first = at.column * width.stride - width.pad;
  const std::int64_t wide = row_size / unit, left = std::clamp<std::int64_t>(-first, 0, wide);
  const std::int64_t begin = first + left, there = std::clamp<std::int64_t>(width.from - begin, 0, wide - left);
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t z = 0; z < depth.kernel; ++z) {
      const std::int64_t from_slice = at.slice * depth.stride - depth.pad + z * depth.dilation;
      float* out = to + i * unit_size + z * slice_size;
      for (std::int64_t line = top; line < top + lines; ++line, out += row_size) {
        if (from_slice < 0 || from_slice >= depth.from || line < 0 || line >= height.from || there == 0) {
          std::fill_n(out, row_size, 0.0f);
          continue;
        }
        const float* in = x + i * in_plane + ((from_slice * height.from + line) * width.from + begin) * unit;
        std::fill_n(out, left * unit, 0.0f);
        std::memcpy(out + left * unit, in, static_cast<std::size_t>(there * unit) * sizeof(float));
        std::fill(out + (left + there) * unit, out + row_size, 0.0f);
      }
    }
}

bool DirectConvolution::has_registers() { return has_wide_registers(); }

bool DirectConvolution::is_for(const ConvolutionSpec& spec, const Dims& weights) {
  if (!spec.output_is_blocked || weights.size() < 3 || weights.size() > 5) return false;
  // What filters meet is copied with its padding: not where they reach far, or lie far apart.
  constexpr std::int64_t kFar = 256, kFarAlongRow = 4096, kApart = 8;
  std::int64_t reach = 1;
  for (std::size_t i = 0; i < spec.strides.size(); ++i) {
    const std::int64_t kernel = weights[i + 2], most = weights.size() == 3 ? kFarAlongRow : kFar;
    if (spec.pads_begin[i] < 0 || spec.strides[i] > kApart || kernel > most || spec.dilations[i] > most) return false;
    reach *= (kernel - 1) * spec.dilations[i] + 1;
    if (reach > kFarAlongRow) return false;
  }
  return spec.groups == 1 ||
         (spec.input_is_blocked && weights[1] % kBlock == 0 && weights[0] / spec.groups % kBlock == 0);
}

DirectConvolution::DirectConvolution(ConvolutionSpec spec, Tensor weights) : state_(std::make_unique<State>()) {
  State& s = *state_;
  const Dims& dims = weights.dims();
  s.kernel.assign(dims.begin() + 2, dims.end());
  s.taps = tensor_size(s.kernel);
  s.out = dims[0] / spec.groups;
  s.in = dims[1];
  s.unit = spec.input_is_blocked ? kBlock : 1;
  s.spec = std::move(spec);
  s.weights = std::move(weights);
}

DirectConvolution::~DirectConvolution() = default;

void DirectConvolution::State::pack(std::int64_t group, std::int64_t reg) const {
  float* to = weights_of(group, reg, 0);
  std::fill_n(to, units() * unit * taps * kWide, 0.0f);
  std::vector<float> row(static_cast<std::size_t>(in * taps));
  const std::size_t bytes = row.size() * sizeof(float);
  for (std::int64_t j = 0; j < std::min(kWide, out - reg * kWide); ++j) {
    const auto channel = static_cast<std::size_t>(group * out + reg * kWide + j);
    const float by = spec.factor.empty() ? 1.0f : spec.factor[channel];
    std::memcpy(row.data(), weights.bytes().data() + channel * bytes, bytes);
    for (std::int64_t k = 0; k < in; ++k)
      for (std::int64_t tap = 0; tap < taps; ++tap)
        to[((k / unit * taps + tap) * unit + k % unit) * kWide + j] =
            row[static_cast<std::size_t>(k * taps + tap)] * by;
  }
}

void DirectConvolution::State::find_patterns() {
  for (std::int64_t i = 0; i < spec.groups * registers(); ++i) {
    std::vector<bool> pattern(static_cast<std::size_t>(taps), false);
    const float* at = weights_of(0, i, 0);
    for (std::int64_t tap = 0; tap < units() * taps; ++tap, at += unit * kWide)
      if (std::any_of(at, at + unit * kWide, [](float w) { return w != 0; }))
        pattern[static_cast<std::size_t>(tap % taps)] = true;
    const auto known = std::ranges::find(patterns, pattern);
    pattern_of.push_back(static_cast<std::size_t>(known - patterns.begin()));
    if (known == patterns.end()) patterns.push_back(std::move(pattern));
  }
}

void DirectConvolution::prepare(ThreadPool& pool, const Budget& budget) const {
  State& s = *state_;
  std::call_once(s.flag, [&] {
    const std::int64_t count = s.spec.groups * s.registers(), size = s.units() * s.unit * s.taps * kWide;
    s.packed = take_pages(static_cast<std::size_t>(count * size) * sizeof(float));
    pool.parallel_for(count, std::max<std::int64_t>(1, (1 << 16) / size), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t i = begin; i < end; ++i) s.pack(i / s.registers(), i % s.registers());
    });
    if (s.spec.has_gaps) s.find_patterns();
    drop_pages(s.weights.bytes());
    s.weights = {};
  });
}

/// Some rows of some registers of results.
void DirectConvolution::run_piece(const Layout& l, const Piece& at, const float* x, float* y,
                                  const BlockedEpilogue& epilogue, const Budget& budget) const {
  const State& s = *state_;
  const std::int64_t row_end = std::min(l.rows, at.row + l.piece_rows);
  const std::int64_t reg_end = std::min(s.registers(), at.reg + l.piece_registers), blocks = parts_of(s.out, kBlock);
  float* const copied = l.is_copied ? room(l.units * l.unit_size) : nullptr;
  const float* const image = x + at.group * s.units() * l.in_plane;  // groups follow each other, and so do images
  for (std::int64_t unit = 0; unit < s.units(); unit += l.units) {
    budget.poll();
    const std::int64_t units = std::min(l.units, s.units() - unit);
    const float* from = image + unit * l.in_plane;
    if (l.is_copied) {
      l.copy(from, units, at, copied);
      from = copied;
    } else {
      from += at.slice * l.depth.stride * l.slice_size + at.row * l.height.stride * l.row_size;
    }
    for (std::int64_t reg = at.reg, count; reg < reg_end; reg += count) {
      count = std::min(l.registers, reg_end - reg);
      if (count == 3) count = 2;
      const std::int64_t group = at.group % s.spec.groups;
      const std::size_t pattern = s.pattern(group, reg);
      for (std::int64_t other = 1; other < count; ++other)
        if (s.pattern(group, reg + other) != pattern) count = other == 3 ? 2 : other;
      const std::int64_t first = (at.group * blocks + 2 * reg) * l.plane;
      DirectRow part{};
      part.taps = l.taps[pattern].data();
      part.count = std::ssize(l.taps[pattern]) / l.units * units;
      part.step = l.width.stride * l.unit;
      part.weights = s.weights_of(group, reg, unit);
      part.weights_stride = s.units() * s.unit * s.taps * kWide;
      part.y_stride = l.plane;
      part.blocks = std::min(2 * count, blocks - 2 * reg);
      part.is_first = unit == 0;
      part.is_last = unit + units == s.units();
      if (epilogue.bias) part.bias = epilogue.bias + group * s.out + reg * kWide;
      part.low = epilogue.low;
      part.high = epilogue.high;
      const std::int64_t begin = first + ((at.slice * l.rows + at.row) * l.length + at.column) * kBlock;
      for (std::int64_t row = at.row; row < row_end; ++row) {
        const std::int64_t place = begin + (row - at.row) * l.length * kBlock;
        part.x = from + (row - at.row) * l.height.stride * l.row_size;
        part.y = y + place;
        part.residual = epilogue.residual ? epilogue.residual + place : nullptr;
        sum_row(part, l.length_of(at, row), count, l.unit);
      }
      if (part.is_last) apply_functions(l, at, row_end, part.blocks, y + begin);
    }
  }
}

void DirectConvolution::apply_functions(const Layout& l, const Piece& at, std::int64_t row_end, std::int64_t blocks,
                                        float* y) const {
  // Rows that follow each other are one.
  const bool is_whole = l.column_pieces == 1;
  const std::int64_t rows = row_end - at.row, last = l.length_of(at, row_end - 1);
  const std::int64_t size = (is_whole ? (rows - 1) * l.length + last : last) * kBlock;
  for (std::int64_t k = 0; k < blocks; ++k)
    for (std::int64_t row = 0; row < (is_whole ? 1 : rows); ++row) {
      float* const to = y + k * l.plane + row * l.length * kBlock;
      for (const ElementStep& step : state_->spec.functions) apply(step.unary, to, to, size, step.a, step.b);
    }
}

void DirectConvolution::run(const float* x, const Dims& dims, float* y, const Dims& out,
                            const BlockedEpilogue& epilogue, ThreadPool& pool, const Budget& budget) const {
  prepare(pool, budget);
  const State& s = *state_;
  const Layout l(s, dims, out);
  const std::int64_t of_column = l.register_pieces, of_row = l.column_pieces * of_column;
  const std::int64_t of_slice = l.row_pieces * of_row, of_group = l.slices() * of_slice;
  const std::int64_t pieces = dims[0] * s.spec.groups * of_group;
  const double work = static_cast<double>(dims[0] * s.spec.groups) * static_cast<double>(l.plane / kBlock) *
                      static_cast<double>(s.out * s.in * s.taps);
  pool.parallel_for(pieces, work < kSmall ? pieces : 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Piece at{i / of_group, i % of_group / of_slice, i % of_slice / of_row * l.piece_rows,
                     i % of_row / of_column * l.piece_length, i % of_column * l.piece_registers};
      run_piece(l, at, x, y, epilogue, budget);
    }
  });
}

}  // namespace ingot::engine
