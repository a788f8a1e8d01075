#include "ingot/api/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ingot/ingot.h"

namespace ingot {
namespace {

using testing::ElementsAre;

TEST(PublicSession, RunsModelsWithGradientOperators) {
  const Model model = parse_model(R"(<ir_version: 10, opset_import: ["" : 21, "ai.onnx.preview.training" : 1]>
g (double a) => (double da) {
  y = Mul(a, a)
  da = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a)
})");
  const auto outputs = Session(model).run({{"a", Array::scalar(3.0)}});
  EXPECT_THAT(outputs[0].value.array()->to_doubles(), ElementsAre(6));
}

TEST(PublicSession, RunsModelsThatCarryTheirTraining) {
  const Model model = parse_model(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 2] x) => (float[1, 2] y) <float[2, 2] w = {1, 2, 3, 4}> { y = MatMul(x, w) })");
  MakeTrainableOptions how;
  how.training.loss.name = "mse";
  const auto outputs = Session(make_trainable(model, how)).run({{"x", Array::of<float>({1, 2}, {1, 1})}});
  EXPECT_THAT(outputs[0].value.array()->to_doubles(), ElementsAre(4, 6));
}

TEST(PublicSession, RefusesWhatCheckRefusesUnlessToldOtherwise) {
  const Model model = parse_model(R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 3] x) => (float[2, 3] y) <float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}> {
  h = MatMul(x, w)
  [soft] y = Softmax <axes = 1> (h)
})");
  TrainingOptions how;
  how.loss.name = "mse";
  for (const auto& make :
       std::vector<std::function<void()>>{[&] { Session session(model); }, [&] { Trainer trainer(model, how); }}) {
    try {
      make();
      FAIL() << "an attribute that does not exist was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_attribute);
      EXPECT_THAT(error.what(), testing::HasSubstr("node 'soft' (Softmax): the operator has no attribute 'axes'"));
    }
  }
  SessionOptions unchecked;
  unchecked.requires_valid = false;
  EXPECT_NO_THROW(Session(model, unchecked));
}

TEST(PublicTrainer, LearnsFromBatchesAndOutlivesTheModel) {
  TrainingOptions how;
  how.loss.name = "mse";
  how.optimizer.lr = 0.1;
  Trainer trainer = [&] {
    const Model model = parse_model(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[N, 1] x) => (float[N, 1] y) <float[1, 1] w = {0}> { y = MatMul(x, w) })");
    return Trainer(model, how);
  }();
  const std::vector<NamedDatum> batch = {{"x", Array::of<float>({2, 1}, {1, 2})},
                                         {trainer.target_name(), Array::of<float>({2, 1}, {3, 6})}};
  for (int i = 0; i < 60; ++i) trainer.step(batch);
  EXPECT_NEAR(initializers_of(trainer.trained())[0].value.at<float>(0), 3, 1e-3);
}

}  // namespace
}  // namespace ingot
