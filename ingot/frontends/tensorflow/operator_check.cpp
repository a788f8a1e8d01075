// Operators that have no translation.
#include "ingot/frontends/tensorflow/operator_check.h"

#include <algorithm>
#include <set>

#include "ingot/frontends/tensorflow/operator_table.h"
#include "ingot/frontends/tensorflow/own_texts.h"

namespace ingot::frontends::tensorflow {
namespace {

class OperatorCheck {
 public:
  explicit OperatorCheck(Translation& t) : t_(t) {}

  void run(const std::vector<std::int32_t>& nodes) {
    for (const std::int32_t i : nodes) check(t_.main().node(i));
    for (std::size_t i = 0; i < functions_.size(); ++i) check_body(*functions_[i]);  // it grows meanwhile
  }

 private:
  void call(const std::string& name) {
    const tf::FunctionDef* function = t_.bodies().find_function(name);
    if (function && called_.insert(function->name).second) functions_.push_back(function);
  }

  void check(const tf::NodeDef& node) {
    for (const tf::Attr& attr : node.attrs) {
      if (const auto* f = std::get_if<std::shared_ptr<const tf::FunctionName>>(&attr.value)) call((*f)->name);
      if (const auto* l = std::get_if<std::shared_ptr<const tf::AttrList>>(&attr.value))
        for (const auto& f : (*l)->functions) call(f->name);
    }
    constexpr std::string_view kOldFlow[] = {"Exit", "Merge", "RefExit", "RefMerge"};
    if (t_.bodies().find_function(node.op)) return call(node.op);
    if (find_row(node.op) || t_.custom_operators().domain_of(node.op) ||
        std::ranges::find(kOldFlow, node.op) != std::end(kOldFlow))
      return;
    if (find_own_text(node.op))
      return t_.problems().add(node.name, node.op, "ONNX has no operator for it", Code::unsupported_operator,
                               own_text_remedy(node.op));
    t_.problems().add(node.name, node.op, "there is no translation", Code::unsupported_operator);
  }

  /// Only what a function's results need: the rest is there for its side effects.
  void check_body(const tf::FunctionDef& function) {
    const Body& body = t_.bodies().body_of(function);
    std::vector<bool> seen(body.size(), false);
    std::vector<std::int32_t> stack;
    const auto visit = [&](Source s) {
      if (s.node < 0 || seen[static_cast<std::size_t>(s.node)]) return;
      seen[static_cast<std::size_t>(s.node)] = true;
      stack.push_back(s.node);
    };
    for (const auto& [name, value] : function.returns) visit(body.resolve(value));
    while (!stack.empty()) {
      const std::int32_t node = stack.back();
      stack.pop_back();
      check(body.node(node));
      for (const Source& s : body.inputs(node)) visit(s);
    }
  }

  Translation& t_;
  std::set<std::string_view> called_;
  std::vector<const tf::FunctionDef*> functions_;
};

}  // namespace

void check_operators(Translation& t, const std::vector<std::int32_t>& nodes) { OperatorCheck(t).run(nodes); }

}  // namespace ingot::frontends::tensorflow
