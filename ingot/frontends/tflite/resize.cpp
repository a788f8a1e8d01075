// Resizing, element for element as TFLite computes it.
#include <algorithm>
#include <cmath>

#include "ingot/frontends/tflite/spatial.h"
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

struct Mode {
  bool align = false, half = false;
  const char* coordinates() const { return align ? "align_corners" : half ? "half_pixel" : "asymmetric"; }
};

Mode mode_of(const Op& op) {
  const Mode mode{op.options.get_bool("align_corners"), op.options.get_bool("half_pixel_centers")};
  return mode;
}

/// Which element TFLite takes for output i.
std::int64_t nearest_in_tflite(Mode mode, std::int64_t i, std::int64_t in, std::int64_t out) {
  const float scale = mode.align && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                            : static_cast<float>(in) / static_cast<float>(out);
  const float place = (static_cast<float>(i) + (mode.half ? 0.5F : 0.0F)) * scale;
  const auto taken = static_cast<std::int64_t>(mode.align ? std::round(place) : std::floor(place));
  return std::clamp<std::int64_t>(taken, 0, in - 1);
}

/// Which one ONNX's Resize takes, in the arithmetic that runtimes use.
std::int64_t nearest_in_onnx(Mode mode, std::int64_t i, std::int64_t in, std::int64_t out) {
  const float scale = static_cast<float>(out) / static_cast<float>(in);
  float place = static_cast<float>(i) / scale;
  if (mode.align)
    place = out == 1 ? 0.0F : static_cast<float>(i) * static_cast<float>(in - 1) / static_cast<float>(out - 1);
  else if (mode.half)
    place = (static_cast<float>(i) + 0.5F) / scale - 0.5F;
  const float taken = mode.align || mode.half ? std::floor(place + 0.5F) : std::floor(place);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(taken), 0, in - 1);
}

/// All sizes of the result where they are known, since that is the form every runtime knows; else the spatial ones.
Value* sizes_of(Op& op, const Value* x, Attrs& attrs) {
  const auto size = op.known_ints(1);
  const auto& shape = x->type.shape;
  if (size && size->size() == 2 && shape && shape->size() == 4 && (*shape)[0].is_known() && (*shape)[1].is_known())
    return op.b.ints({(*shape)[0].value(), (*shape)[1].value(), (*size)[0], (*size)[1]});
  attrs.emplace_back("axes", Ints{2, 3});
  return op.index_list(1);
}

}  // namespace

void resize_bilinear(Op& op) {
  const Mode mode = mode_of(op);
  Value* x = spatial_input(op, 0);
  Attrs attrs{{"mode", "linear"}, {"coordinate_transformation_mode", mode.coordinates()}};
  Value* sizes = sizes_of(op, x, attrs);
  Value* y = op.b.op("Resize", {x, nullptr, nullptr, sizes}, attrs);
  set_spatial(op, y);
}

void resize_nearest(Op& op) {
  const Mode mode = mode_of(op);
  const auto size = op.known_ints(1);
  const auto& shape = op.stored(0)->type.shape;
  bool agrees = true;
  Ints rows[2];
  if (size && size->size() == 2 && shape && shape->size() == 4 && (*shape)[1].is_known() && (*shape)[2].is_known()) {
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t in = (*shape)[d + 1].value(), out = (*size)[d];
      op.require(out >= 0 && out <= std::int64_t{1} << 24, "the size asked for is out of bounds");
      for (std::int64_t i = 0; i < out; ++i) {
        rows[d].push_back(nearest_in_tflite(mode, i, in, out));
        agrees &= rows[d].back() == nearest_in_onnx(mode, i, in, out);
      }
    }
  }
  if (!agrees) {
    return op.move(0, [&](Value* x) {
      Value* vertical = op.b.ints(rows[0]);
      Value* tall = op.b.op("Gather", {x, vertical}, {{"axis", 1}});
      Value* horizontal = op.b.ints(rows[1]);
      return op.b.op("Gather", {tall, horizontal}, {{"axis", 2}});
    });
  }
  op.move(0, [&](Value* input) {
    Value* x = channels_first(op.b, input);
    Attrs attrs{{"mode", "nearest"},
                {"coordinate_transformation_mode", mode.coordinates()},
                {"nearest_mode", mode.align || mode.half ? "round_prefer_ceil" : "floor"}};
    Value* sizes = sizes_of(op, x, attrs);
    Value* y = op.b.op("Resize", {x, nullptr, nullptr, sizes}, attrs);
    return channels_last(op.b, y);
  });
}

}  // namespace ingot::frontends::tflite
