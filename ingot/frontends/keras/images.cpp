// Preparation of images.
#include <algorithm>
#include <cmath>

#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

struct Frame {
  std::int64_t height_axis = 1, width_axis = 2, rank = 4;
};

Frame frame_of(const Call& call) {
  const std::int64_t rank = call.rank();
  call.require(rank == 3 || rank == 4, "the input is no image");
  const std::int64_t first = rank - 3 + (call.is_channels_first() ? 1 : 0);
  return {first, first + 1, rank};
}

Attrs interpolation(const Call& call, const std::string& how) {
  if (how == "nearest")
    return {
        {"mode", "nearest"}, {"coordinate_transformation_mode", "half_pixel"}, {"nearest_mode", "round_prefer_ceil"}};
  if (how == "bilinear") return {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel"}};
  if (how == "bicubic")
    return {{"mode", "cubic"},
            {"coordinate_transformation_mode", "half_pixel"},
            {"cubic_coeff_a", -0.5},
            {"exclude_outside", 1}};
  call.refuse("interpolation '" + how + "' has no translation", "nearest, bilinear or bicubic have one");
}

}  // namespace

namespace {

struct Sizes {
  std::int64_t height = 0, width = 0;
};

/// The middle part of the image that has the proportions of `to`.
IrValue* cropped_to_proportions(Call& call, IrValue* x, const Frame& frame, const Sizes& to) {
  GraphBuilder& b = call.b;
  const std::int64_t rows = call.size(0, frame.height_axis), columns = call.size(0, frame.width_axis);
  const auto within = [](double wanted, std::int64_t most) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, most);
  };
  const std::int64_t height = within(static_cast<double>(columns * to.height) / static_cast<double>(to.width), rows);
  const std::int64_t width = within(static_cast<double>(rows * to.width) / static_cast<double>(to.height), columns);
  const std::int64_t top = (rows - height) / 2, left = (columns - width) / 2;
  return b.op("Slice", {x, b.ints({top, left}), b.ints({top + height, left + width}),
                        b.ints({frame.height_axis, frame.width_axis})});
}

/// The image in the middle of one that has the proportions of `to`.
IrValue* padded_to_proportions(Call& call, IrValue* x, const Frame& frame, const Sizes& to) {
  GraphBuilder& b = call.b;
  const std::int64_t rows = call.size(0, frame.height_axis), columns = call.size(0, frame.width_axis);
  const auto height = std::max<std::int64_t>(
      rows, static_cast<std::int64_t>(static_cast<double>(columns * to.height) / static_cast<double>(to.width)));
  const auto width = std::max<std::int64_t>(
      columns, static_cast<std::int64_t>(static_cast<double>(rows * to.width) / static_cast<double>(to.height)));
  const std::int64_t top = (height - rows) / 2, left = (width - columns) / 2;
  if (call.text("fill_mode", "constant") != "constant")
    call.refuse("padding by other than a constant has no translation");
  return b.op("Pad",
              {x, b.ints({top, left, height - rows - top, width - columns - left}),
               b.scalar(call.number("fill_value", 0), x->type.elem), b.ints({frame.height_axis, frame.width_axis})});
}

/// Runtimes resize the last two of four axes.
IrValue* resized(Call& call, IrValue* x, const Frame& frame, const Sizes& to, Attrs attrs) {
  GraphBuilder& b = call.b;
  const bool is_alone = frame.rank == 3, is_last = !call.is_channels_first();
  if (is_alone) x = b.unsqueeze(x, {0});
  if (is_last) x = b.transpose(x, {0, 3, 1, 2});
  IrValue* outer = b.op("Slice", {b.shape(x), b.ints({0}), b.ints({2}), b.ints({0})});
  IrValue* y = b.op("Resize", {x, nullptr, nullptr, b.concat({outer, b.ints({to.height, to.width})}, 0)}, attrs);
  if (is_last) y = b.transpose(y, {0, 2, 3, 1});
  return is_alone ? b.squeeze(y, {0}) : y;
}

