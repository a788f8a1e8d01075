// What is in a model: ingot_example_inspect MODEL
#include <cstdio>

#include "ingot/ingot.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const ingot::Model model = ingot::load(argv[1]).model;
  std::printf("opset %lld\n", static_cast<long long>(model.opsets.version("ai.onnx")));
  for (const auto& input : ingot::inputs_of(model))
    std::printf("input %s %s\n", input.name.c_str(), input.type.str().c_str());
  for (const auto& output : ingot::outputs_of(model))
    std::printf("output %s %s\n", output.name.c_str(), output.type.str().c_str());
  for (const auto& weight : ingot::initializers_of(model))  // shares the file's memory
    std::printf("weight %s, %zu bytes\n", weight.name.c_str(), weight.value.bytes().size());
  for (const auto& node : ingot::nodes_of(model)) std::printf("%s -> %s\n", node.op.c_str(), node.outputs[0].c_str());
  const ingot::Summary summary = ingot::summarise(model);
  std::printf("%zu nodes, %llu parameters\n", summary.nodes,
              static_cast<unsigned long long>(summary.parameter_elements));
} catch (const ingot::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
