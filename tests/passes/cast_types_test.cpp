// Casts around operators that lack an element type.
#include "ingot/passes/cast_types.h"

#include <gmock/gmock.h>

#include "ingot/base/error.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/infer.h"

namespace ingot::passes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Result {
  std::string operators, output;
  std::vector<std::string> lines;
};

Result cast(const std::string& graph, std::int64_t opset, CastRule rule) {
  Model model = onnx::parse_text("<ir_version: 13, opset_import: [\"\" : 28]>\n" + graph, ".", {});
  infer(model);
  Result result;
  result.lines = cast_types(*model.graph, opset, rule);
  infer(model);
  check_invariants(model);
  for (const Node& n : model.graph->nodes()) result.operators += (result.operators.empty() ? "" : " ") + n.op;
  result.output = model.graph->output(0)->name() + " " + model.graph->output(0)->type.str();
  if (!result.lines.empty()) {
    OpsetImports target;
    target.set("", opset);
    convert_version(model, target);  // throws where a type is still not allowed
  }
  return result;
}

constexpr const char* kPool =
    "g (bfloat16[1,2,4,4] x, bfloat16[2,2,1,1] w) => (bfloat16[1,2,4,4] y) { y = Conv(x, w) }";

TEST(CastTypes, WidensWhatTheOpsetLacks) {
  const Result result = cast(kPool, 21, CastRule::up);
  EXPECT_EQ(result.operators, "Cast Cast Conv Cast");
  EXPECT_EQ(result.output, "y bfloat16[1,2,4,4]");
  EXPECT_THAT(result.lines, ElementsAre(HasSubstr("computes in float instead of bfloat16, which opset 21 lacks")));
}

TEST(CastTypes, LeavesWhatTheOpsetHas) {
  EXPECT_EQ(cast(kPool, 22, CastRule::up).operators, "Conv");
  EXPECT_EQ(cast(kPool, 21, CastRule::none).operators, "Conv");
}

TEST(CastTypes, OfADowngradeAreListed) {
  Model model = onnx::parse_text("<ir_version: 13, opset_import: [\"\" : 28]>\n" + std::string(kPool), ".", {});
  OpsetImports target;
  target.set("", 21);
  EXPECT_THAT(convert_version(model, target).casts,
              ElementsAre(HasSubstr("(Conv): cast, because version 11 lacks tensor(bfloat16)")));
}

TEST(CastTypes, IntegersStayIntegers) {
  const std::string graph = "g (int64[3] x) => (int64[3] y) { y = Relu(x) }";
  EXPECT_THAT(cast(graph, 13, CastRule::up).lines, IsEmpty());
  EXPECT_THAT(cast(graph, 13, CastRule::all).lines, IsEmpty());  // Relu had floats only: integers stay integers
  const std::string bytes = "g (uint8[3] x, uint8[3] z) => (uint8[3] y) { y = Mul(x, z) }";
  EXPECT_EQ(cast(bytes, 13, CastRule::up).operators, "Cast Cast Mul Cast");
  const std::string shorts = "g (int16[3] x, int16[3] z) => (int16[3] y) { y = Mul(x, z) }";
  EXPECT_EQ(cast(shorts, 13, CastRule::up).operators, "Cast Cast Mul Cast");
}

}  // namespace
}  // namespace ingot::passes