/// As Keras makes images fit that are not of the size of a crop.
IrValue* made_to_fit(Call& call, const Frame& frame, const Sizes& to) {
  IrValue* x = call.b.cast(call.in(), call.elem());
  return resized(call, cropped_to_proportions(call, x, frame, to), frame, to, interpolation(call, "bilinear"));
}

}  // namespace

void resizing(Call& call) {
  const Frame frame = frame_of(call);
  const Sizes to{call.integer("height"), call.integer("width")};
  call.require(to.height > 0 && to.width > 0, "it has bad sizes");
  IrValue* x = call.b.cast(call.in(), call.elem());
  Attrs attrs = interpolation(call, call.text("interpolation", "bilinear"));
  if (call.flag("antialias", false)) attrs.emplace_back("antialias", 1);
  if (call.flag("crop_to_aspect_ratio", false)) x = cropped_to_proportions(call, x, frame, to);
  if (call.flag("pad_to_aspect_ratio", false)) x = padded_to_proportions(call, x, frame, to);
  call.set(resized(call, x, frame, to, attrs));
}

void center_crop(Call& call) {
  GraphBuilder& b = call.b;
  const Frame frame = frame_of(call);
  const std::int64_t height = call.integer("height"), width = call.integer("width");
  call.require(height > 0 && width > 0, "it has bad sizes");
  const std::int64_t rows = call.size(0, frame.height_axis), columns = call.size(0, frame.width_axis);
  if (rows < height || columns < width) return call.set(made_to_fit(call, frame, {height, width}));
  const std::int64_t top = (rows - height) / 2, left = (columns - width) / 2;
  call.set(b.op("Slice", {call.in(), b.ints({top, left}), b.ints({top + height, left + width}),
                          b.ints({frame.height_axis, frame.width_axis})}));
}

/// Each channel of each image from its darkest to its brightest over all of the range.
void auto_contrast(Call& call) {
  GraphBuilder& b = call.b;
  const Frame frame = frame_of(call);
  const Config range = call.at("value_range");
  const double least = range[0].as_number().value_or(0), most = range[1].as_number().value_or(255);
  call.require(most > least, "its range of values is empty");
  IrValue* x = b.cast(call.in(), call.elem());
  IrValue* axes = b.ints({frame.rank - 3, frame.rank - 2});
  const auto scaled = [&](IrValue* v, double from, double from_end, double to, double to_end) {
    return from == to && from_end == to_end ? v : b.add(b.mul(b.sub(v, from), (to_end - to) / (from_end - from)), to);
  };
  IrValue* in = scaled(x, least, most, 0, 255);
  IrValue* low = b.op("ReduceMin", {in, axes}, {{"keepdims", 1}});
  IrValue* high = b.op("ReduceMax", {in, axes}, {{"keepdims", 1}});
  IrValue* scale = b.div(255, b.sub(high, low));
  IrValue* y = b.sub(b.mul(in, scale), b.mul(low, scale));
  y = b.op("Clip", {y, b.scalar(0, call.elem()), b.scalar(255, call.elem())});
  y = scaled(y, 0, 255, least, most);
  // A channel of one value stays as it is.
  call.set(b.where(b.op("Equal", {high, low}), x, y));
}

/// While running, images that have the size already pass, and others are resized.
void random_crop(Call& call) {
  const Frame frame = frame_of(call);
  const Sizes to{call.integer("height"), call.integer("width")};
  call.require(to.height > 0 && to.width > 0, "it has bad sizes");
  if (dim_of(call.in(), frame.height_axis) == to.height && dim_of(call.in(), frame.width_axis) == to.width)
    return identity(call);
  call.set(made_to_fit(call, frame, to));
}

