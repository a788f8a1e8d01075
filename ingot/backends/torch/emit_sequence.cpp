// Sequences as lists, optionals as what may be None.
#include "ingot/backends/torch/operators.h"

namespace ingot::backends::torch {
namespace {

void declare(const NodeOut& n, const std::string& expression) {
  n.s.line(n.out(0) + ": " + annotation_of(n.node.output()->type) + " = " + expression);
}

}  // namespace

void write_sequence_at(const NodeOut& n) { n.set(n.in(0) + "[" + n.integer(1) + "]"); }

void write_sequence_construct(const NodeOut& n) { n.set(listed(n.all_inputs())); }

void write_sequence_empty(const NodeOut& n) { declare(n, "[]"); }

void write_sequence_erase(const NodeOut& n) { n.set(n.helped("without", {n.in(0), n.has(1) ? n.integer(1) : "-1"})); }

void write_sequence_insert(const NodeOut& n) {
  if (!n.has(2)) return n.set(n.in(0) + " + [" + n.in(1) + "]");
  n.set(n.helped("inserted", {n.in(0), n.in(1), n.integer(2)}));
}

void write_sequence_length(const NodeOut& n) { n.set("torch.tensor(len(" + n.in(0) + "))"); }

void write_concat_from_sequence(const NodeOut& n) {
  n.set(NodeOut::call(n.flag("new_axis") ? "torch.stack" : "torch.cat", {n.in(0), text_of(n.attr("axis", 0))}));
}

void write_split_to_sequence(const NodeOut& n) {
  const std::string x = n.in(0), axis = text_of(n.axis(0));
  if (!n.has(1)) {
    if (n.flag("keepdims", true)) return n.set("list(" + x + ".split(1, " + axis + "))");
    return n.set("list(" + x + ".unbind(" + axis + "))");
  }
  const bool is_one = n.has_rank(1) && n.rank(1) == 0;
  n.set("list(" + x + ".split(" + (is_one ? n.integer(1) : n.ints(1)) + ", " + axis + "))");
}

void write_optional(const NodeOut& n) { declare(n, n.has(0) ? n.in(0) : "None"); }

void write_optional_has_element(const NodeOut& n) {
  if (!n.has(0) || !n.node.input(0)->type.is_optional())
    return n.set(std::string("torch.tensor(") + std::string(text_of_flag(n.has(0))) + ")");
  n.set("torch.tensor(" + n.in(0) + " is not None)");
}

void write_optional_get_element(const NodeOut& n) {
  if (n.node.input(0)->type.is_optional()) n.s.line("assert " + n.in(0) + " is not None");
  n.set(n.in(0));
}

}  // namespace ingot::backends::torch
