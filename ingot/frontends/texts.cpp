// What translators make of texts.
#include "ingot/frontends/texts.h"

#include "ingot/frontends/repeat.h"

namespace ingot::frontends {
namespace {

Value* text(GraphBuilder& g, const std::string& value) { return g.constant(Tensor::of_strings({}, {value})); }

}  // namespace

Value* with_replaced(GraphBuilder& g, Value* x, const std::string& what, const std::string& by, bool only_first) {
  Attrs attrs{{"delimiter", what}};
  if (only_first) attrs.emplace_back("maxsplit", 1);
  const Values split = g.op("StringSplit", {x}, attrs, 2);
  Value* parts = split[0];
  Value* counts = split[1];
  Value* start = g.op("Expand", {text(g, ""), g.shape(x)});
  return repeat(g, size_of(g, parts, -1), {start}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
    Value* is_there = b.op("Less", {k, counts});
    Value* nothing = text(b, "");
    Value* joint = b.where(b.op("Greater", {k, b.index(0)}), text(b, by), nothing);
    Value* part = b.op("Gather", {parts, k}, {{"axis", -1}});
    Value* more = b.where(is_there, b.op("StringConcat", {joint, part}), nothing);
    return {b.op("StringConcat", {state[0], more})};
  })[0];
}

Value* with_case(GraphBuilder& g, Value* x, const char* which) {
  Value* list = g.reshape(x, {-1});
  Value* y = g.op("StringNormalizer", {list}, {{"case_change_action", which}, {"is_case_sensitive", 1}});
  return g.op("Reshape", {y, g.shape(x)});
}

}  // namespace ingot::frontends
