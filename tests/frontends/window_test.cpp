// Windows in ONNX's attributes.
#include "ingot/frontends/window.h"

#include <gtest/gtest.h>

#include "ingot/frontends/channels_last.h"
#include "ingot/ir/model.h"

namespace ingot::frontends {
namespace {

using Ints = std::vector<std::int64_t>;

class WindowTest : public testing::Test {
 protected:
  Value* input(Shape shape) {
    return model_.graph->add_input(model_.graph->fresh_name("x"), Type::tensor(DType::f32, std::move(shape)));
  }
  static std::string names(const Attrs& attrs) {
    std::string all;
    for (const Attr& attr : attrs) all += (all.empty() ? "" : " ") + std::string(attr.name);
    return all;
  }
  Model model_;
};

TEST_F(WindowTest, SaysOnlyWhatIsUnusual) {
  EXPECT_EQ(names(Window{{{3, 3}, {1, 1}, {1, 1}}}.attrs(true)), "kernel_shape");
  EXPECT_EQ(names(Window{{{3, 3}, {2, 1}, {1, 2}}}.attrs(false)), "strides dilations");
}

TEST_F(WindowTest, PadsBySizesWhereTheyAreKnown) {
  const Window window{{{3, 2}, {2, 1}, {}}, true};
  EXPECT_EQ(window.same_pads(input({Dim(1), Dim(8), Dim(6), Dim(5)})), (Ints{0, 0, 1, 1}));
  EXPECT_EQ(window.same_pads(input({Dim(1), Dim(8), Dim(), Dim(5)})), std::nullopt);
  Attrs attrs;
  window.pad(attrs, input({Dim(1), Dim(8), Dim(), Dim(5)}));
  EXPECT_EQ(names(attrs), "auto_pad");
}

TEST_F(WindowTest, AWindowOfOneNeedsNoSizes) {
  const Window window{{{1, 1}, {2, 2}, {}}, true};
  EXPECT_EQ(window.same_pads(input({Dim(1), Dim(8), Dim(), Dim()})), (Ints{0, 0, 0, 0}));
  Attrs attrs;
  window.pad(attrs, input({Dim(1), Dim(8), Dim(), Dim()}));
  EXPECT_TRUE(attrs.empty());
}

TEST_F(WindowTest, ChannelsMoveToTheFrontAndBack) {
  GraphBuilder g(*model_.graph);
  Value* x = input({Dim(2), Dim(4), Dim(5), Dim(3)});
  Value* first = channels_first(g, x, 4);
  EXPECT_EQ(first->type.str(), "float[2,3,4,5]");
  EXPECT_EQ(channels_last(g, first, 4)->type.str(), "float[2,4,5,3]");
  EXPECT_EQ(filter_channels_first(g, input({Dim(5), Dim(7), Dim(3), Dim(8)}), 2)->type.str(), "float[8,3,5,7]");
}

}  // namespace
}  // namespace ingot::frontends
