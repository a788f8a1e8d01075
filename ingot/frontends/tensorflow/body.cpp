// Edges of a graph, and which nodes belong to which loop and branch of the old control flow.
#include "ingot/frontends/tensorflow/body.h"

#include <algorithm>
#include <charconv>

#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/examples.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr std::size_t kMostGuards = 64;
constexpr std::int32_t kMostOutputs = 1 << 20;

std::int32_t number(std::string_view digits, std::string_view reference) {
  std::int32_t value = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0)
    throw Error(Code::bad_source_graph, "'" + std::string(reference) + "' does not name a tensor");
  return value;
}

void unite(std::vector<Guard>& all, std::span<const Guard> more) {
  for (const Guard& g : more)
    if (std::ranges::find(all, g) == all.end()) all.push_back(g);
  if (all.size() > kMostGuards) throw Error(Code::depth_limit, "conditions are nested more than 64 times");
}

}  // namespace

Body::Body(std::span<const tf::NodeDef> nodes, const tf::FunctionDef* function, const FindFunction& find_function)
    : nodes_(nodes),
      function_(function),
      find_function_(find_function),
      inputs_(nodes.size()),
      controls_(nodes.size()) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].name.empty()) throw Error(Code::bad_source_graph, "a node (" + nodes[i].op + ") has no name");
    if (!by_name_.try_emplace(nodes[i].name, static_cast<std::int32_t>(i)).second)
      throw Error(Code::duplicate_name, "two nodes are named '" + nodes[i].name + "'");
  }
  if (function)
    for (std::size_t i = 0; i < function->inputs.size(); ++i)
      arguments_.try_emplace(function->inputs[i].name, static_cast<std::int32_t>(i));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string& op = nodes[i].op;
    flow_ |= op == "Merge" || op == "RefMerge" || op == "Enter" || op == "RefEnter";
    for (const std::string& input : nodes[i].inputs) {
      if (input.starts_with('^')) {
        const std::int32_t control = find(std::string_view(input).substr(1));
        if (control >= 0) controls_[i].push_back(control);
        continue;
      }
      inputs_[i].push_back(resolve(input));
    }
  }
  if (flow_) find_flow();
}

std::size_t Body::output_count(std::int32_t i) const {
  std::int32_t count = 1;
  for (const auto& inputs : inputs_)
    for (const Source& s : inputs)
      if (s.node == i) count = std::max(count, s.port + 1);
  return static_cast<std::size_t>(std::min(count, 1000));
}

std::int32_t Body::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

Source Body::resolve(std::string_view reference) const {
  const std::size_t colon = reference.find(':');
  const std::string_view name = reference.substr(0, colon);
  if (const std::int32_t node = find(name); node >= 0) {
    if (colon == reference.npos) return {node, 0};
    const std::string_view rest = reference.substr(colon + 1);
    const std::size_t second = rest.find(':');
    if (second == rest.npos && !rest.empty() && rest.front() >= '0' && rest.front() <= '9')
      return {node, number(rest, reference)};
    // In a function: node:output_name or node:output_name:index.
    if (!function_) throw Error(Code::bad_source_graph, "'" + std::string(reference) + "' does not name a tensor");
    const std::string_view output = rest.substr(0, second);
    const tf::NodeDef& producer = nodes_[static_cast<std::size_t>(node)];
    std::int32_t position =
        parses_examples(producer.op) ? example_output(producer, output) : output_position(producer.op, output);
    if (const tf::FunctionDef* called = find_function_(producer.op)) {
      const auto arg = std::ranges::find(called->outputs, output, &tf::ArgDef::name);
      if (arg != called->outputs.end()) position = static_cast<std::int32_t>(arg - called->outputs.begin());
    }
    const std::int32_t index = second == rest.npos ? 0 : number(rest.substr(second + 1), reference);
    if (index > kMostOutputs)
      throw Error(Code::bad_source_graph, "'" + std::string(reference) + "' has no such output");
    return {node, position + index};
  }
  if (const auto argument = arguments_.find(name); argument != arguments_.end())
    return {Source::kArgument, argument->second};
  throw Error(Code::bad_source_graph, "nothing is named '" + std::string(name) + "'");
}

Source Body::behind_identities(Source source) const {
  for (std::size_t steps = 0; steps < size() && source.node >= 0; ++steps) {
    const std::string& op = node(source.node).op;
    if ((op != "Identity" && op != "StopGradient" && op != "RefIdentity") || inputs(source.node).empty()) break;
    source = inputs(source.node).front();
  }
  return source;
}

std::span<const Guard> Body::guards(std::int32_t i) const {
  return flow_ ? std::span<const Guard>(guards_[static_cast<std::size_t>(i)]) : std::span<const Guard>();
}

bool Body::has_guard(Source source, const Guard& guard) const {
  if (source.node < 0 || !flow_) return false;
  const tf::NodeDef& producer = node(source.node);
  if ((producer.op == "Switch" || producer.op == "RefSwitch") && inputs(source.node).size() == 2 &&
      behind_identities(inputs(source.node)[1]) == guard.condition)
    return (source.port == 1) == guard.branch;
  return std::ranges::find(guards(source.node), guard) != guards(source.node).end();
}

