// Texts character by character: their length, and white space at their ends.
#include <algorithm>

#include "ingot/frontends/repeat.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr int kLengthBits = 12;           // lengths up to 4095
constexpr std::int64_t kMostTimes = 512;  // patterns may not repeat anything more than 1000 times

/// `what` from `least` to `most` times.
std::string times(const std::string& what, std::int64_t least, std::int64_t most) {
  std::string pattern;
  while (most > 0) {
    const std::int64_t lower = std::min(least, kMostTimes), upper = std::min(most, kMostTimes);
    pattern += what + "{" + std::to_string(lower) + "," + std::to_string(upper) + "}";
    least -= lower;
    most -= upper;
  }
  return pattern;
}

/// Without the delimiter at both ends, however often it stands there.
Value* without_ends(GraphBuilder& g, Value* x, const std::string& delimiter) {
  const Values split = g.op("StringSplit", {x}, {{"delimiter", delimiter}}, 2);
  Value* parts = split[0];
  Value* empty = g.constant(Tensor::of_strings({}, {""}));
  Value* is_text = g.op("Not", {g.op("Equal", {parts, empty})});
  Value* count = size_of(g, parts, -1);
  Value* number = counted(g, count);
  Value* from = g.where(is_text, number, count);
  Value* first = g.op("ReduceMin", {from, g.ints({-1})}, {{"keepdims", 0}});
  Value* to = g.where(is_text, number, g.index(-1));
  Value* last = g.op("ReduceMax", {to, g.ints({-1})}, {{"keepdims", 0}});
  Value* start = g.op("Expand", {empty, g.shape(x)});
  return repeat(g, count, {start}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
    Value* is_inside = b.op("And", {b.op("LessOrEqual", {first, k}), b.op("LessOrEqual", {k, last})});
    Value* nothing = b.constant(Tensor::of_strings({}, {""}));
    Value* between = b.constant(Tensor::of_strings({}, {delimiter}));
    Value* joint = b.where(b.op("Greater", {k, first}), between, nothing);
    Value* part = b.op("Gather", {parts, k}, {{"axis", -1}});
    Value* more = b.where(is_inside, b.op("StringConcat", {joint, part}), nothing);
    return {b.op("StringConcat", {state[0], more})};
  })[0];
}

}  // namespace

Values string_length(const TfNode& n, GraphBuilder& g) {
  // ONNX has no length of a text, but patterns: bit k of the length says whether 2^k or more are left when as many
  // times 2^(k+1) characters as there are have been taken away.
  const std::string unit = n.text("unit", "BYTE");
  if (unit != "BYTE" && unit != "UTF8_CHAR") n.unsupported("the unit '" + unit + "'");
  const std::string any = unit == "BYTE" ? "\\C" : "(?s:.)";
  Value* length = nullptr;
  for (int k = 0; k < kLengthBits; ++k) {
    const std::int64_t bit = std::int64_t{1} << k;
    const std::string pattern = "(?:" + times(any, 2 * bit, 2 * bit) + ")*" + times(any, bit, 2 * bit - 1);
    Value* is_set = g.op("RegexFullMatch", {n.input(0)}, {{"pattern", pattern}});
    Value* weight = g.mul(g.cast(is_set, DType::i32), g.scalar(static_cast<double>(bit), DType::i32));
    length = length ? g.add(length, weight) : weight;
  }
  // A longer text stops the run: it looks for what a list of one element does not have.
  const std::string longest = times(any, 0, (std::int64_t{1} << kLengthBits) - 1);
  Value* is_short = g.op("RegexFullMatch", {n.input(0)}, {{"pattern", longest}});
  Value* which = g.cast(g.op("Not", {is_short}), DType::i64);
  Value* zero = g.constant(Tensor::of<std::int32_t>({1}, {0}));
  return {g.add(length, g.op("Gather", {zero, which}))};
}

Values string_strip(const TfNode& n, GraphBuilder& g) {
  const auto round = [](GraphBuilder& b, Value*, const Values& state) -> Values {
    Value* x = state[0];
    for (const char* space : {" ", "\t", "\n", "\v", "\f", "\r"}) x = without_ends(b, x, space);
    Value* has_more = b.op("RegexFullMatch", {x}, {{"pattern", "(?s:[ \\t\\n\\v\\f\\r].*|.*[ \\t\\n\\v\\f\\r])"}});
    Value* flags = b.reshape(b.cast(has_more, DType::i32), {-1});
    Value* none = b.constant(Tensor::of<std::int32_t>({1}, {0}));
    Value* any = b.op("ReduceMax", {b.concat({flags, none}, 0)}, {{"keepdims", 0}});
    return {x, b.cast(any, DType::boolean)};
  };
  return {repeat_while(g, {n.input(0)}, round)[0]};
}

}  // namespace ingot::frontends::tensorflow
