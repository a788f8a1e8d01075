// Names: each is defined once, before it is used, and hides no other.
#include <fmt/format.h>

#include <unordered_set>

#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

/// Walks a graph and the graphs nested in it in the order of execution, with the names visible at each node.
class Walk {
 public:
  explicit Walk(Context& c) : c_(c) {}

  /// `outer`: the graph whose values are all visible: that of the model, for a training algorithm; else null.
  void run(const Graph& root, const Graph* outer) {
    outer_ = outer;
    if (outer) see_all(*outer);
    enter(root);
    while (!frames_.empty()) step();
    defined_.clear();
  }

 private:
  struct Frame {
    const Graph* graph;
    const Node* node;  // the next one, or the one whose graphs are being walked
    bool is_open = false;
    std::vector<const Graph*> nested = {};
    std::size_t next_nested = 0;
    std::unordered_set<std::string_view> node_names = {};
    std::unordered_set<const Node*> on_cycle = {};
    bool looked_for_cycle = false;
  };

  void see_all(const Graph& graph) {
    for (const Value* v : graph.inputs()) defined_.insert(v);
    for (const Value* v : graph.initializers()) defined_.insert(v);
    for (const Node& node : graph.nodes())
      for (std::size_t i = 0; i < node.output_count(); ++i)
        if (node.output(i)) defined_.insert(node.output(i));
  }

  void enter(const Graph& graph) {
    frames_.push_back({&graph, graph.first()});
    if (graph.name.empty() && !graph.is_function_body)
      c_.report.warning(Code::bad_name, c_.places.of(graph), "the graph has no name", "give it one; any will do");
    if (!nests()) {
      defined_.reserve(graph.inputs().size() + graph.initializers().size() + graph.node_count());
      frames_.back().node_names.reserve(graph.node_count());
    }
    for (const Value* v : graph.inputs()) define(*v, "input");
    for (const Value* v : graph.initializers())
      if (!v->is_input()) define(*v, "initializer");
  }

  void step() {
    Frame& frame = frames_.back();
    if (frame.next_nested < frame.nested.size()) return enter(*frame.nested[frame.next_nested++]);
    if (!frame.node) return leave();
    if (!frame.is_open) {
      open(*frame.node);
      return;
    }
    for (std::size_t i = 0; i < frame.node->output_count(); ++i)
      if (frame.node->output(i)) define(*frame.node->output(i), "node output");
    frame.is_open = false;
    frame.node = frame.node->next();
  }

  void open(const Node& node) {
    Frame& frame = frames_.back();
    frame.is_open = true;
    if (!node.name.empty() && !frame.node_names.insert(node.name).second)
      c_.report.warning(Code::duplicate_name, c_.places.in(*frame.graph, "node " + quoted(node.name)),
                        "several nodes have this name", "give each node a name of its own, or none");
    for (std::size_t i = 0; i < node.input_count(); ++i)
      if (const Value* v = node.input(i)) use(*v, node);
    frame.nested.clear();
    frame.next_nested = 0;
    for_each_subgraph(node, [&](Graph& g) { frame.nested.push_back(&g); });
  }

  void leave() {
    Frame& frame = frames_.back();
    const Graph& graph = *frame.graph;
    std::unordered_set<std::string_view> names;
    for (std::size_t i = 0; i < graph.output_count(); ++i) {
      const Value* v = graph.output(i);
      if (!v) continue;
      check_output(graph, *v);
      // A loop's body may well give one value twice.
      if (names.insert(v->name()).second || nests()) continue;
      const std::string place = c_.places.in(graph, "output " + quoted(v->name()));
      if (graph.is_function_body)
        c_.report.error(Code::bad_function, place, "the function gives this output twice", "name each output once");
      else
        c_.report.warning(Code::duplicate_name, place, "the graph gives this output twice",
                          "give it once, or pass it through an Identity");
    }
    frames_.pop_back();
  }

  bool nests() const { return frames_.size() > 1; }

  void check_output(const Graph& graph, const Value& value) {
    const auto place = [&] { return c_.places.in(graph, "output " + quoted(value.name())); };
    if (value.name().empty()) {
      c_.report.error(Code::bad_name, c_.places.of(graph), "an output has no name", "name the value that it gives");
    } else if (value.is_undefined()) {
      c_.report.error(Code::undefined_value, place(), "nothing defines this value",
                      "correct the name, or add the node that makes it");
    } else if (&value.graph() != &graph && nests()) {
      c_.report.warning(Code::undefined_value, place(), "the value is defined outside of the graph that gives it",
                        "pass it through an Identity");
    }
  }

