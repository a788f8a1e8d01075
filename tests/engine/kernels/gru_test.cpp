// GRU and RNN, fast and by the reference kernel.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

struct Case {
  std::int64_t hidden, gates;
  bool resets_after;
  std::vector<std::int32_t> lengths = {};
  std::vector<std::string> functions = {};  // of both directions
  float clip = 0;                           // 0: none
};

class Gru : public testing::TestWithParam<Case> {};

TEST_P(Gru, AgreesInEveryDirection) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    Random random(7);
    Model model = empty_model();
    const auto& [hidden, gates, resets_after, lengths, functions, clip] = GetParam();
    const std::int64_t count = std::string_view(direction) == "bidirectional" ? 2 : 1, inputs = 5;
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{6, 3, inputs}));
    GraphBuilder g(*model.graph);
    Value* w = g.constant(random.floats({count, gates * hidden, inputs}));
    const float most = 2 / std::sqrt(static_cast<float>(hidden));
    Value* r = g.constant(random.floats({count, gates * hidden, hidden}, -most, most));
    Value* b = g.constant(random.floats({count, 2 * gates * hidden}));
    Value* h = g.constant(random.floats({count, 3, hidden}));
    Attrs attrs = {{"hidden_size", hidden}, {"direction", direction}};
    if (gates == 3) attrs.emplace_back("linear_before_reset", resets_after);
    if (!functions.empty()) {
      const auto end = functions.begin() + std::ssize(functions) * count / 2;
      attrs.emplace_back("activations", std::vector<std::string>(functions.begin(), end));
    }
    if (clip > 0) attrs.emplace_back("clip", clip);
    Value* ends = lengths.empty() ? nullptr : g.constant(Tensor::of<std::int32_t>({3}, lengths));
    const Values inputs_of = {x, w, r, b, ends, h};
    const Values y = gates == 3 ? g.op("GRU", inputs_of, attrs, 2) : g.op("RNN", inputs_of, attrs, 2);
    model.graph->add_output(g.concat({g.reshape(y[0], {-1}), g.reshape(y[1], {-1})}, 0));
    expect_same(model, Array::from(random.floats({6, 3, inputs})), 1e-5f);
    for (const KernelChoice& choice : Session(model, {.threads = 1}).kernels())
      EXPECT_TRUE(choice.kernel == "gru" || (choice.op != "GRU" && choice.op != "RNN")) << choice.op;
  }
}

INSTANTIATE_TEST_SUITE_P(Units, Gru,
                         testing::Values(Case{3, 3, true}, Case{19, 3, true}, Case{64, 3, true}, Case{64, 3, false},
                                         Case{32, 3, false}, Case{19, 1, false}, Case{64, 1, false}, Case{19, 3, false},
                                         Case{50, 3, false, {6, 1, 3}}, Case{64, 3, true, {0, 6, 2}},
                                         Case{19, 1, false, {0, 0, 5}},
                                         Case{20, 3, false, {}, {"HardSigmoid", "Tanh", "Sigmoid", "Softplus"}},
                                         Case{20, 3, true, {2, 2, 2}, {"HardSigmoid", "Elu", "Sigmoid", "Tanh"}, 0.5f},
                                         Case{20, 1, false, {}, {"Relu", "LeakyRelu"}, 0.75f}));

}  // namespace
}  // namespace ingot::engine
