// A whole model as a program: its inputs, its graph, its outputs.
#include "ingot/lower/lower.h"

#include <algorithm>
#include <map>

#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/lower/integer_products.h"
#include "ingot/lower/lowering.h"
#include "ingot/lower/open_squeeze.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/absorb_lines.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/fold.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/passes/legalize/rewrite.h"
#include "ingot/passes/legalize/rewrites.h"
#include "ingot/passes/legalize/target.h"
#include "ingot/passes/sort_nodes.h"

namespace ingot::lower {
namespace {

/// Inputs with the variables that their sizes are: equal names are one.
class Inputs {
 public:
  Inputs(Lowering& lowering, Program& program) : lowering_(lowering), program_(program) {}

  void add(const Value& input, std::vector<std::string>& problems) {
    const bool is_optional = input.type.is_optional();
    const Type& type = is_optional ? input.type.inner() : input.type;
    const Type& held = type.is_sequence() ? type.inner() : type;
    if (!held.is_tensor() || !held.shape || (type.is_sequence() && held.elem == DType::string)) {
      const bool lacks_rank = held.is_tensor() && !held.shape;
      if (lacks_rank) hint_ = "--input-shape gives an input its rank and sizes: x:1,3 (x: alone for a single number)";
      problems.push_back("input '" + input.name() + "': no code can be made for " +
                         (lacks_rank ? "a tensor of unknown rank" : input.type.schema_name()));
      return;
    }
    if (is_optional) {
      const View has = part(input.name() + "_has", DType::boolean, {});
      lowering_.set_presence(&input, has.at({}));
    }
    if (type.is_sequence()) return add_list(input, held);
    if (type.elem == DType::string) return add_strings(input, type);
    lowering_.set_view(&input, part(input.name(), type.elem, dims_of(input.name(), *type.shape)));
  }

  /// What helps against the problems.
  const char* hint() const { return hint_; }

 private:
  View part(const std::string& name, DType type, const Exprs& dims) {
    Buffer buffer;
    buffer.name = name;
    buffer.type = type;
    buffer.role = Buffer::Role::input;
    buffer.dims = dims;
    View view{type, dims, -1, {}, 0};
    view.tensor = lowering_.add_buffer(std::move(buffer));
    program_.inputs.push_back({name, view.tensor, dims});
    return view;
  }

  Exprs dims_of(const std::string& name, const Shape& shape) {
    Exprs dims;
    for (std::size_t i = 0; i < shape.size(); ++i) dims.push_back(size_of(shape[i], name + "_" + std::to_string(i)));
    return dims;
  }

  /// Two inputs: bytes, and the ends of strings in them.
  void add_strings(const Value& input, const Type& type) {
    const View bytes = part(input.name(), DType::u8, {size_of(Dim(), input.name() + "_bytes")});
    lowering_.set_strings(&input,
                          {bytes, part(input.name() + "_ends", DType::i64, dims_of(input.name(), *type.shape))});
  }

  /// Two inputs: elements, and the table of dimensions.
  void add_list(const Value& input, const Type& held) {
    const auto rank = static_cast<std::int64_t>(held.shape->size());
    const Expr count = size_of(Dim(), input.name() + "_count");
    const View data = part(input.name(), held.elem, {size_of(Dim(), input.name() + "_total")});
    lowering_.set_list(&input, {held.elem, rank, data, part(input.name() + "_dims", DType::i64, {count, rank}), count});
  }

  Expr size_of(const Dim& dim, const std::string& fallback) {
    if (dim.is_known()) return dim.value();
    const std::string name = dim.is_unknown() ? fallback : dim.str();
    const auto [it, is_new] = by_name_.try_emplace(name, static_cast<int>(program_.variables.size()));
    if (is_new) {
      program_.variables.push_back({name, DType::i64, true, true});
      program_.sizes.push_back(it->second);
    }
    return Expr::variable(it->second, DType::i64, true);
  }