namespace {

/// An image [batch, rows, columns, channels] and the tiles it is cut into.
struct TileGrid {
  std::int64_t rows, columns, channels, grid_rows, grid_columns, tile_rows, tile_columns;
};

constexpr std::int64_t kGreyLevels = 256;

/// Filled up to whole tiles by a mirror that repeats the edge.
IrValue* filled_tiles(GraphBuilder& b, IrValue* x, const TileGrid& t) {
  const auto along = [&](IrValue* v, std::int64_t axis, std::int64_t size, std::int64_t wanted) {
    if (size == wanted) return v;
    Ints places;
    for (std::int64_t i = 0; i < wanted; ++i) places.push_back(i % (2 * size) < size ? i % size : size - 1 - i % size);
    return b.op("Gather", {v, b.ints(places)}, {{"axis", axis}});
  };
  x = along(x, 1, t.rows, t.tile_rows * t.grid_rows);
  return along(x, 2, t.columns, t.tile_columns * t.grid_columns);
}

/// What becomes of each level in each tile: [batch, grid rows, grid columns, channels, levels], 0 to 255.
IrValue* level_curves(Call& call, IrValue* levels, const TileGrid& t) {
  GraphBuilder& b = call.b;
  const double pixels = static_cast<double>(t.tile_rows * t.tile_columns);
  IrValue* tiles = b.reshape(levels, {0, t.grid_rows, t.tile_rows, t.grid_columns, t.tile_columns, t.channels});
  tiles = b.reshape(b.transpose(tiles, {0, 1, 3, 5, 2, 4}), {0, 0, 0, 0, -1});
  IrValue* head = b.op("Slice", {b.shape(tiles), b.ints({0}), b.ints({4})});
  IrValue* none = b.op("Expand", {b.scalar(0, DType::f32), b.concat({head, b.ints({kGreyLevels})}, 0)});
  IrValue* ones = b.op("Expand", {b.scalar(1, DType::f32), b.shape(tiles)});
  IrValue* counts = b.op("ScatterElements", {none, tiles, ones}, {{"axis", -1}, {"reduction", "add"}});
  if (const double limit = call.number("clip_limit", 4); limit > 0) {
    IrValue* most = b.scalar(limit * pixels / static_cast<double>(kGreyLevels), DType::f32);
    IrValue* cut = b.op("Min", {counts, most});
    IrValue* excess = b.op("ReduceSum", {b.sub(counts, cut), b.ints({-1})});
    counts = b.add(cut, b.div(excess, static_cast<double>(kGreyLevels)));
  }
  IrValue* sums = b.op("CumSum", {counts, b.index(-1)});
  IrValue* least = b.op("ReduceMin", {sums, b.ints({-1})});
  IrValue* range = b.sub(pixels, least);
  range = b.where(b.op("Equal", {range, b.scalar(0, DType::f32)}), b.scalar(1, DType::f32), range);
  IrValue* y = b.div(b.mul(b.sub(sums, least), 255.0), range);
  return b.op("Clip", {y, b.scalar(0, DType::f32), b.scalar(255, DType::f32)});
}

/// Between which two tiles each row or column lies, and how far from the first; tiles are repeated at the ends.
struct TileNeighbours {
  Ints first, second;
  std::vector<float> share;
};
TileNeighbours tile_neighbours(std::int64_t count, std::int64_t tile) {
  TileNeighbours n;
  for (std::int64_t i = 0; i < count * tile; ++i) {
    const double at = (static_cast<double>(i) - static_cast<double>(tile) / 2) / static_cast<double>(tile) + 1;
    n.first.push_back(static_cast<std::int64_t>(std::floor(at)));
    n.second.push_back(std::min(n.first.back() + 1, count + 1));
    n.share.push_back(static_cast<float>(at - std::floor(at)));
  }
  return n;
}

/// Each pixel by the curves of the four tiles around it.
IrValue* by_curves(GraphBuilder& b, IrValue* levels, IrValue* curve, const TileGrid& t) {
  const auto repeated_ends = [&](IrValue* v, std::int64_t axis, std::int64_t count) {
    Ints places{0};
    for (std::int64_t i = 0; i < count; ++i) places.push_back(i);
    places.push_back(count - 1);
    return b.op("Gather", {v, b.ints(places)}, {{"axis", axis}});
  };
  curve = repeated_ends(repeated_ends(curve, 1, t.grid_rows), 2, t.grid_columns);
  const std::int64_t of_column = kGreyLevels * t.channels, of_row = of_column * (t.grid_columns + 2);
  const TileNeighbours rows = tile_neighbours(t.grid_rows, t.tile_rows),
                       columns = tile_neighbours(t.grid_columns, t.tile_columns);
  IrValue* batch = b.reshape(counted(b, size_of(b, levels, 0)), {-1, 1, 1, 1});
  IrValue* base = b.add(levels, b.mul(batch, static_cast<double>(of_row * (t.grid_rows + 2))));
  base = b.add(base, b.mul(counted(b, b.index(t.channels)), static_cast<double>(kGreyLevels)));
  IrValue* list = b.reshape(curve, {-1});
  const auto at = [&](const Ints& row, const Ints& column) {
    IrValue* down = b.mul(b.reshape(b.ints(row), {1, -1, 1, 1}), static_cast<double>(of_row));
    IrValue* across = b.mul(b.reshape(b.ints(column), {1, 1, -1, 1}), static_cast<double>(of_column));
    return b.op("Gather", {list, b.add(b.add(base, down), across)}, {{"axis", 0}});
  };
  const auto share = [&](const std::vector<float>& values, const Ints& sizes) {
    return b.reshape(b.constant(Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values)), sizes);
  };
  IrValue *down = share(rows.share, {1, -1, 1, 1}), *across = share(columns.share, {1, 1, -1, 1});
  const auto between = [&](IrValue* u, IrValue* v, IrValue* part) {
    return b.add(b.mul(u, b.sub(1, part)), b.mul(v, part));
  };
  IrValue* above = between(at(rows.first, columns.first), at(rows.first, columns.second), across);
  IrValue* below = between(at(rows.second, columns.first), at(rows.second, columns.second), across);
  return between(above, below, down);
}

}  // namespace

