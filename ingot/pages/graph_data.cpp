// Graphs as data for the script that draws them.
#include "ingot/pages/graph_data.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ingot/base/current_budget.h"
#include "ingot/base/printable.h"
#include "ingot/ir/model.h"
#include "ingot/ir/source_notes.h"

namespace ingot::pages {
namespace {

constexpr std::size_t kLongest = 300;        // of a text; what is longer is cut
constexpr std::size_t kMostNodes = 200'000;  // bodies of functions are repeated for each call as long as there is room
constexpr int kDeepest = 12;

std::string shown(std::string_view text) { return printable(text, false, kLongest); }

struct AttributeText {
  std::string operator()(std::monostate) const { return "given by the call"; }
  std::string operator()(float v) const { return Json(static_cast<double>(v)).dump(); }
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const Tensor& v) const { return v.type().str(); }
  std::string operator()(const SparseTensor& v) const { return v.type().str(); }
  std::string operator()(const Type& v) const { return v.str(); }
  std::string operator()(const GraphPtr&) const { return "a graph"; }
  template <class T> std::string operator()(const std::vector<T>& v) const {
    std::string text;
    for (std::size_t i = 0; i < v.size() && text.size() < kLongest; ++i) text += (i ? ", " : "") + (*this)(v[i]);
    return "[" + text + "]";
  }
};

std::string name_of_node(const Node& node) { return node.name.empty() ? node.label() : node.name; }

class Builder {
 public:
  Builder(const Model& model, const GraphNotes& notes) : model_(model), notes_(notes) {}

  Json build() {
    if (notes_.costs) {
      places_ = driver::places_of(model_);
      sum_costs(notes_.costs->nodes, 0);
    }
    add_graph(*model_.graph, -1, 0);
    return {{"nodes", std::move(nodes_)}, {"edges", std::move(edges_)}};
  }

 private:
  using Ids = std::unordered_map<const Value*, int>;

  int add(Json node, int owner) {
    if (owner >= 0) node["owner"] = owner;
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }

  void add_edge(int from, int to, const Value* value) {
    Json edge = Json::array();
    edge.push_back(from);
    edge.push_back(to);
    edge.push_back(value && value->type ? shown(value->type.str()) : std::string());
    edges_.push_back(std::move(edge));
  }

  int add_port(const Value& value, const char* kind, int owner) {
    return add({{"name", shown(value.name())}, {"kind", kind}, {"type", shown(value.type.str())}}, owner);
  }

  struct Cost {
    std::optional<double> operations = 0;
    std::uint64_t weights = 0;
    std::optional<std::uint64_t> results = 0;
  };

  /// A call costs what the nodes of its function do.
  void sum_costs(const std::vector<driver::NodeCost>& nodes, int depth) {
    for (const driver::NodeCost& c : nodes) {
      Cost& cost = costs_[c.place];
      cost.operations =
          cost.operations && c.operations ? std::optional(*cost.operations + *c.operations) : std::nullopt;
      cost.weights += c.weights;
      cost.results = cost.results && c.activations ? std::optional(*cost.results + *c.activations) : std::nullopt;
      if (depth < kDeepest) sum_costs(c.bodies, depth + 1);
    }
  }

  void add_graph(const Graph& graph, int owner, int depth) {
    for (const Value* input : graph.inputs()) {
      if (input->initializer && owner < 0) continue;  // a weight with another word
      makers_[input] = add_port(*input, "input", owner);
      if (owner >= 0) add_edge(owner, makers_[input], input);
    }
    for (const Node& node : graph.nodes()) {
      count_step();
      add_node(node, owner, depth);
    }
    for (const Value* output : graph.outputs()) {
      if (!output) continue;
      const int id = add_port(*output, "output", owner);
      if (const auto maker = makers_.find(output); maker != makers_.end()) add_edge(maker->second, id, output);
      if (owner >= 0) add_edge(id, owner, output);
    }
  }

  void add_node(const Node& node, int owner, int depth) {
    // Without a name it is known by what it makes.
    const bool is_unnamed = node.name.empty() && node.output() && !node.output()->name().empty();
    Json data{{"name", shown(is_unnamed ? node.output()->name() : name_of_node(node))}, {"op", shown(node.op)}};
    if (is_unnamed) data["unnamed"] = true;
    if (!node.domain.empty()) data["domain"] = shown(node.domain);
    describe(node, data);
    add_costs(node, data);
    if (notes_.is_compared && owner < 0) add_changes(node, data);
    const int id = add(std::move(data), owner);
    for (const Value* input : node.inputs())
      if (const auto maker = makers_.find(input); input && maker != makers_.end()) add_edge(maker->second, id, input);
    for (const Value* output : node.outputs())
      if (output) makers_[output] = id;
    if (depth < kDeepest) add_bodies(node, id, depth);
  }