  Lowering& lowering_;
  Program& program_;
  const char* hint_ = "";
  std::map<std::string, int> by_name_;
};

/// Each output gets a buffer of its own: that of the value, unless others have it.
void add_outputs(Lowering& lowering, Program& program, const Graph& graph) {
  const auto add = [&](View view, const std::string& name) {
    view = lowering.stored(view);
    if (program.buffers[static_cast<std::size_t>(view.tensor)].role != Buffer::Role::scratch)
      view = lowering.copied(view);
    Buffer& buffer = program.buffers[static_cast<std::size_t>(view.tensor)];
    buffer.role = Buffer::Role::output;
    buffer.name = name;
    program.outputs.push_back({name, view.tensor, view.dims});
  };
  for (const Value* value : graph.outputs()) {
    const Type& type = value->type.is_optional() ? value->type.inner() : value->type;
    if (value->type.is_optional()) {
      const Expr has = lowering.is_present(value);
      add(lowering.computed(DType::boolean, {}, [=](const Exprs&) { return has; }), value->name() + "_has");
    }
    if (type.is_sequence() && type.inner().kind == Type::Kind::map) {
      const Maps& maps = lowering.maps_of(value);
      add(maps.values, value->name());
      if (maps.words) add(maps.words->bytes, value->name() + "_keys");
      add(maps.words ? maps.words->ends : maps.numbers, value->name() + (maps.words ? "_keys_ends" : "_keys"));
    } else if (type.is_sequence()) {
      List list = lowering.list_of(value);
      if (list.rank < 0) list.data = lowering.fresh(list.type, {0}), list.table = lowering.fresh(DType::i64, {0, 0});
      add(list.data, value->name());
      add(list.table, value->name() + "_dims");
    } else if (type.is_tensor() && type.elem == DType::string) {
      const Strings strings = lowering.strings_of(value);
      add(strings.bytes, value->name());
      add(strings.ends, value->name() + "_ends");
    } else {
      add(lowering.view_of(value), value->name());
    }
  }
}

[[noreturn]] void refuse(const std::vector<std::string>& problems, const char* hint = "") {
  std::string text = "the model cannot be compiled:";
  for (const std::string& p : problems) text += "\n  " + p;
  Error error(Code::not_expressible, text);
  if (*hint) error.hint(hint);
  throw error;
}

/// Types of what inlining and decomposing made, and of what follows from a branch that was taken.
void infer_again(Graph& graph) {
  ops::InferSession session;
  session.on_error = [](const Node&, const Error&) {};
  ops::infer_graph(graph, session);
}

/// An If whose condition is known is one of its branches, and one that is a Squeeze becomes that; what follows then has
/// a rank, which may decide others.
void take_branches(Graph& graph) {
  using passes::legalize::Rewrite;
  static const passes::legalize::Target kTarget;
  static constexpr Rewrite kRewrites[] = {{"known branches", "If", passes::legalize::rewrite_known_if},
                                          {"open squeezes", "If", rewrite_open_squeeze}};
  constexpr int kMostRounds = 32;
  std::vector<std::string> notes;
  const auto take = [&](const Rewrite& rewrite) {
    std::size_t taken = 0;
    for_each_graph(graph, [&](Graph& g) {
      for (Node& node : g.nodes())
        if (node.is("If")) taken += passes::legalize::apply(rewrite, node, kTarget, notes);
    });
    return taken > 0;
  };
  for (int round = 0; round < kMostRounds && std::ranges::any_of(kRewrites, take); ++round) {
    infer_again(graph);
    passes::fold_constants(graph);
  }
}

/// What a file states of the sizes of results holds for what it was made with: code that believed it would read beyond
/// its memory with other inputs. Ranks are believed, sizes are those that follow from the inputs.
void doubt_sizes(Graph& graph) {
  for_each_graph(graph, [](Graph& g) {
    for (Node& node : g.nodes())
      for (Value* v : node.outputs())
        if (v && v->type.is_tensor() && v->type.shape) v->type.shape->assign(v->type.shape->size(), Dim());
  });
}

/// All that a Scan goes through has as many slices. The Loop that it becomes takes them one by one and does not ask; a
/// Reshape to the length of the first input does.
void state_length(Node& scan) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(scan.attributes.int_or("num_scan_inputs", 0), 0));
  if (count < 2 || count > scan.input_count()) return;
  const std::size_t states = scan.input_count() - count;
  const auto axes = scan.attributes.ints_or("scan_input_axes", std::vector<std::int64_t>(count, 0));
  if (axes.size() != count) return;
  GraphBuilder g(scan.graph(), &scan);
  const auto sizes = [&](Value* x, std::int64_t from, std::int64_t to) {
    return g.op("Shape", {x}, {{"start", from}, {"end", to}});
  };
  const auto axis_of = [&](std::size_t i) -> std::optional<std::int64_t> {
    const Value* x = scan.input(states + i);
    if (!x || !x->type.shape) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(x->type.shape->size()), axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    return axis >= 0 && axis < rank ? std::optional(axis) : std::nullopt;
  };
  const auto first = axis_of(0);
  for (std::size_t i = 1; first && i < count; ++i) {
    const auto axis = axis_of(i);
    if (!axis) continue;
    Value *x = scan.input(states + i), *one = scan.input(states);
    const Dim &size = (*x->type.shape)[static_cast<std::size_t>(*axis)],
              &length = (*one->type.shape)[static_cast<std::size_t>(*first)];
    if (!size.is_unknown() && size == length) continue;
    const auto rank = static_cast<std::int64_t>(x->type.shape->size());
    const Values shape = {sizes(x, 0, *axis), sizes(one, *first, *first + 1), sizes(x, *axis + 1, rank)};
    scan.set_input(states + i, g.op("Reshape", {x, g.op("Concat", shape, {{"axis", 0}})}, {{"allowzero", 1}}));
  }
}

