// MediaPipe's operators on landmarks: the window around some of them, what an image or points look like in it.
#include <cmath>

#include "ingot/formats/tflite/flexbuffer.h"
#include "ingot/frontends/tflite/spatial.h"
#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

constexpr std::int64_t kMostSide = 1 << 14;  // of an image

tfl::FlexValue second_version(const Op& op) {
  op.require(op.source.code.version == 2, "version 2 of the operator is known, not this one");
  return tfl::read_flexbuffer(op.source.custom_options);
}

double number_of(const Op& op, const tfl::FlexValue& options, const char* key) {
  const tfl::FlexValue* found = options.find(key);
  op.require(found != nullptr, std::string("the option ") + key + " is missing");
  const double value = found->number(NAN);
  op.require(std::isfinite(value), std::string("the option ") + key + " is no number");
  return value;
}

std::int64_t side_of(const Op& op, const tfl::FlexValue& options, const char* key) {
  const double side = number_of(op, options, key);
  op.require(side >= 1 && side <= kMostSide, std::string("the option ") + key + " is out of bounds");
  return static_cast<std::int64_t>(side);
}

struct Point {
  Value *x, *y;  // of one shape
};

/// The points of these numbers, [count, 1] each.
Point points(Op& op, const Ints& numbers) {
  Value* all = op.b.reshape(op.real(0), {-1, 3});
  Value* which = op.b.ints(numbers);
  Value* some = op.b.op("Gather", {all, which}, {{"axis", 0}});
  Value* sizes = op.b.ints({1, 1, 1});
  const Values parts = op.b.op("Split", {some, sizes}, {{"axis", 1}}, 3);
  return {parts[0], parts[1]};
}

/// The first two rows of the matrix, [2, 4].
Value* two_rows(Op& op, std::size_t input) {
  Value* matrix = op.b.reshape(op.real(input), {4, 4});
  Value* start = op.b.ints({0});
  Value* end = op.b.ints({2});
  return op.b.op("Slice", {matrix, start, end, start});
}

/// Columns of [.., 4] from `first` on.
Value* columns(Op& op, Value* x, std::int64_t first, std::int64_t end) {
  Value* from = op.b.ints({first});
  Value* to = op.b.ints({end});
  Value* axis = op.b.ints({-1});
  return op.b.op("Slice", {x, from, to, axis});
}

/// a b + c d
Value* sum_of_products(Op& op, Value* a, Value* b, Value* c, Value* d) {
  Value* first = op.b.mul(a, b);
  Value* second = op.b.mul(c, d);
  return op.b.add(first, second);
}
Value* difference_of_products(Op& op, Value* a, Value* b, Value* c, Value* d) {
  Value* first = op.b.mul(a, b);
  Value* second = op.b.mul(c, d);
  return op.b.sub(first, second);
}

/// Zeros and ones of a row, in the matrix's type.
Value* row_of(Op& op, const std::vector<double>& values) { return op.b.constant(float_tensor({1, 4}, values)); }

}  // namespace

void landmarks_to_transform_matrix(Op& op) {
  const tfl::FlexValue options = second_version(op);
  const auto left_index = static_cast<std::int64_t>(number_of(op, options, "left_rotation_idx"));
  const auto right_index = static_cast<std::int64_t>(number_of(op, options, "right_rotation_idx"));
  const double target = number_of(op, options, "target_rotation_radians");
  const auto width = static_cast<double>(side_of(op, options, "output_width"));
  const auto height = static_cast<double>(side_of(op, options, "output_height"));
  Ints subset;
  const tfl::FlexValue* list = options.find("subset_idxs");
  op.require(list && std::holds_alternative<tfl::FlexValue::List>(list->value), "the option subset_idxs is no list");
  for (const tfl::FlexValue& item : std::get<tfl::FlexValue::List>(list->value)) subset.push_back(item.integer(-1));
  op.require(!subset.empty(), "there are no landmarks to cover");

  // The turn that brings the line from left to right into the wanted direction, by its sine and cosine.
  const Point left = points(op, {left_index}), right = points(op, {right_index});
  Value* dx = op.b.sub(right.x, left.x);
  Value* dy = op.b.sub(right.y, left.y);
  Value* length = op.b.op("Sqrt", {sum_of_products(op, dx, dx, dy, dy)});
  Value* is_point = op.b.op("Equal", {length, op.b.scalar(0, DType::f32)});
  Value* one = op.b.scalar(1, DType::f32);
  Value* safe = op.b.where(is_point, one, length);
  Value* cos_line = op.b.where(is_point, one, op.b.div(dx, safe));
  Value* sin_line = op.b.div(dy, safe);
  Value* cos_target = op.b.scalar(std::cos(target), DType::f32);
  Value* sin_target = op.b.scalar(std::sin(target), DType::f32);
  Value* cos_turn = sum_of_products(op, cos_line, cos_target, sin_line, sin_target);
  Value* sin_turn = difference_of_products(op, cos_line, sin_target, sin_line, cos_target);

  // The box around the turned landmarks, its centre turned back.
  const Point all = points(op, subset);
  Value* x = difference_of_products(op, all.x, cos_turn, all.y, sin_turn);
  Value* y = sum_of_products(op, all.x, sin_turn, all.y, cos_turn);
  const auto bound = [&](ops::Name reduction, Value* of) {
    Value* along = op.b.ints({0});
    return op.b.op(reduction, {of, along}, {{"keepdims", 1}});
  };
  Value* right_end = bound("ReduceMax", x);
  Value* left_end = bound("ReduceMin", x);
  Value* bottom = bound("ReduceMax", y);
  Value* top = bound("ReduceMin", y);
  Value* middle_x = op.b.mul(op.b.add(right_end, left_end), 0.5);
  Value* middle_y = op.b.mul(op.b.add(bottom, top), 0.5);
  Value* centre_x = sum_of_products(op, middle_x, cos_turn, middle_y, sin_turn);
  Value* centre_y = difference_of_products(op, middle_y, cos_turn, middle_x, sin_turn);
  Value* scale_x = op.b.mul(op.b.sub(right_end, left_end), number_of(op, options, "scale_x") / width);
  Value* scale_y = op.b.mul(op.b.sub(bottom, top), number_of(op, options, "scale_y") / height);

  // From a place in the window to one in the image: moved by half the window, scaled, turned, moved to the centre.
  Value* xx = op.b.mul(cos_turn, scale_x);
  Value* xy = op.b.mul(sin_turn, scale_y);
  Value* yx = op.b.neg(op.b.mul(sin_turn, scale_x));
  Value* yy = op.b.mul(cos_turn, scale_y);
  const auto offset = [&](Value* centre, Value* from_x, Value* from_y) {
    Value* half_x = op.b.mul(from_x, width / 2);
    Value* half_y = op.b.mul(from_y, height / 2);
    return op.b.sub(centre, op.b.add(half_x, half_y));
  };
  Value* offset_x = offset(centre_x, xx, xy);
  Value* offset_y = offset(centre_y, yx, yy);
  Value* zero = op.b.constant(float_tensor({1, 1}, {0}));
  Value* first = op.b.concat({xx, xy, zero, offset_x}, 1);
  Value* second = op.b.concat({yx, yy, zero, offset_y}, 1);
  Value* third = row_of(op, {0, 0, 1, 0});
  Value* fourth = row_of(op, {0, 0, 0, 1});
  Value* rows = op.b.concat({first, second, third, fourth}, 0);
  op.set_real(0, op.b.reshape(rows, {1, 4, 4}));
}

