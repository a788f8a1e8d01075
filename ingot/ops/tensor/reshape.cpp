// Reshape: the same elements in another shape; 0 copies a dimension and -1 is what is left.
#include <algorithm>
#include <functional>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/short_list.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::ops {
namespace {

/// An empty tensor of a shape with a zero in it.
Value* empty_tensor(StepContext& c, GraphBuilder& g) {
  const DType elem = c.type(0).elem;
  if (elem == DType::undefined) c.cannot("the element type of the reshaped tensor is not known");
  if (elem == DType::string || !is_valid_dtype(static_cast<std::int64_t>(elem)))
    c.cannot("an empty tensor of strings cannot be made");
  const std::vector<std::byte> zero(bits_of(elem) / 8 + (bits_of(elem) % 8 ? 1 : 0));
  Value* made = g.op("ConstantOfShape", {c.node.input(1)}, {{"value", Tensor(elem, {1}, Bytes::copy(zero))}});
  made->type = Type::tensor(elem);
  return made;
}

GraphPtr branch(Graph& parent, const char* name, const std::function<Value*(GraphBuilder&)>& make) {
  auto graph = std::make_unique<Graph>(&parent);
  graph->name = name;
  GraphBuilder g(*graph, nullptr, false);
  graph->add_output(make(g));
  return graph;
}

/// Whether there is a zero is known when it runs.
void choose_by_zeros(StepContext& c) {
  GraphBuilder& g = c.g;
  Value *x = c.node.input(0), *shape = c.node.input(1);
  Graph& graph = c.node.graph();
  GraphPtr empty = branch(graph, "empty", [&](GraphBuilder& b) { return empty_tensor(c, b); });
  GraphPtr filled = branch(graph, "filled", [&](GraphBuilder& b) {
    Value* made = b.op("Reshape", {x, shape});
    made->type = Type::tensor(c.type(0).elem);
    return made;
  });
  Value* is_zero = g.op("Equal", {shape, g.index(0)});
  Value* zeros = g.op("ReduceSum", {g.op("Cast", {is_zero}, {{"to", DType::i64}})}, {{"keepdims", 0}});
  Value* has_zero = g.op("Cast", {zeros}, {{"to", DType::boolean}});
  Node* choice = g.node("If", "", {has_zero}, {}, 1);
  choice->attributes.set(Attribute("then_branch", AttrValue(std::move(empty))));
  choice->attributes.set(Attribute("else_branch", AttrValue(std::move(filled))));
  c.replace(choice->outputs());
}

// Since 14, allowzero makes a 0 mean zero. Before, a shape with a zero is reached by making the empty tensor anew.
void down_to_zero_copies(StepContext& c) {
  const bool allows_zero = c.node.attributes.int_or("allowzero", 0) != 0;
  c.node.attributes.erase("allowzero");
  if (!allows_zero) return;
  const Tensor* known = c.constant(1);
  if (!known) return choose_by_zeros(c);
  const auto shape = known->to_ints();
  if (std::ranges::find(shape, 0) == shape.end()) return;
  c.replace({empty_tensor(c, c.g)});
}

constexpr Step kSteps[] = {
    {.since = 5,
     .up = [](StepContext& c) { c.attribute_to_input("shape", 1); },
     .down = [](StepContext& c) { c.input_to_attribute(1, "shape"); }},
    {.since = 14, .down = down_to_zero_copies},
};

// The dimension that makes the products of both sides equal. Dimensions that stand on both sides cancel first:
// one that is not known would otherwise hide the result.
Dim left_over(const Shape& from, const Shape& to, std::size_t at) {
  std::vector<bool> used(from.size(), false);
  Dim divisor = 1;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (i == at) continue;
    std::size_t k = 0;
    while (k < from.size() && (used[k] || !same(from[k], to[i]))) ++k;
    if (k < from.size()) {
      used[k] = true;
    } else {
      divisor = divisor * to[i];
    }
  }
  Dim total = 1;
  for (std::size_t k = 0; k < from.size(); ++k)
    if (!used[k]) total = total * from[k];
  if (divisor.is_known() && divisor.value() == 0) return {};
  const Dim exact = exact_div(total, divisor);
  // A reshape that runs at all divides without remainder.
  return exact.is_unknown() && !total.is_unknown() && !divisor.is_unknown() ? floor_div(total, divisor) : exact;
}

void check_size(const InferContext& c, const Shape& from, const Shape& to) {
  const Dim before = product(from), after = product(to);
  if (!may_equal(before, after))
    c.fail(before.str() + " elements cannot be reshaped to " + Type::tensor(DType::undefined, to).str());
}