bool Body::is_inside(std::int32_t frame, std::int32_t outer) const {
  while (frame >= 0 && frame != outer) frame = loop(frame).parent;
  return frame == outer;
}

/// Places the nodes so that each follows what it reads, back edges of loops left out.
void Body::find_flow() {
  const std::size_t count = size();
  frames_of_.assign(count, -1);
  guards_.resize(count);
  std::vector<std::vector<std::int32_t>> readers(count);
  std::vector<std::size_t> waiting(count, 0);
  const auto is_back_edge = [&](std::int32_t from) {
    return node(from).op == "NextIteration" || node(from).op == "RefNextIteration";
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto add = [&](std::int32_t from) {
      if (from < 0 || is_back_edge(from)) return;
      readers[static_cast<std::size_t>(from)].push_back(static_cast<std::int32_t>(i));
      ++waiting[i];
    };
    for (const Source& s : inputs_[i]) add(s.node);
    for (const std::int32_t c : controls_[i]) add(c);
  }
  std::vector<std::int32_t> ready;
  for (std::size_t i = 0; i < count; ++i)
    if (!waiting[i]) ready.push_back(static_cast<std::int32_t>(i));
  for (std::size_t at = 0; at < ready.size(); ++at) {
    place(ready[at]);
    for (const std::int32_t reader : readers[static_cast<std::size_t>(ready[at])])
      if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push_back(reader);
  }
}

std::int32_t Body::enter(std::int32_t i, std::int32_t parent) {
  const tf::AttrValue* attr = node(i).find("frame_name");
  const auto* name = attr ? std::get_if<std::string>(attr) : nullptr;
  const std::string wanted = name ? *name : std::string();
  for (std::size_t f = 0; f < frames_.size(); ++f)
    if (frames_[f].name == wanted && frames_[f].parent == parent) return static_cast<std::int32_t>(f);
  LoopFrame frame;
  frame.name = wanted;
  frame.parent = parent;
  frames_.push_back(std::move(frame));
  return static_cast<std::int32_t>(frames_.size() - 1);
}

void Body::place(std::int32_t i) {
  const std::string& op = node(i).op;
  std::int32_t frame = -1;
  std::vector<Guard> all;
  const auto follow = [&](std::int32_t from) {
    if (from < 0) return;
    frame = std::max(frame, frames_of_[static_cast<std::size_t>(from)]);  // inner frames are found after outer ones
    if (op != "Merge" && op != "RefMerge") unite(all, guards_[static_cast<std::size_t>(from)]);
  };
  for (const Source& s : inputs_[static_cast<std::size_t>(i)]) follow(s.node);
  for (const std::int32_t c : controls_[static_cast<std::size_t>(i)]) follow(c);
  const auto own = [&]() -> LoopFrame* { return frame >= 0 ? &frames_[static_cast<std::size_t>(frame)] : nullptr; };
  if (op == "Enter" || op == "RefEnter") {
    frame = enter(i, frame);
    own()->enters.push_back(i);
  } else if (op == "Exit" || op == "RefExit") {
    if (own()) {
      own()->exits.push_back(i);
      frame = own()->parent;
    }
  } else if (op == "LoopCond") {
    if (own()) own()->condition = i;
  } else if (op == "Switch" || op == "RefSwitch") {
    // The two outputs differ: has_guard() looks at the port. What both share is kept here.
  } else if (op == "Merge" || op == "RefMerge") {
    bool is_loop = false;
    for (const Source& s : inputs_[static_cast<std::size_t>(i)])
      is_loop |= s.node >= 0 && (node(s.node).op == "NextIteration" || node(s.node).op == "RefNextIteration");
    if (is_loop && own()) own()->merges.push_back(i);
    // Alive wherever all its inputs are: the guards in which they differ end here.
    bool is_first = true;
    for (const Source& s : inputs_[static_cast<std::size_t>(i)]) {
      if (s.node < 0 || node(s.node).op == "NextIteration") continue;
      std::vector<Guard> one(guards_[static_cast<std::size_t>(s.node)]);
      if (node(s.node).op == "Switch" && inputs(s.node).size() == 2)
        unite(one, std::vector<Guard>{{behind_identities(inputs(s.node)[1]), s.port == 1}});
      if (is_first) all = one;
      if (!is_first) std::erase_if(all, [&](const Guard& g) { return std::ranges::find(one, g) == one.end(); });
      is_first = false;
    }
  }
  // What reads a port of a Switch lives in that branch only.
  if (op != "Merge" && op != "RefMerge") {
    for (const Source& s : inputs_[static_cast<std::size_t>(i)]) {
      if (s.node < 0 || (node(s.node).op != "Switch" && node(s.node).op != "RefSwitch") || inputs(s.node).size() != 2)
        continue;
      const Source condition = behind_identities(inputs(s.node)[1]);
      if (condition.node >= 0 && node(condition.node).op == "LoopCond") continue;
      unite(all, std::vector<Guard>{{condition, s.port == 1}});
    }
  }
  frames_of_[static_cast<std::size_t>(i)] = frame;
  guards_[static_cast<std::size_t>(i)] = std::move(all);
}

}  // namespace ingot::frontends::tensorflow