void transform_tensor_bilinear(Op& op) {
  const tfl::FlexValue options = second_version(op);
  const std::int64_t height = side_of(op, options, "output_height"), width = side_of(op, options, "output_width");
  const auto dims = op.dims(0);
  op.require(dims && dims->size() == 4 && (*dims)[1] > 1 && (*dims)[2] > 1, "the size of the image is not known");
  // Centres of the new pixels: x, y, 0, 1.
  std::vector<double> centres;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      centres.insert(centres.end(), {static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5, 0, 1});
  Value* places = op.b.constant(float_tensor({height * width, 4}, centres));
  Value* rows = two_rows(op, 1);
  Value* turned = op.b.transpose(rows, {1, 0});
  Value* found = op.b.op("MatMul", {places, turned});
  Value* old = op.b.sub(found, 0.5);  // [places, 2]: x and y in the old image, counted from pixel to pixel
  const auto right = static_cast<double>((*dims)[2] - 1), bottom = static_cast<double>((*dims)[1] - 1);
  // A place outside of the image gives nothing, even where a part of its pixels lies inside.
  Value* edges = op.b.constant(float_tensor({1, 2}, {right, bottom}));
  Value* is_behind = op.b.op("GreaterOrEqual", {old, op.b.scalar(0, DType::f32)});
  Value* is_before = op.b.op("LessOrEqual", {old, edges});
  Value* inside = op.b.cast(op.b.op("And", {is_behind, is_before}), DType::f32);
  Value* along = op.b.ints({1});
  Value* mask = op.b.op("ReduceMin", {inside, along}, {{"keepdims", 0}});
  Value* ratio = op.b.constant(float_tensor({1, 2}, {2 / right, 2 / bottom}));
  Value* grid = op.b.reshape(op.b.sub(op.b.mul(old, ratio), 1), {1, height, width, 2});
  Value* image = spatial_input(op, 0);
  Value* sampled = op.b.op("GridSample", {image, grid}, {{"mode", "linear"}, {"align_corners", 1}});
  Value* whole = op.b.reshape(mask, {1, 1, height, width});
  set_spatial(op, op.b.mul(sampled, whole));
}

void transform_landmarks(Op& op) {
  const tfl::FlexValue options = second_version(op);
  // The second version need not state what the last dimension of the landmarks tells.
  const Ints& dims = op.tensor(0).shape;
  const double last = dims.empty() ? 0 : static_cast<double>(dims.back());
  const double dimensions = options.find("dimensions") ? number_of(op, options, "dimensions") : last;
  op.require((dimensions == 2 || dimensions == 3) && dimensions == last, "landmarks have 2 or 3 dimensions");
  Value* rows = two_rows(op, 1);
  Value* turn = op.b.transpose(columns(op, rows, 0, 2), {1, 0});
  Value* shift = op.b.reshape(columns(op, rows, 3, 4), {1, 1, 2});
  Value* landmarks = op.real(0);
  Value* flat = columns(op, landmarks, 0, 2);
  Value* moved = op.b.add(op.b.op("MatMul", {flat, turn}), shift);
  if (dimensions == 3) moved = op.b.concat({moved, columns(op, landmarks, 2, 3)}, -1);
  op.set_real(0, moved);
}

}  // namespace ingot::frontends::tflite
