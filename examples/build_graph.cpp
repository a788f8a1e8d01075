// Builds a small classifier from nothing and writes it: ingot_example_build_graph [out.onnx]
#include <cstdio>

#include "ingot/ingot.h"

using namespace ingot;

int main(int argc, char** argv) try {
  ModelBuilder graph(21, "classifier");
  const auto image = graph.input("image", Type::tensor(DType::f32, Shape{Dim::symbol("N"), 1, 8, 8}));
  const auto kernel = graph.initializer("kernel", Tensor::of<float>({2, 1, 3, 3}, std::vector<float>(18, 0.1f)));
  const auto weight = graph.initializer("weight", Tensor::of<float>({2, 3}, {1, 0, -1, 0.5f, -0.5f, 0.25f}));
  const auto map = graph.node("Relu", {graph.node("Conv", {image, kernel}, {{"pads", {1, 1, 1, 1}}})});
  const auto features = graph.node("Flatten", {graph.node("GlobalAveragePool", {map})});
  graph.output("scores", graph.node("Softmax", {graph.node("MatMul", {features, weight})}, {{"axis", -1}}));

  const Model model = graph.build();  // types are inferred, and the model is checked
  save(model, argc > 1 ? argv[1] : "small.onnx");
  std::printf("%s is %s\n", outputs_of(model)[0].name.c_str(), outputs_of(model)[0].type.str().c_str());
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