/// Adaptive equalization of histograms, whose steps are limited (CLAHE).
void local_equalization(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = call.in();
  const DType type = x->type.elem;
  const std::int64_t rank = call.rank();
  call.require(rank == 3 || rank == 4, "the input is no image");
  if (rank == 3) x = b.unsqueeze(x, {0});
  if (call.is_channels_first()) x = b.transpose(x, {0, 2, 3, 1});
  const Ints grid = call.ints("tile_grid_size", 2, 8);
  const auto rows = dim_of(x, 1), columns = dim_of(x, 2), channels = dim_of(x, 3);
  call.require(rows && columns && channels && *rows > 0 && *columns > 0 && *channels > 0,
               "the size of the image is not known");
  constexpr std::int64_t kMost = 1 << 16;
  call.require(
      grid[0] > 0 && grid[1] > 0 && grid[0] <= kMost && grid[1] <= kMost && *rows <= kMost && *columns <= kMost,
      "its number of tiles is impossible");
  const TileGrid t{*rows,
                   *columns,
                   *channels,
                   grid[0],
                   grid[1],
                   (*rows + grid[0] - 1) / grid[0],
                   (*columns + grid[1] - 1) / grid[1]};

  const Config range = call.at("value_range");
  const double low = range[0].as_number().value_or(0), high = range[1].as_number().value_or(255);
  call.require(high != low, "its range is empty");
  const bool is_scaled = low != 0 || high != 255;
  x = b.cast(x, DType::f32);
  if (is_scaled) x = b.mul(b.sub(x, low), 255 / (high - low));
  IrValue* clipped = b.op("Clip", {filled_tiles(b, x, t), b.scalar(0, DType::f32), b.scalar(255, DType::f32)});
  IrValue* levels = b.cast(clipped, DType::i64);
  IrValue* y = by_curves(b, levels, level_curves(call, levels, t), t);
  y = b.op("Slice", {y, b.ints({0, 0}), b.ints({*rows, *columns}), b.ints({1, 2})});
  if (is_scaled) y = b.add(b.mul(y, (high - low) / 255), low);
  y = b.cast(y, type);
  if (call.is_channels_first()) y = b.transpose(y, {0, 3, 1, 2});
  call.set(rank == 3 ? b.squeeze(y, {0}) : y);
}

}  // namespace ingot::frontends::keras
