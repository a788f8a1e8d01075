#include "ingot/api/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ingot/ingot.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

using testing::ElementsAre;

constexpr const char* kDouble = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[N] x) => (float[N] y) { y = Add(x, x) })";
constexpr const char* kLine = R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[N, 1] x) => (float[N, 1] y) <float[1, 1] w = {0}> { y = MatMul(x, w) })";

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
    const Model model = parse_model(kLine);
    return Trainer(model, how);
  }();
  const std::vector<NamedDatum> batch = {{"x", Array::of<float>({2, 1}, {1, 2})},
                                         {trainer.target_name(), Array::of<float>({2, 1}, {3, 6})}};
  for (int i = 0; i < 60; ++i) trainer.step(batch);
  EXPECT_NEAR(initializers_of(trainer.trained())[0].value.at<float>(0), 3, 1e-3);
}

TEST(PublicSession, CallsANodeWithoutANameByWhatItMakes) {
  const Session session(parse_model(
      "<ir_version: 8, opset_import: [\"\": 17]> g (float[2] x, int64[1] i) => (float[1] y) { y = Gather(x, i) }"));
  const std::vector<NamedDatum> inputs = {{"x", Array::of<float>({2}, {1, 2})},
                                          {"i", Array::of<std::int64_t>({1}, {7})}};
  try {
    session.run(inputs);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("the node that makes 'y' (Gather): "), 0u) << error.what();
    EXPECT_EQ(error.node(), "the node that makes 'y'");
  }
}

TEST(PublicSession, SaysThatItWasMovedFrom) {
  const Model model = parse_model(kDouble);
  Session session(model);
  const Session moved = std::move(session);
  const std::vector<NamedDatum> inputs = {{"x", Array::of<float>({1}, {2})}};
  EXPECT_THAT(moved.run(inputs)[0].value.array()->to_doubles(), ElementsAre(4));
  EXPECT_REFUSED(Code::bad_usage, session.run(inputs));
  TrainingOptions how;
  how.loss.name = "mse";
  Trainer trainer(parse_model(kLine), how);
  const Trainer other = std::move(trainer);
  EXPECT_REFUSED(Code::bad_usage, trainer.step({}));
  EXPECT_REFUSED(Code::bad_usage, trainer.trained());
  EXPECT_REFUSED(Code::bad_usage, trainer.notes());
}

TEST(PublicSession, RefusesThreadsThatThereCannotBe) {
  EXPECT_REFUSED(Code::bad_usage, Session(parse_model(kDouble), {.threads = -1}));
}

TEST(PublicModel, IsEmptyWhenItWasMovedFrom) {
  Model model = parse_model(kDouble);
  const Model moved = std::move(model);
  EXPECT_EQ(nodes_of(moved).size(), 1u);
  EXPECT_TRUE(inputs_of(model).empty() && nodes_of(model).empty() && values_of(model).empty());
  EXPECT_EQ(summarise(model).nodes, 0u);
  EXPECT_FALSE(check(model).empty());
  EXPECT_REFUSED(Code::bad_ir_version, Session(model));
  EXPECT_EQ(nodes_of(model.clone()).size(), 0u);
}

TEST(PublicArray, RefusesToViewNothing) {
  EXPECT_REFUSED(Code::bad_usage, Array::view(DType::f32, {2}, nullptr));
  EXPECT_EQ(Array::view(DType::f32, {0}, nullptr).size(), 0);
}

TEST(PublicFiles, NamesEndWhereTheyEnd) {
  const std::string hidden("model.onnx\0.tflite", 18);
  EXPECT_REFUSED(Code::cannot_open, load(hidden));
  EXPECT_REFUSED(Code::cannot_open, load(std::string("/tmp\0x", 6)));
}

TEST(PublicTrainer, TakesExamplesFromMemoryAndRefusesThoseThatContradictThemselves) {
  const Model model = parse_model(kLine);
  TrainingOptions how;
  how.loss.name = "mse";
  how.optimizer.lr = 0.1;
  Trainer trainer(model, how);
  Dataset data = dataset_of({{"x", Array::of<float>({2, 1}, {1, 2})}, {"y", Array::of<float>({2, 1}, {3, 6})}}, "y");
  LoopOptions loop;
  loop.epochs = 60;
  EXPECT_LT(trainer.fit(data, loop).last_loss, 1e-3);
  EXPECT_LT(evaluate(trainer.trained(), data, {.loss = {.name = "mse"}}).loss, 1e-3);

  EXPECT_REFUSED(Code::bad_training_data, dataset_of({{"x", Array::of<float>({1, 1}, {1})}}, "y"));
  EXPECT_REFUSED(Code::bad_training_data, trainer.fit({}, loop));
  EXPECT_REFUSED(Code::bad_training_data, evaluate(model, {}));
  data.count = 1000;
  EXPECT_REFUSED(Code::bad_training_data, trainer.fit(data, loop));
  data.count = 2;
  loop.batch = 0;
  EXPECT_REFUSED(Code::bad_usage, trainer.fit(data, loop));
  loop.batch = 2;
  loop.resumes = true;
  EXPECT_REFUSED(Code::bad_usage, trainer.fit(data, loop));
  how.accumulate = 0;
  EXPECT_REFUSED(Code::bad_usage, Trainer(model, how));
}

// Compiled with all warnings as errors: a user names the fields that matter, and the others have a value.
TEST(PublicOptions, TakeOneFieldAlone) {
  const LoopOptions loop{.batch = 2};
  const TrainingOptions training{.loss = {.name = "mse"}, .optimizer = {.name = "adam"}};
  const VerifyRequest request{.a = {.file = "a"}, .b = {.file = "b"}};
  const GradientModelOptions gradient{.of = "y"};
  const DatasetOptions data{.target = "kind"};
  const EvaluationOptions evaluation{.loss = {.name = "mse"}};
  EXPECT_EQ(loop.epochs, 1u);
  EXPECT_EQ(training.accumulate + request.seed, 2u);
  EXPECT_TRUE(gradient.wrt.empty() && data.columns.empty() && evaluation.prediction.empty());
}

}  // namespace
}  // namespace ingot