void infer(InferContext& c) {
  require_short_list(c, 1);
  const Shape* x = c.shape(0);
  const auto wanted = c.ints(1);
  if (!wanted) {
    const auto rank = c.dim(1, 0).as_int();
    if (rank && *rank >= 0 && *rank <= kMostDims) {
      c.out_rank(0, *rank);
      c.name_open_dims(0);
      if (*rank == 1 && x) {
        if (auto known = c.ints(0)) c.out_ints(0, std::move(*known));
        c.out_shape(0, {product(*x)});
      }
    }
    return;
  }
  if (wanted->size() > static_cast<std::size_t>(kMostDims)) c.fail("the shape has too many dimensions");
  const bool allows_zero = c.attr("allowzero", std::int64_t{0}) != 0;
  Shape y = *wanted;
  std::optional<std::size_t> rest;
  bool has_zero = false;
  // A copied dimension that is not known still cancels in the products: names that stand for it here only.
  Shape from = x ? *x : Shape();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i].is_unknown()) from[i] = Dim::symbol("\x01" + std::to_string(i));
  Shape to = y;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!y[i].is_known()) continue;
    const std::int64_t value = y[i].value();
    if (value < -1) c.fail("the shape has a dimension of " + std::to_string(value));
    if (value == -1) {
      c.require(!rest, "the shape has more than one -1");
      rest = i;
    } else if (value == 0 && allows_zero) {
      has_zero = true;
    } else if (value == 0) {
      if (x && i >= x->size()) c.fail("dimension " + std::to_string(i) + " is to be copied, but there is none");
      y[i] = x ? (*x)[i] : Dim();
      to[i] = x ? from[i] : Dim();
    }
  }
  c.require(!(rest && has_zero), "with allowzero, 0 and -1 cannot stand together");
  if (rest) y[*rest] = to[*rest] = Dim();
  // One dimension that is open follows from the others, whether it was written as -1 or is not known.
  const auto is_open = [](const Dim& d) { return d.is_unknown(); };
  if (x && std::ranges::count_if(to, is_open) == 1) {
    const auto at = static_cast<std::size_t>(std::ranges::find_if(to, is_open) - to.begin());
    const Dim size = left_over(from, to, at);
    std::vector<std::string> names;
    size.collect_symbols(names);
    if (std::ranges::none_of(names, [](const std::string& n) { return n[0] == '\x01'; })) y[at] = size;
  }
  if (x) check_size(c, *x, y);
  if (y.size() <= 1)
    if (auto known = c.ints(0)) c.out_ints(0, std::move(*known));
  c.out_shape(0, std::move(y));
  if (std::ranges::any_of(*wanted, is_open)) c.name_open_dims(0);
}

Values gradient_reshape(GradContext& c) { return {c.shaped(c.dy(), c.x())}; }

// What is left for -1 once the dimensions that are copied have been set aside: so an empty batch can be flattened too.
std::int64_t left_for_rest(const KernelContext& c, const Array& x, const std::vector<std::int64_t>& wanted) {
  Dims from, to;
  for (std::size_t i = 0; i < x.dims().size(); ++i)
    if (i >= wanted.size() || wanted[i] != 0) from.push_back(x.dims()[i]);
  for (const std::int64_t d : wanted)
    if (d > 0) to.push_back(d);
  const std::int64_t all = tensor_size(from), others = tensor_size(to);
  if (all % others != 0)
    c.fail(std::to_string(x.size()) + " elements cannot be reshaped: what is left for -1 is no whole number");
  return all / others;
}

void run(KernelContext& c) {
  const Array& x = c.in(0);
  const std::vector<std::int64_t> wanted = list_of_ints(c, 1);
  const bool allows_zero = c.attr("allowzero", std::int64_t{0}) != 0;
  Dims y;
  std::optional<std::size_t> rest;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int64_t d = wanted[i];
    if (d < -1) c.fail("the shape has a dimension of " + std::to_string(d));
    if (d == -1 && rest) c.fail("the shape has more than one -1");
    if (d == -1) rest = i;
    const bool is_copy = d == 0 && !allows_zero;
    if (is_copy && i >= x.dims().size())
      c.fail("dimension " + std::to_string(i) + " is to be copied, but there is none");
    y.push_back(is_copy ? x.dims()[i] : d);
  }
  if (rest) {
    if (allows_zero && std::ranges::find(wanted, 0) != wanted.end())
      c.fail("with allowzero, 0 and -1 cannot stand together");
    y[*rest] = left_for_rest(c, x, wanted);
  }
  c.set(0, x.reshaped(std::move(y)));
}

}  // namespace

constinit const OpDef defs::Reshape = {
    .name = "Reshape",
    .infer = infer,
    .steps = kSteps,
    .kernel = run,
    .gradient = gradient_reshape,
};

}  // namespace ingot::ops
