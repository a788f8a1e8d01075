// equal() sees every difference and says where it is.
#include "ingot/ir/equal.h"

#include "ingot/onnx/text.h"

namespace ingot::onnx {
namespace {

constexpr std::string_view kModel = R"(
  < ir_version: 8, opset_import: ["" : 17] >
  g (float[N] x) => (float[N] y) < float[2] w = {1, 2}, float[N] t >
  { [first] t = Mul (x, w)  [second] y = If (t) <b: graph = inner () => (o) { o = Neg (x) }, f: float = 1.0> }
  < domain: "d" > fn <a> (p) => (q) { q = Neg (p) }
  training_info { update_binding: ["w": "v"] })";

std::string difference_to(std::string_view from, std::string_view to) {
  std::string changed(kModel);
  const std::size_t at = changed.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  changed.replace(at, from.size(), to);
  std::string difference;
  EXPECT_FALSE(equal(parse_text(kModel), parse_text(changed), &difference)) << from;
  EXPECT_FALSE(difference.empty());
  return difference;
}

TEST(Equal, AModelEqualsItself) {
  std::string difference = "old";
  EXPECT_TRUE(equal(parse_text(kModel), parse_text(kModel), &difference));
  EXPECT_EQ(difference, "");
}

TEST(Equal, NamesThePlaceOfTheFirstDifference) {
  EXPECT_EQ(difference_to("ir_version: 8", "ir_version: 9"), "ir_version is 8 in one and 9 in the other");
  EXPECT_EQ(difference_to("[second] y", "[last] y"),
            "graph 'g': node 'second': name is 'second' in one and 'last' in the other");
  EXPECT_EQ(
      difference_to("Neg (x)", "Neg (t)"),
      "graph 'g': node 'second': attribute 'b': graph: graph 'inner': the node that makes 'o': input 0 is 'x' in one "
      "and 't' in the other");
  EXPECT_EQ(difference_to("{1, 2}", "{1, 3}"), "graph 'g': value 'w': initializer");
}

TEST(Equal, SeesChangesOfEveryKind) {
  const std::pair<const char*, const char*> changes[] = {
      {"\"\" : 17", "\"\" : 18"},
      {"float[N] x", "float[M] x"},
      {"g (", "h ("},
      {"Mul (x, w)", "Mul (w, x)"},
      {"Mul (x, w)", "Mul (x)"},
      {"Mul", "Add"},
      {"float[2] w = {1, 2}", "sparse[2] w = {float[1] {1}, int64[1] {0}}"},
      {"1.0", "-1.0"},
      {"f: float = 1.0", "f: int = 1"},
      {", float[N] t", ""},
      {"fn <a>", "fn <b>"},
      {"\"d\"", "\"e\""},
      {"Neg (p)", "Neg (q)"},
      {"\"w\": \"v\"", "\"w\": \"u\""},
  };
  for (const auto& [from, to] : changes) (void)difference_to(from, to);
}

}  // namespace
}  // namespace ingot::onnx
