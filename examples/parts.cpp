// Cuts a model in two, and makes one of both again: ingot_example_parts IN VALUE OUT
#include <cstdio>

#include "ingot/ingot.h"

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  const ingot::Model model = ingot::load(argv[1]).model;
  const std::string cut = argv[2];
  std::vector<std::string> inputs, outputs;
  for (const auto& input : ingot::inputs_of(model)) inputs.push_back(input.name);
  for (const auto& output : ingot::outputs_of(model)) outputs.push_back(output.name);
  ingot::Model head = model.clone(), tail = model.clone();
  ingot::extract(head, inputs, {cut});
  ingot::extract(tail, {cut}, outputs);
  std::printf("%zu and %zu nodes\n", ingot::nodes_of(head).size(), ingot::nodes_of(tail).size());
  ingot::MergeReport report;
  const ingot::Model whole = ingot::merge(std::move(head), std::move(tail), {}, report);
  const ingot::Difference difference = ingot::diff(model, whole);
  std::printf("%zu nodes are the same, %zu are not\n", difference.same_nodes, difference.nodes.size());
  ingot::save(whole, argv[3]);
} catch (const ingot::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
