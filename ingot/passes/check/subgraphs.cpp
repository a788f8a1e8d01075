// The graphs inside of nodes: as many inputs and outputs as the operator passes in and out, of the same types.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/ir/has_default.h"
#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

/// The rules for one node.
class SubgraphRules {
 public:
  SubgraphRules(Context& c, const Node& node, std::int64_t opset) : c_(c), node_(node), opset_(opset) {}

  void check() {
    if (node_.is("If"))
      check_if();
    else if (node_.is("Loop"))
      check_loop();
    else if (node_.is("Scan"))
      check_scan();
    else if (node_.is("SequenceMap"))
      check_sequence_map();
  }

 private:
  static const Graph* held(const Node& node, std::string_view attribute) {
    const auto* graph = node.attributes.get<GraphPtr>(attribute);
    return graph ? graph->get() : nullptr;
  }

  /// Up to IR 3 the initializers of a graph are inputs too, after those that the operator gives.
  std::size_t input_count(const Graph& graph) const {
    std::size_t count = graph.inputs().size();
    if (c_.model.ir_version >= 4) return count;
    for (const Value* v : graph.inputs()) count -= has_default(*v);
    return count;
  }

  void expect(const Graph& graph, std::size_t count, std::size_t expected, std::string_view what,
              std::string_view why) {
    if (count == expected) return;
    c_.report.mark(c_.places.of(node_));
    c_.report.error(Code::bad_subgraph, c_.places.of(graph),
                    fmt::format("the graph has {}, but {} {} {}", counted(count, what), node_.op,
                                what == "input" ? "gives it" : "expects",
                                why.empty() ? fmt::format("{}", expected) : fmt::format("{} ({})", expected, why)),
                    fmt::format("correct the {}s of the graph or of the node", what));
  }

  void check_if() {
    const Graph* branches[] = {held(node_, "then_branch"), held(node_, "else_branch")};
    for (const Graph* branch : branches) {
      if (!branch) continue;
      expect(*branch, input_count(*branch), 0, "input", "");
      expect(*branch, branch->output_count(), node_.output_count(), "output", "one per output of the node");
    }
    if (!branches[0] || !branches[1]) return;
    for (std::size_t i = 0; i < std::min(branches[0]->output_count(), branches[1]->output_count()); ++i) {
      const Value *a = branches[0]->output(i), *b = branches[1]->output(i);
      if (!a || !b || same_kind(c_.type_of(*a), c_.type_of(*b))) continue;
      c_.report.error(Code::type_mismatch, c_.places.of(node_),
                      fmt::format("output {} is {} in then_branch and {} in else_branch", i,
                                  c_.type_of(*a).schema_name(), c_.type_of(*b).schema_name()),
                      "make both branches give the same type");
    }
  }

  void check_loop() {
    const Graph* body = held(node_, "body");
    if (!body) return;
    const std::size_t carried = node_.input_count() > 2 ? node_.input_count() - 2 : 0;
    expect(*body, input_count(*body), carried + 2, "input", "iteration, condition and carried values");
    expect(*body, body->output_count(), node_.output_count() + 1, "output", "condition and one per output of the node");
    if (input_count(*body) != carried + 2) return;
    for (std::size_t i = 0; i < carried; ++i) compare_input(*body, i + 2, i + 2);
  }

  void check_scan() {
    const Graph* body = held(node_, "body");
    const auto* scanned = node_.attributes.get<std::int64_t>("num_scan_inputs");
    if (!body || !scanned) return;
    const std::size_t first = opset_ < 9 ? 1 : 0;  // opset 8 has the sequence lengths in front
    const std::size_t inputs = node_.input_count() > first ? node_.input_count() - first : 0;
    if (*scanned < 1 || static_cast<std::uint64_t>(*scanned) > inputs) {
      c_.report.error(
          Code::bad_attribute, c_.places.of(node_),
          fmt::format("attribute 'num_scan_inputs' is {}, but the node has {}", *scanned, counted(inputs, "input")),
          "it counts the inputs that are scanned, at least one");
      return;
    }
    expect(*body, input_count(*body), inputs, "input", "one per input of the node");
    expect(*body, body->output_count(), node_.output_count(), "output", "one per output of the node");
    const std::size_t states = inputs - static_cast<std::size_t>(*scanned);
    const std::size_t scan_outputs = node_.output_count() > states ? node_.output_count() - states : 0;
    check_length("scan_input_axes", inputs - states, "scanned inputs");
    check_length("scan_input_directions", inputs - states, "scanned inputs");
    check_length("directions", inputs - states, "scanned inputs");
    check_length("scan_output_axes", scan_outputs, "scanned outputs");
    check_length("scan_output_directions", scan_outputs, "scanned outputs");
    if (input_count(*body) != inputs) return;
    for (std::size_t i = 0; i < inputs; ++i) compare_input(*body, i, i + first);
  }

  void check_length(std::string_view attribute, std::size_t expected, std::string_view what) {
    const auto* list = node_.attributes.get<std::vector<std::int64_t>>(attribute);
    if (!list || list->size() == expected) return;
    c_.report.error(Code::bad_attribute, c_.places.of(node_),
                    fmt::format("attribute {} has {}, but there are {} {}", quoted(attribute),
                                counted(list->size(), "value"), expected, what),
                    "give one value for each");
  }

  void check_sequence_map() {
    const Graph* body = held(node_, "body");
    if (!body) return;
    expect(*body, input_count(*body), node_.input_count(), "input", "one per input of the node");
    expect(*body, body->output_count(), node_.output_count(), "output", "one per output of the node");
  }

  /// What the graph states of its input against what the node passes. Shapes may change from turn to turn.
  void compare_input(const Graph& body, std::size_t formal, std::size_t actual) {
    const Value *stated = body.inputs()[formal], *given = node_.input(actual);
    if (!given || same_kind(stated->type, c_.type_of(*given))) return;
    c_.report.mark(c_.places.of(node_));
    c_.report.error(Code::type_mismatch, c_.places.of(*stated),
                    fmt::format("the graph states {}, but the node passes {}, which is {}", stated->type.schema_name(),
                                quoted(given->name()), c_.type_of(*given).schema_name()),
                    "correct the type that the graph states");
  }

  static bool same_kind(const Type& a, const Type& b) {
    if (!a || !b) return true;
    if (a.kind != b.kind) return false;
    if (a.elem != b.elem && a.elem != DType::undefined && b.elem != DType::undefined) return false;
    return !a.element || !b.element || same_kind(*a.element, *b.element);
  }

  Context& c_;
  const Node& node_;
  std::int64_t opset_;
};

}  // namespace

void check_subgraphs(Context& c) {
  for (const GraphPlace& place : c.graphs) {
    const std::int64_t opset = c.imports(place).version("");
    for (const Node& node : place.graph->nodes())
      if (!node.attributes.empty() && !c.functions.find(node)) SubgraphRules(c, node, opset).check();
  }
}

}  // namespace ingot::passes::rules
