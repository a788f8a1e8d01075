// Inference against what the official backend suite stores: types and shapes of every output.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "ingot/base/error.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/infer.h"
#include "tests/passes/backend_cases.h"

namespace ingot {
namespace {

// The shares of known dimensions that were reached; they must not fall.
constexpr double kRealPercent = 90.0, kSymbolicPercent = 80.0, kRanklessPercent = 1.0;

enum class Shapes { real, symbolic, unknown_rank };

/// Operators whose output sizes depend on data that inference does not have.
const std::set<std::string> kDataDecides = {
    "Compress",           // how many conditions hold
    "ImageDecoder",       // the size of the image in the bytes
    "Loop",               // how often it runs
    "NonMaxSuppression",  // how many boxes are left
    "NonZero",            // how many there are
    "OneHot",             // the depth, where it is given as a floating-point number
    "Range",              // the same of its ends
    "Resize",             // scales that are inputs of the graph
    "SequenceAt",         // which element of a sequence
    "StringNormalizer",   // how many words are left
    "StringSplit",        // how many parts there are
    "Unique",             // how many there are
    "Upsample",           // scales that are inputs of the graph
};

Type type_of(const onnx::Data& data) {
  switch (data.kind) {
    case onnx::Data::Kind::tensor:
      return data.tensor.type();
    case onnx::Data::Kind::sparse_tensor:
      return data.sparse.type();
    default:
      return {};
  }
}

/// The inputs get the shapes of the stored data, or less; nothing is said of the outputs.
void prepare(test::BackendCase& c, Shapes shapes) {
  std::size_t i = 0;
  for (Value* input : c.model.graph->inputs()) {
    if (i < c.inputs.size() && c.inputs[i].kind == onnx::Data::Kind::tensor && input->type.is_tensor()) {
      const Tensor& data = c.inputs[i].tensor;
      input->type.shape = data.type().shape;
      if (shapes == Shapes::symbolic)
        for (std::size_t k = 0; k < input->type.shape->size(); ++k)
          (*input->type.shape)[k] = Dim::symbol(input->name() + "." + std::to_string(k));
      // Small integers that say a shape are known to a caller who knows the shapes.
      if (shapes == Shapes::real && is_integer(data.dtype()) && data.rank() <= 1 && data.size() <= 64) {
        const auto values = data.to_ints();
        input->known_ints = std::make_shared<const std::vector<Dim>>(values.begin(), values.end());
      }
    }
    if (shapes == Shapes::unknown_rank && input->type.is_tensor()) input->type.shape.reset();
    ++i;
  }
  for (Value* output : c.model.graph->outputs()) {
    if (output->is_input() || output->initializer) continue;
    output->type = {};
    output->is_declared = false;
  }
}

bool has_operator_of(const Model& model, const std::set<std::string>& names) {
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes())
      if (names.contains(node.op)) return true;
  return false;
}

struct Share {
  std::size_t known = 0, all = 0;
  void add(const Type& stored, const Type& inferred) {
    if (!stored.shape) return;
    all += stored.shape->size();
    if (!inferred.shape) return;
    for (const Dim& d : *inferred.shape) known += d.is_unknown() ? 0 : 1;
  }
  double percent() const { return 100.0 * static_cast<double>(known) / static_cast<double>(all); }
};

/// Inference must neither fail nor contradict; with real shapes it must say all there is to say.
Share infer_all(Shapes shapes) {
  Share share;
  std::size_t exact = 0, open = 0;
  test::for_each_backend_case([&](test::BackendCase& c) {
    prepare(c, shapes);
    try {
      passes::infer(c.model);
    } catch (const Error& error) {
      ADD_FAILURE() << c.name << ": " << error.what();
      return;
    }
    for (std::size_t i = 0; i < c.outputs.size() && i < c.model.graph->output_count(); ++i) {
      const Type stored = type_of(c.outputs[i]);
      const Type& inferred = c.model.graph->output(i)->type;
      std::string why;
      EXPECT_TRUE(may_match(inferred, stored, &why)) << c.name << ", output " << i << ": " << why;
      share.add(stored, inferred);
      if (shapes != Shapes::real || !stored) continue;
      if (inferred.str() == stored.str()) {
        ++exact;
        continue;
      }
      ++open;
      EXPECT_EQ(inferred.elem, stored.elem) << c.name;
      EXPECT_TRUE(has_operator_of(c.model, kDataDecides))
          << c.name << ", output " << i << ": inferred " << inferred.str() << ", stored " << stored.str();
    }
  });
  if (shapes == Shapes::real) std::printf("%zu outputs exact, %zu open because data decides\n", exact, open);
  std::printf("%zu of %zu dimensions known (%.1f %%)\n", share.known, share.all, share.percent());
  return share;
}

TEST(Infer, GoesFromWhatIsReadToWhoReadsIt) {
  for (const char* opset : {"23", "11"}) {
    Model model = onnx::parse_text("<ir_version: 6, opset_import: [\"\" : " + std::string(opset) +
                                   "]> g (float[2,3] x) => (y) { y = Relu(b) b = Transpose(a) a = Neg(x) }");
    passes::infer(model);
    EXPECT_EQ(model.graph->output(0)->type.str(), "float[3,2]") << opset;
    EXPECT_EQ(passes::infer_types(model, model.clone()).types.at(model.graph->output(0))->str(), "float[3,2]");
  }
}

TEST(InferBackendSuite, GivesTheStoredTypesAndShapesFromRealShapes) {
  const Share share = infer_all(Shapes::real);
  if (share.all) {
    EXPECT_GE(share.percent(), kRealPercent);
  }
}

TEST(InferBackendSuite, NeverContradictsTheStoredShapesWithSymbolicShapes) {
  const Share share = infer_all(Shapes::symbolic);
  if (share.all) {
    EXPECT_GE(share.percent(), kSymbolicPercent);
  }
}

TEST(InferBackendSuite, NeverContradictsTheStoredShapesWithoutRanks) {
  const Share share = infer_all(Shapes::unknown_rank);
  if (share.all) {
    EXPECT_GE(share.percent(), kRanklessPercent);
  }
}

}  // namespace
}  // namespace ingot
