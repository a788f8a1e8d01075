// Training information.
#include "tests/passes/problems.h"

namespace ingot {
namespace {

using test::problems_of;
using testing::ElementsAre;
using testing::IsEmpty;

/// A model with one weight, and this training info.
std::vector<std::string> with_training(std::string_view training) {
  return problems_of(R"(<ir_version: 10, opset_import: ["": 21, "ai.onnx.preview.training": 1]>
    g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul(x, w) } )" +
                     std::string(training));
}

TEST(CheckTraining, AcceptsAWholeStep) {
  EXPECT_THAT(with_training(R"(training_info {
      initialization: i () => (float[2] w0) { w0 = Constant <value = float[2] {0, 0}> () },
      initialization_binding: ["w": "w0"],
      algorithm: a (float[2] t) => (float[2] w1, float[2] m1) <float[2] m = {0, 0}>
        { d = Sub(y, t) m1 = Add(m, d) w1 = Sub(w, m1) },
      update_binding: ["w": "w1", "m": "m1"] })"),
              IsEmpty());
}

TEST(CheckTraining, AnInitializationHasNoInputs) {
  EXPECT_THAT(with_training(R"(training_info {
      initialization: i (float[2] seed) => (float[2] w0) { w0 = Neg(seed) }, initialization_binding: ["w": "w0"] })"),
              ElementsAre("error: training info 0, initialization: an initialization must not have inputs [IG0314]"));
}

TEST(CheckTraining, AnInitializationSeesNoOtherValues) {
  EXPECT_THAT(
      with_training(R"(training_info {
      initialization: i () => (float[2] w0) { [n] w0 = Neg(w) }, initialization_binding: ["w": "w0"] })"),
      ElementsAre("error: training info 0, initialization: node 'n' (Neg): nothing defines input 'w' [IG0302]"));
}

TEST(CheckTraining, TheModelReadsNothingOfTheAlgorithm) {
  EXPECT_THAT(problems_of(R"(<ir_version: 10, opset_import: ["": 21]>
    g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { [n] y = Mul(x, t) }
    training_info { algorithm: a (float[2] t) => (float[2] w1) { w1 = Sub(w, t) }, update_binding: ["w": "w1"] })"),
              ElementsAre("error: node 'n' (Mul): nothing defines input 't' [IG0302]"));
}

TEST(CheckTraining, BothGraphsTogetherAreOneGraph) {
  EXPECT_THAT(with_training(R"(training_info {
      algorithm: a (float[2] t) => (float[2] w1) { y = Sub(w, t) w1 = Neg(y) }, update_binding: ["w": "w1"] })"),
              ElementsAre("error: training info 0, algorithm: value 'y': the graph of the model defines this name too "
                          "[IG0301]"));
}

TEST(CheckTraining, KeysNameInitializers) {
  EXPECT_THAT(
      with_training(R"(training_info {
      algorithm: a (float[2] t) => (float[2] w1) { w1 = Sub(w, t) }, update_binding: ["x": "w1"] })"),
      ElementsAre("error: training info 0, update_binding: 'x': neither the model's graph nor the algorithm has such "
                  "an initializer [IG0314]"));
}

TEST(CheckTraining, ValuesNameOutputs) {
  EXPECT_THAT(with_training(R"(training_info {
      algorithm: a (float[2] t) => (float[2] w1) { d = Sub(y, t) w1 = Sub(w, d) }, update_binding: ["w": "d"] })"),
              ElementsAre("error: training info 0, update_binding: 'w': the algorithm has no output 'd' [IG0314]"));
  EXPECT_THAT(
      with_training(R"(training_info {
      algorithm: a (float[2] t) => (float[2] w1) { w1 = Sub(w, t) }, update_binding: ["w": "y"] })"),
      ElementsAre("warning: training info 0, update_binding: 'w': 'y' is an output of the model's graph, not of the "
                  "algorithm [IG0314]"));
}

TEST(CheckTraining, KeysAreUnique) {
  EXPECT_THAT(with_training(R"(training_info {
      algorithm: a (float[2] t) => (float[2] w1) { w1 = Sub(w, t) }, update_binding: ["w": "w1", "w": "w1"] })"),
              ElementsAre("error: training info 0, update_binding: 'w': the variable is bound twice [IG0314]"));
  EXPECT_THAT(
      with_training(R"(
      training_info { algorithm: a (float[2] t) => (float[2] w1) { w1 = Sub(w, t) }, update_binding: ["w": "w1"] }
      training_info { algorithm: b (float[2] t) => (float[2] w1) { w1 = Add(w, t) }, update_binding: ["w": "w1"] })"),
      ElementsAre("warning: training info 1, update_binding: 'w': another training info updates the variable too "
                  "[IG0314]"));
}

TEST(CheckTraining, BindingsNeedTheirGraph) {
  EXPECT_THAT(with_training(R"(training_info { initialization_binding: ["w": "w0"],
      algorithm: a (float[2] t) => (float[2] w1) { w1 = Sub(w, t) }, update_binding: ["w": "w1"] })"),
              ElementsAre("error: training info 0, initialization_binding: there are bindings but no initialization "
                          "[IG0314]"));
  EXPECT_THAT(with_training("training_info { }"),
              ElementsAre("warning: training info 0: it has neither an initialization nor an algorithm [IG0314]"));
}

TEST(CheckTraining, VariablesKeepTheirTypes) {
  EXPECT_THAT(
      with_training(R"(training_info {
      algorithm: a (float[3,2] t) => (w1) { w1 = Sub(w, t) }, update_binding: ["w": "w1"] })"),
      ElementsAre("error: training info 0, update_binding: 'w': 'w1' is float[3,2], but the variable is float[2] "
                  "(rank 2 is not rank 1) [IG0314]"));
}

TEST(CheckTraining, GradientNamesVisibleValues) {
  EXPECT_THAT(with_training(R"(training_info {
      algorithm: a (float[2] t) => (float[2] w1) {
        d = Sub(y, t)
        [n] dw = ai.onnx.preview.training.Gradient <xs = ["w"], zs = ["x", "t"], y = "d"> (w, x, t)
        w1 = Sub(w, dw)
      }, update_binding: ["w": "w1"] })"),
              IsEmpty());
  EXPECT_THAT(
      with_training(R"(training_info {
      algorithm: a (float[2] t) => (float[2] w1) {
        [n] dw = ai.onnx.preview.training.Gradient <xs = ["w", "v"], y = "loss"> (w)
        w1 = Sub(w, dw)
      }, update_binding: ["w": "w1"] })"),
      ElementsAre("error: training info 0, algorithm: node 'n' (ai.onnx.preview.training.Gradient): attribute 'xs' "
                  "names 'v', which is not a value here [IG0304]",
                  "error: training info 0, algorithm: node 'n' (ai.onnx.preview.training.Gradient): attribute 'y' "
                  "names 'loss', which is not a value here [IG0304]",
                  "error: training info 0, algorithm: node 'n' (ai.onnx.preview.training.Gradient): 1 input given, "
                  "but xs and zs name 2 [IG0306]",
                  "error: training info 0, algorithm: node 'n' (ai.onnx.preview.training.Gradient): 1 output given, "
                  "but xs names 2 [IG0306]"));
}

}  // namespace
}  // namespace ingot
