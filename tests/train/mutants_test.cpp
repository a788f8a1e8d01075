// The official node tests with inputs and attributes that are missing or wrong, through all that transforms models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "ingot/base/error.h"
#include "ingot/onnx/reader.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/train/gradient_model.h"
#include "ingot/train/training_graph.h"
#include "tests/support/files.h"
#include "tests/support/survival.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using Mutation = std::function<void(Model&)>;

struct Mutant {
  std::string name;
  Mutation apply;
};

Node* node_at(Model& model, std::size_t position) {
  Node* node = model.graph->first();
  while (node && position-- > 0) node = node->next();
  return node;
}

/// Values of all kinds, one of which an attribute never has.
std::vector<AttrValue> other_values() {
  std::vector<AttrValue> values;
  values.emplace_back(std::int64_t{-3});
  values.emplace_back(0.5f);
  values.emplace_back(std::string("?"));
  values.emplace_back(std::vector<std::int64_t>{});
  values.emplace_back(std::vector<std::int64_t>{-9, 1 << 30});
  values.emplace_back(std::vector<float>{1});
  values.emplace_back(std::vector<std::string>{"a", "b"});
  values.emplace_back(Tensor::ints({7}));
  values.emplace_back(Type::tensor(DType::f32));
  values.emplace_back(std::monostate());
  return values;
}

void add_input_mutants(const Node& node, std::size_t at, std::vector<Mutant>& mutants) {
  const std::string prefix = "node " + std::to_string(at) + " input ";
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const std::string name = prefix + std::to_string(i);
    mutants.push_back({name + " dropped", [=](Model& m) { node_at(m, at)->resize_inputs(i); }});
    mutants.push_back({name + " blank", [=](Model& m) { node_at(m, at)->set_input(i, nullptr); }});
    mutants.push_back({name + " of no type", [=](Model& m) {
                         if (Value* v = node_at(m, at)->input(i)) v->type = Type();
                       }});
    mutants.push_back({name + " of no rank", [=](Model& m) {
                         if (Value* v = node_at(m, at)->input(i)) v->type.shape.reset();
                       }});
    mutants.push_back({name + " empty", [=](Model& m) {
                         if (Value* v = node_at(m, at)->input(i); v && v->type.is_tensor()) v->type.shape = Shape{0};
                       }});
    for (std::size_t k = 0; k < i; ++k)
      mutants.push_back({name + " swapped with " + std::to_string(k), [=](Model& m) {
                           Node& n = *node_at(m, at);
                           Value *a = n.input(i), *b = n.input(k);
                           n.set_input(i, b);
                           n.set_input(k, a);
                         }});
  }
  mutants.push_back({prefix + "too many", [=](Model& m) {
                       Node& n = *node_at(m, at);
                       for (int i = 0; i < 20; ++i) n.add_input(n.input(0));
                     }});
}

void add_attribute_mutants(const Node& node, std::size_t at, std::vector<Mutant>& mutants) {
  for (const Attribute& a : node.attributes) {
    const std::string name = "node " + std::to_string(at) + " attribute '" + a.name + "'";
    mutants.push_back({name + " gone", [=, key = a.name](Model& m) { node_at(m, at)->attributes.erase(key); }});
    for (std::size_t k = 0; k < other_values().size(); ++k)
      mutants.push_back({name + " is value " + std::to_string(k), [=, key = a.name](Model& m) {
                           node_at(m, at)->attributes.set(Attribute(key, std::move(other_values()[k])));
                         }});
  }
}

std::vector<Mutant> mutants_of(const Model& model) {
  constexpr std::size_t kMostNodes = 3;
  std::vector<Mutant> mutants;
  std::size_t at = 0;
  for (const Node& node : model.graph->nodes()) {
    if (at == kMostNodes) break;
    add_input_mutants(node, at, mutants);
    add_attribute_mutants(node, at, mutants);
    ++at;
  }
  return mutants;
}

/// Errors are answers, except those that say that Ingot is to blame.
void attempt(const Model& model, const std::function<void(Model&)>& run) {
  Model copy = model.clone();
  try {
    run(copy);
  } catch (const Error& error) {
    if (error.exit_code() == 70) throw;
  }
}

/// The inputs behind the first become weights, so that there is something to train.
void make_weights(Model& model) {
  Graph& graph = *model.graph;
  const Values inputs(graph.inputs().begin(), graph.inputs().end());
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Type& type = inputs[i]->type;
    const auto dims = type.is_tensor() && type.shape ? static_dims(*type.shape) : std::nullopt;
    if (!dims || type.elem != DType::f32 || tensor_size(*dims) > 10000) continue;
    const std::vector<float> ones(static_cast<std::size_t>(tensor_size(*dims)), 1.0f);
    inputs[i]->initializer = Tensor::of<float>(*dims, ones);
  }
}

void transform(const Model& model, const std::string& name, const test::Say& say) {
  const auto step = [&](const std::string& what, const std::function<void(Model&)>& run) {
    say(name + ", " + what);
    attempt(model, run);
  };
  step("inferred", [](Model& m) {
    passes::InferOptions options;
    options.tolerate_errors = true;
    passes::infer(m, options);
  });
  for (const int opset : {1, 6, 8, 10, 12, 17, 20})
    step("to opset " + std::to_string(opset), [&](Model& m) {
      OpsetImports targets;
      targets.set("", opset);
      passes::convert_version(m, targets);
    });
  step("to ml 1", [](Model& m) {
    OpsetImports targets;
    targets.set("ai.onnx.ml", 1);
    passes::convert_version(m, targets);
  });
  step("upgraded and decomposed", [](Model& m) {
    passes::canonicalize(m);
    passes::inline_functions(m);
    passes::decompose(m, [](const Node&) { return false; });
  });
  step("differentiated", [](Model& m) { train::gradient_model(m, {}); });
  step("jacobian", [](Model& m) {
    train::gradient_model(m, {.of = {}, .wrt = {}, .kind = train::GradientModelOptions::Kind::jacobian});
  });
  step("made trainable", [](Model& m) {
    make_weights(m);
    train::TrainingOptions options;
    options.loss.name = "mse";
    train::step_graph(train::make_training_graph(m, options));
  });
}

TEST(Mutants, OfTheOfficialNodeTestsKillNothing) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the official backend tests are not here: no shared directory";
  const bool is_whole = std::getenv("INGOT_WHOLE_CORPUS") != nullptr;
  const char* only = std::getenv("INGOT_TEST_ONLY");
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(*shared / "onnx-backend-tests" / "node"))
    if (exists(entry.path() / "model.onnx")) paths.push_back(entry.path() / "model.onnx");
  std::ranges::sort(paths);
  constexpr std::size_t kEvery = 41;  // of the sample
  std::size_t count = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string name = paths[i].parent_path().filename().string();
    if (only ? name.find(only) == std::string::npos : !is_whole && i % kEvery != 0) continue;
    const Model model = onnx::read(paths[i].string());
    const auto mutants = mutants_of(model);
    count += mutants.size();
    const auto run_from = [&](std::size_t first) {
      return test::death_of([&](const test::Say& say) {
        for (std::size_t k = first; k < mutants.size(); ++k) {
          Model changed = model.clone();
          mutants[k].apply(changed);
          transform(changed, name + ": " + std::to_string(k) + " " + mutants[k].name, say);
        }
      });
    };
    EXPECT_EQ(run_from(0), "");
  }
  std::printf("%zu mutants%s\n", count, is_whole ? "" : " of a sample: INGOT_WHOLE_CORPUS=1 takes all");
}

}  // namespace
}  // namespace ingot