  void add_bodies(const Node& node, int id, int depth) {
    for (const Attribute& a : node.attributes) {
      if (const auto* graph = std::get_if<GraphPtr>(&a.value); graph && *graph) add_graph(**graph, id, depth + 1);
      if (const auto* graphs = std::get_if<std::vector<GraphPtr>>(&a.value))
        for (const GraphPtr& graph : *graphs) add_graph(*graph, id, depth + 1);
    }
    const Function* function = called(node);
    if (!function || !function->body || nodes_.size() + function->body->node_count() > kMostNodes) return;
    // The body is drawn once per call; not in itself, where its values would stand for two.
    if (!open_.insert(function).second) return;
    add_graph(*function->body, id, depth + 1);
    open_.erase(function);
  }

  const Function* called(const Node& node) {
    const auto key = [](const std::string& domain, const std::string& name, const std::string& overload) {
      return std::string(normal_domain(domain)) + '\n' + name + '\n' + overload;
    };
    if (functions_.empty())
      for (const auto& function : model_.functions)
        functions_.try_emplace(key(function->domain, function->name, function->overload), function.get());
    const auto found = functions_.find(key(node.domain, node.op, node.overload));
    return found == functions_.end() ? nullptr : found->second;
  }

  void describe(const Node& node, Json& data) const {
    const std::string source(note_of(node.metadata, kSource)), op(note_of(node.metadata, kSourceOp));
    if (!source.empty()) data["source"] = shown(source);
    if (!op.empty()) data["sourceOp"] = shown(op);
    if (!node.doc_string.empty()) data["doc"] = shown(node.doc_string);
    Json attributes = Json::array();
    for (const Attribute& a : node.attributes) {
      Json pair = Json::array();
      pair.push_back(shown(a.name));
      pair.push_back(shown(a.reference.empty() ? std::visit(AttributeText(), a.value) : "@" + a.reference));
      attributes.push_back(std::move(pair));
    }
    if (!attributes.empty()) data["attributes"] = std::move(attributes);
    data["inputs"] = values(node.inputs(), true);
    data["outputs"] = values(node.outputs(), false);
  }

  Json values(const Values& list, bool wants_makers) const {
    Json all = Json::array();
    for (const Value* v : list) {
      if (!v) continue;
      Json one = Json::array();
      one.push_back(shown(v->name()));
      one.push_back(v->type ? shown(v->type.str()) : v->initializer ? shown(v->initializer->type().str()) : "");
      if (const auto maker = makers_.find(v); wants_makers && maker != makers_.end()) one.push_back(maker->second);
      all.push_back(std::move(one));
    }
    return all;
  }

  void add_costs(const Node& node, Json& data) const {
    const auto place = places_.find(&node);
    const auto found = place == places_.end() ? costs_.end() : costs_.find(place->second);
    if (found == costs_.end()) return;
    const Cost& cost = found->second;
    data["place"] = place->second;
    if (cost.operations) data["flops"] = *cost.operations;
    if (cost.weights) data["weights"] = cost.weights;
    if (cost.results) data["results"] = *cost.results;
  }

  void add_changes(const Node& node, Json& data) const {
    const std::string key = name_of_node(node) + " (" + (node.domain.empty() ? "" : node.domain + ".") + node.op + ")";
    if (notes_.only.contains(key)) {
      data["mark"] = "only";
    } else if (const auto found = notes_.changed.find(key); found != notes_.changed.end()) {
      data["mark"] = "changed";
      Json changes = Json::array();
      for (const std::string& change : found->second) changes.push_back(shown(change));
      data["changes"] = std::move(changes);
    } else {
      data["mark"] = "same";
    }
  }

  const Model& model_;
  const GraphNotes& notes_;
  Json nodes_ = Json::array(), edges_ = Json::array();
  Ids makers_;
  std::unordered_map<const Node*, std::size_t> places_;
  std::unordered_map<std::size_t, Cost> costs_;  // by place
  std::unordered_map<std::string, const Function*> functions_;
  std::unordered_set<const Function*> open_;  // whose bodies are being drawn
};

}  // namespace

Json graph_data(const Model& model, const GraphNotes& notes) { return Builder(model, notes).build(); }

}  // namespace ingot::pages
