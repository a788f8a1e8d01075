// The list of what cannot be translated.
#include "ingot/frontends/problems.h"

#include <algorithm>

namespace ingot::frontends {
namespace {

constexpr std::size_t kMostNamed = 200;  // nodes in one line of a message
constexpr int kBadInput = 3;             // the exit code of what is wrong in a file

}  // namespace

void Problems::add(std::string_view node, std::string_view op, std::string_view reason, Code code,
                   std::string_view remedy) {
  Group& group = groups_[std::string(op) + ": " + std::string(reason)];
  group.is_bad_source &= Error(code, "").exit_code() == kBadInput;
  if (group.remedy.empty()) group.remedy = remedy;
  if (std::ranges::find(group.nodes, node) == group.nodes.end()) group.nodes.emplace_back(node);
}

void Problems::add(std::string_view node, std::string_view op, const Error& error) {
  add(node, op, error.message(), error.code(), error.hint_text());
}

std::size_t Problems::size() const {
  std::size_t count = 0;
  for (const auto& [problem, group] : groups_) count += group.nodes.size();
  return count;
}

void Problems::throw_if_any(std::string_view remedy) const {
  if (groups_.empty()) return;
  const std::size_t count = size();
  std::string text = std::to_string(count) + (count == 1 ? " node" : " nodes") + " cannot be converted:";
  bool is_bad_source = true;
  for (const auto& [problem, group] : groups_) {
    const std::vector<std::string>& nodes = group.nodes;
    text += "\n  " + problem + " (" + (nodes.size() == 1 ? "node " : std::to_string(nodes.size()) + " nodes: ");
    for (std::size_t i = 0; i < nodes.size() && i < kMostNamed; ++i) text += (i ? ", '" : "'") + nodes[i] + "'";
    text += nodes.size() > kMostNamed ? ", ...)" : ")";
    is_bad_source &= group.is_bad_source;
    if (!group.remedy.empty()) remedy = group.remedy;
  }
  throw Error(is_bad_source ? Code::bad_source_graph : Code::unsupported_operator, text).hint(std::string(remedy));
}

}  // namespace ingot::frontends
