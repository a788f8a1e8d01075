// A model in integers, within limits: ingot_example_quantize IN OUT
#include <chrono>
#include <cstdio>

#include "ingot/ingot.h"

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  ingot::Limits limits;
  limits.memory = std::uint64_t{1} << 30;
  limits.time = std::chrono::seconds(60);
  ingot::Budget budget(limits);  // the time runs from here
  ingot::Model model = ingot::load(argv[1], {.budget = &budget}).model;
  ingot::QuantizeRequest how = ingot::quantize_request({.method = "static", .calibration = "entropy"});
  how.budget = &budget;
  ingot::set_random_samples(how, model, 32);  // or set_samples, of a Dataset
  const ingot::QuantizeResult done = ingot::quantize(model, how);
  for (const auto& layer : done.layers) std::printf("%s %s\n", layer.op.c_str(), layer.value.c_str());
  ingot::save(model, argv[2]);
  std::printf("%zu layers in integers\n", done.layers.size());
} catch (const ingot::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
