// Operators and who can do them.
#include "ingot/pages/scoreboard_page.h"

#include <algorithm>

namespace ingot::pages {
namespace {

constexpr std::size_t kLongest = 400;

struct Count {
  std::size_t passed = 0, all = 0;
};

std::string share(const Count& count) {
  const char* kind = count.passed == count.all ? "passed" : count.passed ? "some" : "failed";
  return std::string("<span class=") + kind + ">" + std::to_string(count.passed) + "</span> of " +
         std::to_string(count.all);
}

/// "ai.onnx.ml.Scaler" -> "op-ai.onnx.ml.Scaler.html"; cases of several nodes are together.
std::string file_of(const std::string& op) {
  std::string safe;
  for (const char c : op.empty() ? std::string("several-nodes") : op)
    safe +=
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ? c : '_';
  return "op-" + safe + ".html";
}

std::vector<std::string> heads(std::vector<std::string> first, const std::vector<std::string>& columns) {
  for (const std::string& column : columns) first.push_back(escaped(column));
  return first;
}

Page operator_page(const std::string& op, const std::vector<const ScoreRow*>& rows,
                   const std::vector<std::string>& columns) {
  std::string html = "<p><a href=\"index.html\">all operators</a></p>\n<div class=scroll><table>\n" +
                     row(heads({"case", "opset", "types"}, columns), "th");
  for (const ScoreRow* r : rows) {
    std::vector<std::string> cells{code(r->name), std::to_string(r->opset), escaped(r->types)};
    for (std::size_t c = 0; c < columns.size(); ++c)
      cells.push_back("<span class=\"" + escaped(r->outcomes[c]) + "\" title=\"" +
                      escaped(r->reasons[c].substr(0, kLongest)) + "\">" + escaped(r->outcomes[c]) + "</span>");
    html += row(cells);
  }
  Page page{op.empty() ? "Models of several nodes" : op, {}};
  page.sections.push_back({"cases", "Cases", html + "</table></div>\n"});
  return page;
}

}  // namespace

std::map<std::string, Page> scoreboard_pages(const std::vector<std::string>& columns, const std::vector<ScoreRow>& rows,
                                             const std::string& title) {
  std::map<std::string, std::vector<const ScoreRow*>> by_op;
  for (const ScoreRow& r : rows) by_op[r.op].push_back(&r);
  std::map<std::string, Page> pages;
  std::vector<Count> totals(columns.size());
  std::string html;
  for (const auto& [op, cases] : by_op) {
    std::vector<std::string> cells{"<a href=\"" + file_of(op) + "\">" + escaped(op.empty() ? "(several nodes)" : op) +
                                   "</a>"};
    for (std::size_t c = 0; c < columns.size(); ++c) {
      Count count{0, cases.size()};
      for (const ScoreRow* r : cases) count.passed += r->outcomes[c] == "passed";
      totals[c].passed += count.passed;
      totals[c].all += count.all;
      cells.push_back(share(count));
    }
    html += row(cells);
    pages[file_of(op)] = operator_page(op, cases, columns);
  }
  std::vector<std::string> sums{"all cases"};
  for (const Count& total : totals) sums.push_back(share(total));
  Page index{title, {}};
  index.sections.push_back({"operators", "Operators",
                            "<div class=scroll><table>\n<thead>" + row(heads({"operator"}, columns), "th") +
                                row(sums, "th") + "</thead>\n" + html + "</table></div>\n"});
  pages["index.html"] = std::move(index);
  return pages;
}

}  // namespace ingot::pages
