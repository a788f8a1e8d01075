// Tells parameters from statistics and constants.
#include "ingot/train/parameters.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ingot/ops/builder.h"

namespace ingot::train {
namespace {

/// The operand is a statistic, a scale of quantisation or a size: nothing that gradients should move.
std::string role_of(const Use& use) {
  if (!use.node) return {};
  const std::string& op = use.node->op;
  if (op == "BatchNormalization" && use.index >= 3) return "running statistics";
  if ((op == "QuantizeLinear" || op == "DequantizeLinear") && use.index >= 1) return "scale of a quantisation";
  if (op == "Resize" && use.index >= 1) return "sizes of a Resize";
  if (op == "RotaryEmbedding" && use.index >= 1) return "table of angles";
  if (op == "Clip" && use.index >= 1) return "bound of a Clip";
  if (op == "Pad" && use.index == 2) return "padding";
  if (op == "Dropout" && use.index >= 1) return "ratio of a Dropout";
  if (op == "OneHot") return "values of a OneHot";
  return {};
}

/// Zeros and one number far below them, as attention adds them to its scores.
bool is_mask(const Tensor& tensor) {
  constexpr double kFar = -1e4;
  constexpr std::int64_t kLargest = 1 << 22;  // larger ones are weights
  if (tensor.size() > kLargest) return false;
  double far = 0;
  for (const double v : tensor.to_doubles()) {
    if (v == 0 || v == far) continue;
    if (far != 0 || !(v <= kFar)) return false;
    far = v;
  }
  return far != 0;
}

/// Where a value that Identity nodes hand on comes from, each looked up once. Null: nowhere, or from itself.
class Sources {
 public:
  Value* of(Value* value) {
    std::vector<const Value*> way;
    while (value && value->producer() && value->producer()->is("Identity")) {
      const auto [known, is_new] = known_.try_emplace(value, nullptr);
      if (!is_new) {
        value = known->second;
        break;
      }
      way.push_back(value);
      value = value->producer()->input(0);
    }
    for (const Value* passed : way) known_[passed] = value;
    return value;
  }
  /// The value is about to go.
  void forget(const Value* value) { known_.erase(value); }

 private:
  std::unordered_map<const Value*, Value*> known_;
};

std::string pattern_of(const std::vector<std::string>& patterns, const Value& v) {
  for (const std::string& pattern : patterns) {
    if (pattern.starts_with("op:")) {
      for (const Use& use : v.uses())
        if (use.node && matches_glob(pattern.substr(3), use.node->op)) return pattern;
    } else if (matches_glob(pattern, v.name())) {
      return pattern;
    }
  }
  return {};
}

/// The initializers of the last `count` nodes that have real, shaped ones.
std::unordered_set<const Value*> of_last_nodes(const Graph& graph, std::size_t count) {
  std::unordered_set<const Value*> values;
  for (const Node* node = graph.last(); node && count > 0; node = node->previous()) {
    bool has_some = false;
    for (const Value* v : node->inputs()) {
      if (!v || !v->initializer || !is_float(v->initializer->dtype()) || v->initializer->rank() == 0) continue;
      values.insert(v);
      has_some = true;
    }
    if (has_some) --count;
  }
  return values;
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<ParameterChoice> choose_parameters(const Graph& graph, const ParameterOptions& options) {
  const auto last = of_last_nodes(graph, options.last);
  std::vector<ParameterChoice> choices;
  for (const Value* v : graph.initializers()) {
    if (!v->initializer || !is_float(v->initializer->dtype())) continue;
    ParameterChoice choice;
    choice.name = v->name();
    choice.type = v->initializer->type().str();
    choice.elements = static_cast<std::uint64_t>(v->initializer->size());
    std::string role;
    for (const Use& use : v->uses())
      if (role.empty()) role = role_of(use);
    const std::string frozen = pattern_of(options.frozen, *v), named = pattern_of(options.trainable, *v);
    if (!frozen.empty())
      choice.reason = "frozen by '" + frozen + "'";
    else if (!role.empty())
      choice.reason = role;
    else if (!named.empty())
      choice.is_trained = true, choice.reason = "asked for by '" + named + "'";
    else if (!options.trainable.empty())
      choice.reason = "not asked for";
    else if (v->initializer->rank() == 0)
      choice.reason = "a single number";
    else if (is_mask(*v->initializer))
      choice.reason = "a mask";
    else if (options.last && !last.contains(v))
      choice.reason = "not in the last " + std::to_string(options.last) + " layers";
    else
      choice.is_trained = true, choice.reason = "a weight";
    choices.push_back(std::move(choice));
  }
  return choices;
}

std::vector<std::string> separate_statistics(Graph& graph) {
  std::vector<std::string> notes;
  std::unordered_set<const Value*> taken;
  Sources sources;
  for (Node& node : graph.nodes()) {
    if (!node.is("BatchNormalization")) continue;
    for (std::size_t i = 3; i <= 4; ++i) {
      Value* v = node.input(i);
      const Value* source = sources.of(v);
      if (!source || !source->initializer) continue;
      const bool is_own = source == v && v->uses().size() == 1 && taken.insert(v).second;
      if (is_own) continue;
      const std::string base = node.output()->name() + (i == 3 ? "/running_mean" : "/running_var");
      Value* own = graph.add_initializer(graph.fresh_name(base), *source->initializer);
      node.set_input(i, own);
      notes.push_back("'" + source->name() + "' also holds other numbers: the statistics of " + node.label() +
                      " are now '" + own->name() + "'");
    }
  }
  return notes;
}

std::vector<std::string> separate_copies(Graph& graph, const std::function<bool(const std::string&)>& is_own) {
  std::vector<Node*> copies;
  for (Node& node : graph.nodes())
    if (node.is("Identity") && node.output()) copies.push_back(&node);
  std::vector<std::string> names;
  Sources sources;
  for (Node* node : copies) {
    const Value *copy = node->output(), *source = sources.of(node->input(0));
    if (!source || !source->initializer || !is_float(source->initializer->dtype())) continue;
    const bool is_inside =
        !copy->uses().empty() && std::ranges::all_of(copy->uses(), [](const Use& use) { return use.node != nullptr; });
    if (!is_inside || !is_own(copy->name())) continue;
    const std::string name = copy->name();
    Value* own = graph.add_initializer(graph.fresh_name(name), *source->initializer);
    graph.replace_all_uses(node->output(), own);
    sources.forget(copy);
    graph.erase(node);
    graph.rename(own, name);
    names.push_back(name);
  }
  return names;
}

}  // namespace ingot::train
