// The gradient of a model's first output by its inputs, as a model: ingot_example_gradients MODEL OUT
#include <cstdio>

#include "ingot/ingot.h"

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  const ingot::Model model = ingot::load(argv[1]).model;
  ingot::GradientModelOptions wanted;
  wanted.wrt = {"weight"};  // an input, an initializer or any value; none: all real inputs
  ingot::Model gradient = ingot::gradient_model(model, wanted);
  ingot::adjust(gradient, {.opset = 21});  // gradients are made in the newest operator sets
  ingot::save(gradient, argv[2]);
  const auto inputs = ingot::random_inputs(gradient, 1);
  for (const auto& output : ingot::Session(gradient).run(inputs))
    std::printf("%s %s\n", output.name.c_str(), output.value.array()->type().str().c_str());
} catch (const ingot::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
