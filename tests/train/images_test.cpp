// Pictures: their sizes, the order of their axes, and how they change while a model learns.
#include <gtest/gtest.h>

#include <algorithm>

#include "ingot/engine/session.h"
#include "ingot/ir/model.h"
#include "ingot/ops/builder.h"
#include "ingot/train/dataset.h"
#include "ingot/train/new_head.h"
#include "tests/support/refusal.h"

namespace ingot::train {
namespace {

Array picture(std::int64_t height, std::int64_t width, const std::vector<std::uint8_t>& pixels) {
  return Array::of<std::uint8_t>({height, width, std::ssize(pixels) / (height * width)}, pixels);
}

std::vector<std::int64_t> sized(const Array& image, const std::string& how) {
  return resized(image, parse_image_size(how)).to_ints();
}

TEST(Resize, OfTheSameSizeChangesNothing) {
  const Array image = picture(2, 3, {1, 2, 3, 4, 5, 6});
  for (const char* how : {"stretch 2x3", "crop 2x3", "pad 2x3"}) EXPECT_EQ(sized(image, how), image.to_ints()) << how;
}

TEST(Resize, ThatShrinksAverages) {
  EXPECT_EQ(sized(picture(1, 4, {0, 0, 200, 200}), "1x1"), std::vector<std::int64_t>{100});
  const std::vector<std::int64_t> flat = sized(picture(7, 5, std::vector<std::uint8_t>(35, 90)), "3x2");
  EXPECT_TRUE(std::ranges::all_of(flat, [](std::int64_t v) { return v == 90; }));
}

TEST(Resize, CropsTheMiddleAndPadsAround) {
  const Array wide = picture(1, 3, {10, 20, 30});
  EXPECT_EQ(sized(wide, "crop 1x1"), std::vector<std::int64_t>{20});
  EXPECT_EQ(sized(wide, "pad 3x3"), (std::vector<std::int64_t>{0, 0, 0, 10, 20, 30, 0, 0, 0}));
  EXPECT_REFUSED(Code::bad_usage, parse_image_size("squeeze"));
  EXPECT_REFUSED(Code::bad_usage, parse_image_size("crop 0x4"));
}

TEST(Augmentation, OfNothingIsThePictureItself) {
  const ImageAxes axes = *image_axes({1, 3, 4});
  std::vector<float> from(12), to(12);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i * i);
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    augment(from.data(), to.data(), axes, {}, draw);
    EXPECT_EQ(from, to);
  }
}

TEST(Augmentation, FlipsHalfOfThePictures) {
  const Augmentation how = parse_augmentation("flip");
  const std::vector<float> from = {1, 2, 3, 4, 5, 6};
  std::vector<float> to(6);
  int flipped = 0;
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    augment(from.data(), to.data(), *image_axes({2, 3}), how, draw * 0x9e3779b97f4a7c15);
    const bool is_flipped = to == std::vector<float>{3, 2, 1, 6, 5, 4};
    EXPECT_TRUE(is_flipped || to == from);
    flipped += is_flipped;
  }
  EXPECT_GT(flipped, 70);
  EXPECT_LT(flipped, 130);
}

TEST(Augmentation, StaysWithinThePictureAndFollowsItsDraw) {
  const Augmentation how = parse_augmentation("crop:0.5,rotate:30,shift,vflip");
  std::vector<float> from(64), a(64), b(64);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
  augment(from.data(), a.data(), *image_axes({8, 8}), how, 7);
  augment(from.data(), b.data(), *image_axes({8, 8}), how, 7);
  EXPECT_EQ(a, b);
  EXPECT_GE(*std::ranges::min_element(a), 0);
  EXPECT_LE(*std::ranges::max_element(a), 63);
  augment(from.data(), b.data(), *image_axes({8, 8}), how, 8);
  EXPECT_NE(a, b);
  EXPECT_REFUSED(Code::bad_usage, parse_augmentation("crop:2"));
  EXPECT_REFUSED(Code::bad_usage, parse_augmentation("flip:1"));
}

Model taking(const Shape& shape) {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", 21);
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, shape));
  model.graph->add_output(GraphBuilder(*model.graph).op("Relu", {x}));
  return model;
}

TEST(Batch, MovesChannelsAndKeepsEverythingElse) {
  Dataset data;
  data.columns.emplace_back("x", Array::of<float>({1, 2, 2, 3}, {1, 10, 100, 2, 20, 200, 3, 30, 300, 4, 40, 400}));
  data.count = 1;
  const auto batch = batch_of(data, taking({Dim::symbol("N"), 3, 2, 2}), {}, {0});
  EXPECT_EQ(batch[0].value.array()->to_doubles(),
            (std::vector<double>{1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400}));
  data.preparation.mean = {0, 10, 100};
  data.preparation.deviation = {1, 10, 100};
  const auto treated = batch_of(data, taking({Dim::symbol("N"), 3, 2, 2}), {}, {0});
  EXPECT_EQ(treated[0].value.array()->to_doubles(), (std::vector<double>{1, 2, 3, 4, 0, 1, 2, 3, 0, 1, 2, 3}));
  // The same number of elements is not the same thing.
  EXPECT_REFUSED(Code::bad_training_data, batch_of(data, taking({Dim::symbol("N"), 2, 3, 2}), {}, {0}));
}

TEST(NewHead, ReplacesTheLastLayerAndWhatFollowsIt) {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", 21);
  Graph& graph = *model.graph;
  Value* x = graph.add_input("x", Type::tensor(DType::f32, Shape{Dim::symbol("N"), 3, 4, 4}));
  GraphBuilder g(graph);
  Value* w = graph.add_initializer("w", Tensor::of<float>({10, 3, 1, 1}, std::vector<float>(30, 0.5f)));
  Value* b = graph.add_initializer("b", Tensor::of<float>({10}, std::vector<float>(10, 1.0f)));
  Value* pooled = g.op("GlobalAveragePool", {g.op("Conv", {x, w, b})});
  Value* y = g.op("Softmax", {g.reshape(pooled, {-1, 10})});
  graph.rename(y, "y");
  graph.add_output(y);
  EXPECT_EQ(class_count(model), 10);
  replace_head(model, 4, 1);
  EXPECT_EQ(class_count(model), 4);
  EXPECT_EQ(graph.find("w")->initializer->dims(), (Dims{4, 3, 1, 1}));
  EXPECT_EQ(graph.find("b")->initializer->to_doubles(), std::vector<double>(4, 0.0));
  const engine::Session session(model);
  const auto results = session.run({{"x", Array::of<float>({2, 3, 4, 4}, std::vector<float>(96, 1.0f))}});
  EXPECT_EQ(results[0].value.array()->dims(), (Dims{2, 4}));
  Model plain = taking({Dim::symbol("N"), 4});
  EXPECT_REFUSED(Code::bad_usage, replace_head(plain, 2, 1));
}

}  // namespace
}  // namespace ingot::train
