// The official backend tests: inferred types against those that the models state for their outputs.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>

#include "ingot/base/error.h"
#include "ingot/onnx/reader.h"
#include "ingot/passes/infer.h"
#include "tests/support/files.h"

namespace ingot::test {
namespace {

enum class Inputs { as_stated, symbolic, without_rank };

/// What the test knows of the inputs' shapes; elements and ranks stay what they are, but for `without_rank`.
void blur(Model& model, Inputs inputs) {
  int names = 0;
  for (Value* input : model.graph->inputs()) {
    if (!input->type.is_tensor() || !input->type.shape || inputs == Inputs::as_stated) continue;
    if (inputs == Inputs::without_rank) {
      input->type.shape.reset();
      continue;
    }
    for (Dim& d : *input->type.shape) d = Dim::symbol("d" + std::to_string(names++));
  }
}

/// Forgets what the model states of its outputs.
std::vector<Type> take_output_types(Model& model) {
  std::vector<Type> stated;
  for (Value* output : model.graph->outputs()) {
    stated.push_back(output->type);
    if (output->is_input()) continue;
    output->type = {};
    output->is_declared = false;
  }
  return stated;
}

struct Tally {
  int cases = 0, outputs = 0, exact = 0;
  std::map<std::string, int> inexact;  // by operator
};

void check(const std::filesystem::path& path, Inputs inputs, Tally& tally) {
  Model model = onnx::read(path.string());
  const std::string op = model.graph->last() ? model.graph->last()->op : "";
  const std::vector<Type> stated = take_output_types(model);
  blur(model, inputs);
  ++tally.cases;
  try {
    passes::infer(model);
  } catch (const Error& error) {
    ADD_FAILURE() << path.parent_path().filename() << ": " << error.what();
    return;
  }
  for (std::size_t i = 0; i < stated.size(); ++i) {
    const Type& found = model.graph->output(i)->type;
    std::string why;
    EXPECT_TRUE(may_match(found, stated[i], &why)) << path.parent_path().filename() << " output " << i << ": " << why;
    ++tally.outputs;
    const bool is_exact =
        found.kind == stated[i].kind && found.elem == stated[i].elem && found.shape == stated[i].shape;
    tally.exact += is_exact;
    if (!is_exact) ++tally.inexact[op];
  }
}

void check_all(Inputs inputs) {
  const auto shared = shared_dir();
  if (!shared || !std::filesystem::exists(*shared / "onnx-backend-tests"))
    GTEST_SKIP() << "no shared/onnx-backend-tests: set INGOT_SHARED";
  Tally tally;
  for (const char* kind : {"node", "simple", "pytorch-operator", "pytorch-converted"})
    for (const auto& entry : std::filesystem::directory_iterator(*shared / "onnx-backend-tests" / kind))
      if (std::filesystem::exists(entry.path() / "model.onnx")) check(entry.path() / "model.onnx", inputs, tally);
  std::cout << tally.cases << " models, " << tally.exact << " of " << tally.outputs << " outputs exact; not exact:";
  for (const auto& [op, count] : tally.inexact) std::cout << ' ' << op << '(' << count << ')';
  std::cout << '\n';
  EXPECT_GT(tally.cases, 1000);
}

TEST(BackendShapes, AreInferredAsTheModelsStateThem) { check_all(Inputs::as_stated); }
TEST(BackendShapes, OfSymbolicInputsContradictNothing) { check_all(Inputs::symbolic); }
TEST(BackendShapes, OfInputsWithoutRankContradictNothing) { check_all(Inputs::without_rank); }

}  // namespace
}  // namespace ingot::test