/// Nodes that inference refuses.
std::unordered_set<const Node*> contradictions(Graph& graph) {
  std::unordered_set<const Node*> nodes;
  ops::InferSession session;
  session.on_error = [&](const Node& node, const Error&) { nodes.insert(&node); };
  ops::infer_graph(graph, session);
  return nodes;
}

bool is_quantized_product(const Node& node) {
  return node.op == "QLinearConv" || node.op == "QLinearMatMul" || node.op == "QGemm";
}

}  // namespace

void legalize(Model& model) {
  doubt_sizes(*model.graph);
  passes::sort_nodes(*model.graph);
  passes::canonicalize(model);
  passes::inline_functions(model);
  // Before constants are folded: bytes would become floats.
  passes::decompose(model, [](const Node& node) { return !is_quantized_product(node); });
  use_integer_products(*model.graph);
  drop_unread(model);
  passes::fold_constants(*model.graph);
  infer_again(*model.graph);
  take_branches(*model.graph);
  for_each_graph(*model.graph, [](Graph& g) {
    for (Node& node : g.nodes())
      if (node.is("Scan")) state_length(node);
  });
  passes::absorb_lines(*model.graph);
  const auto is_native = [](const Node& node) { return lowering_of(node) != nullptr; };
  for (int round = 0; round < 4; ++round) {
    std::size_t changed = passes::decompose(model, is_native);
    changed += passes::fold_constants(*model.graph);
    if (changed == 0) break;
  }
}

Program lower(const Model& model, std::string name, const Kernels& kernels) {
  Program program;
  program.name = std::move(name);
  Lowering lowering(program, kernels);
  Inputs inputs(lowering, program);
  std::vector<std::string> problems;
  for (const Value* input : model.graph->inputs())
    if (!input->initializer) inputs.add(*input, problems);
  if (!problems.empty()) refuse(problems, inputs.hint());
  lowering.set_contradictions(contradictions(*model.graph));
  lowering.lower_graph(*model.graph);
  if (!lowering.problems().empty()) refuse(lowering.problems());
  add_outputs(lowering, program, *model.graph);
  return program;
}

}  // namespace ingot::lower
