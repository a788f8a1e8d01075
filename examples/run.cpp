// Runs the classifier of build_graph.cpp: ingot_example_run MODEL
#include <cstdio>

#include "ingot/ingot.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const ingot::Session session(ingot::load(argv[1]).model);  // planned once, run many times, from any thread
  std::vector<float> pixels(2 * 8 * 8, 0.5f);
  const auto image = ingot::Array::view(ingot::DType::f32, {2, 1, 8, 8}, pixels.data());  // not copied
  for (const ingot::NamedDatum& output : session.run({{"image", image}})) {
    std::printf("%s %s:", output.name.c_str(), output.value.array()->type().str().c_str());
    for (const float score : output.value.array()->data<float>()) std::printf(" %.4f", score);
    std::printf("\n");
  }
} catch (const ingot::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
