// Writes the models that are measured: ingot_make_models DIR [NAME...], all of them without names.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/models/models.h"
#include "ingot/base/error.h"
#include "ingot/onnx/writer.h"
#include "ingot/passes/convert_version.h"

namespace ingot::bench {
namespace {

constexpr int kOpset = 21;  // what ONNX Runtime reads

constexpr Recipe kRecipes[] = {
    {"bert_base", "12 layers, 128 tokens, 435 MB of weights", bert_base},
    {"chain", "100,000 nodes, one after the other", chain},
    {"chain2", "200,000 nodes, one after the other", chain_doubled},
    {"elementwise", "9 elementwise operators on 4 M elements", elementwise},
    {"fan_in", "100,000 nodes into one", fan_in},
    {"fan_in2", "200,000 nodes into one", fan_in_doubled},
    {"fan_out", "100,000 readers of one value", fan_out},
    {"fan_out2", "200,000 readers of one value", fan_out_doubled},
    {"forest", "500 trees of depth 8", forest},
    {"initializers", "100,000 initializers", initializers},
    {"initializers2", "200,000 initializers", initializers_doubled},
    {"log", "Log of 4 M elements", logarithm},
    {"lstm", "2 layers, 256 units, 100 steps", lstm},
    {"mlp", "784-512-512-10", mlp},
    {"mobilenet_v2", "MobileNetV2, 224 x 224", mobilenet_v2},
    {"resnet50", "ResNet50, 224 x 224", resnet50},
    {"squeezenet", "SqueezeNet 1.1, 224 x 224", squeezenet},
    {"transpose", "2048 x 2048", transpose},
    {"vgg19", "VGG19, 224 x 224", vgg19},
};

void write(const Recipe& recipe, const std::string& folder) {
  Model model;
  model.producer_name = "ingot bench";
  model.graph->name = std::string(recipe.name);
  model.opsets.set("", 28);
  if (recipe.name == "forest") model.opsets.set("ai.onnx.ml", 3);
  recipe.build(*model.graph);
  OpsetImports target;
  target.set("", kOpset);
  passes::convert_version(model, target);
  model.ir_version = 10;
  const std::string path = folder + "/" + std::string(recipe.name) + ".onnx";
  onnx::write(model, path);
  std::printf("%s: %.*s\n", path.c_str(), static_cast<int>(recipe.what.size()), recipe.what.data());
}

int run(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: ingot_make_models DIR [NAME...]\n");
    return 2;
  }
  const std::vector<std::string_view> names(argv + 2, argv + argc);
  for (const Recipe& recipe : kRecipes)
    if (names.empty() || std::ranges::find(names, recipe.name) != names.end()) write(recipe, argv[1]);
  for (const std::string_view name : names)
    if (std::ranges::none_of(kRecipes, [&](const Recipe& r) { return r.name == name; })) {
      std::fprintf(stderr, "ingot_make_models: no model '%.*s'\n", static_cast<int>(name.size()), name.data());
      return 2;
    }
  return 0;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) {
  try {
    return ingot::bench::run(argc, argv);
  } catch (const ingot::Error& error) {
    std::fprintf(stderr, "ingot_make_models: %s\n", error.what());
    return 1;
  }
}