  void use(const Value& value, const Node& node) {
    if (value.is_undefined()) {
      if (!undefined_.insert(&value).second) return;
      std::string message = fmt::format("nothing defines input {}", quoted(value.name()));
      if (value.uses().size() > 1) message += fmt::format(", which is read {} times", value.uses().size());
      c_.report.error(Code::undefined_value, c_.places.of(node), std::move(message),
                      "correct the name, or add the input, initializer or node that it should come from");
      return;
    }
    if (defined_.contains(&value)) return;
    // The frame of the graph in which the order is wrong: where the value's producer stands.
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
      if (frame->graph == &value.graph()) return value.producer() ? read_ahead(*frame, value, node) : lost(value, node);
  }

  /// Neither input nor initializer nor made by a node, though it once was.
  void lost(const Value& value, const Node& node) {
    if (undefined_.insert(&value).second)
      c_.report.error(Code::undefined_value, c_.places.of(node),
                      fmt::format("nothing defines input {}", quoted(value.name())),
                      "correct the name, or add the input, initializer or node that it should come from");
  }

  void read_ahead(Frame& frame, const Value& value, const Node& node) {
    if (!frame.looked_for_cycle) {
      frame.looked_for_cycle = true;
      report_cycle(frame);
    }
    if (frame.on_cycle.contains(frame.node) && frame.on_cycle.contains(value.producer())) return;
    // What the graph means does not depend on the order, and runtimes sort.
    c_.report.warning(
        Code::not_sorted, c_.places.of(node),
        fmt::format("input {} is made only later, by {}", quoted(value.name()), c_.places.of(*value.producer())),
        "put the nodes in an order in which each follows those that it reads from");
  }

  void report_cycle(Frame& frame) {
    const std::vector<const Node*> cycle = find_cycle(*frame.graph);
    if (cycle.empty()) return;
    frame.on_cycle.insert(cycle.begin(), cycle.end());
    constexpr std::size_t kShown = 8;
    std::string text;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (i == kShown && cycle.size() > kShown + 2) {
        text += fmt::format(" -> ... {} more", cycle.size() - kShown - 1);
        i = cycle.size() - 1;
      }
      if (i > 0) text += " -> ";
      text += c_.places.of(*cycle[i]);
    }
    c_.report.error(Code::cyclic_graph, c_.places.of(*frame.graph), "nodes depend on each other in a circle: " + text,
                    "break the circle; repetition is expressed by Loop or Scan");
  }

  void define(const Value& value, std::string_view as) {
    if (value.name().empty()) {
      c_.report.error(Code::bad_name, c_.places.of(value), fmt::format("an {} has no name", as), "give it a name");
      return;
    }
    defined_.insert(&value);
    if (value.graph().find(value.name()) != &value) return report_repetition(value, as, false);
    const auto is_defined = [&](const Graph& graph) {
      const Value* other = graph.find(value.name());
      return other && defined_.contains(other);
    };
    // Of the graphs around, the nearest counts: what it defines later is not visible here.
    for (auto frame = frames_.rbegin() + 1; frame != frames_.rend(); ++frame)
      if (is_defined(*frame->graph)) return report_shadow(value, as, *frame->graph);
    if (outer_ && is_defined(*outer_)) report_repetition(value, as, true);
  }

  void report_repetition(const Value& value, std::string_view as, bool by_outer) {
    c_.is_ambiguous = true;
    const std::string place = c_.places.of(value);
    if (by_outer)
      c_.report.error(Code::duplicate_name, place, "the graph of the model defines this name too",
                      "training runs both graphs as one: rename the value in the training algorithm");
    else
      c_.report.error(Code::duplicate_name, place, fmt::format("the name is defined again, by {}", definer(value, as)),
                      "give each value a name of its own");
  }

  void report_shadow(const Value& value, std::string_view as, const Graph& other) {
    const std::string place = c_.places.of(value);
    std::string message = fmt::format("{} hides the value of the same name of an outer graph ({})", definer(value, as),
                                      c_.places.of(other));
    std::string hint = "rename the value in the inner graph";
    if (value.producer())
      c_.report.error(Code::shadowed_name, place, std::move(message), std::move(hint));
    else
      c_.report.warning(Code::shadowed_name, place, std::move(message), std::move(hint));
  }

  std::string definer(const Value& value, std::string_view as) {
    return value.producer() ? c_.places.of(*value.producer()) : fmt::format("an {}", as);
  }

  Context& c_;
  const Graph* outer_ = nullptr;
  std::vector<Frame> frames_;
  std::unordered_set<const Value*> defined_, undefined_;
};

}  // namespace

void check_names(Context& c) {
  Walk walk(c);
  walk.run(*c.model.graph, nullptr);
  for (const auto& f : c.model.functions) walk.run(*f->body, nullptr);
  for (const TrainingInfo& t : c.model.training) {
    if (t.initialization) walk.run(*t.initialization, nullptr);
    if (t.algorithm) walk.run(*t.algorithm, c.model.graph.get());
  }
}

}  // namespace ingot::passes::rules
