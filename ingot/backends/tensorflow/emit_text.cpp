// Texts.
#include "ingot/backends/tensorflow/rows.h"

namespace ingot::backends::tensorflow {

void emit_string_concat(NodeOut& n) { n.set(n.e.add("StringJoin", n.all_inputs())); }

void emit_regex_full_match(NodeOut& n) {
  const Ref pattern = n.e.constant(Tensor::of_strings({}, {n.attr("pattern", "")}));
  n.set(n.e.add("RegexFullMatch", {n.in(0), pattern}));
}

}  // namespace ingot::backends::tensorflow
