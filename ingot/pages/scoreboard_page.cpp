// Operators and who can do them.
#include "ingot/pages/scoreboard_page.h"

#include <algorithm>
#include <set>

namespace ingot::pages {
namespace {

constexpr std::size_t kLongest = 400;

struct Count {
  std::size_t passed = 0, all = 0;
};

std::string share(const Count& count) {
  const char* kind = count.passed == count.all ? "passed" : count.passed ? "some" : "failed";
  return std::string("<span class=") + kind + ">" + std::to_string(count.passed) + "</span>&nbsp;of&nbsp;" +
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

/// Cases by what the element types of their inputs, or their operator set, are.
template <class Key>
std::string counts_by(const char* what, const std::vector<const ScoreRow*>& rows,
                      const std::vector<std::string>& columns, Key&& keys_of) {
  std::map<std::string, std::vector<Count>> counts;
  for (const ScoreRow* r : rows)
    for (const std::string& key : keys_of(*r)) {
      auto& line = counts.try_emplace(key, columns.size()).first->second;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        line[c].passed += r->outcomes[c] == "passed";
        ++line[c].all;
      }
    }
  std::string html = "<table>\n" + row(heads({what}, columns), "th");
  for (const auto& [key, line] : counts) {
    std::vector<std::string> cells{escaped(key)};
    for (const Count& count : line) cells.push_back(share(count));
    html += row(cells);
  }
  return html + "</table>\n";
}

std::set<std::string> types_of(const ScoreRow& r) {
  std::set<std::string> types;
  for (std::size_t begin = 0; begin <= r.types.size();) {
    const std::size_t end = std::min(r.types.find(", ", begin), r.types.size());
    types.insert(end > begin ? r.types.substr(begin, end - begin) : "(no input)");
    begin = end + 2;
  }
  return types;
}

std::set<std::string> opset_of(const ScoreRow& r) {
  const std::string number = std::to_string(r.opset);
  return {std::string(number.size() < 2 ? " " : "") + number};  // so that 9 stands before 10
}

std::string history_html(const ScoreHistory& history, const std::vector<std::string>& columns) {
  std::vector<std::string> head{"column"};
  for (const auto& version : history.versions)
    head.push_back(escaped(version.label) + "<br>of " + std::to_string(version.cases));
  std::string html = "<table id=history>\n" + row(head, "th");
  for (const std::string& column : columns) {
    std::vector<std::string> cells{escaped(column)};
    for (const auto& version : history.versions) {
      const auto it = version.passed.find(column);
      cells.push_back(it == version.passed.end() ? "" : std::to_string(it->second));
    }
    html += row(cells);
  }
  html += "</table>\n";
  for (const auto& change : history.changes) {
    if (change.gained.empty() && change.lost.empty()) continue;
    html += "<h2>" + escaped(change.column) + "</h2>\n";
    if (!change.lost.empty()) html += "<p class=failed>pass no longer:</p>\n" + list(change.lost);
    if (!change.gained.empty()) html += "<p class=passed>pass now:</p>\n" + list(change.gained);
  }
  return html;
}

/// Each reason once for a column, with the cases that have it: what the table tells to who points at it, in words.
std::string reasons_html(const std::vector<const ScoreRow*>& rows, const std::vector<std::string>& columns) {
  std::string html = "<table>\n" + row({"column", "outcome", "why", "cases"}, "th");
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::map<std::pair<std::string, std::string>, std::string> cases;
    for (const ScoreRow* r : rows) {
      if (r->outcomes[c] == "passed") continue;
      std::string& names = cases[{r->outcomes[c], r->reasons[c].substr(0, kLongest)}];
      names += (names.empty() ? "" : ", ") + r->name;
    }
    for (const auto& [why, names] : cases)
      html += row({escaped(columns[c]), "<span class=\"" + escaped(why.first) + "\">" + escaped(why.first) + "</span>",
                   escaped(why.second), escaped(names)});
  }
  return html + "</table>\n";
}

Page operator_page(const std::string& op, const std::vector<const ScoreRow*>& rows,
                   const std::vector<std::string>& columns) {
  std::string html = "<p><a href=\"index.html\">all operators</a></p>\n<table>\n" +
                     row(heads({"case", "opset", "types"}, columns), "th");
  for (const ScoreRow* r : rows) {
    std::vector<std::string> cells{code(r->name), std::to_string(r->opset), escaped(r->types)};
    for (std::size_t c = 0; c < columns.size(); ++c)
      cells.push_back("<span class=\"" + escaped(r->outcomes[c]) + "\" title=\"" +
                      escaped(r->reasons[c].substr(0, kLongest)) + "\">" + escaped(r->outcomes[c]) + "</span>");
    html += row(cells);
  }
  Page page{op.empty() ? "Models of several nodes" : op, {}};
  page.sections.push_back({"cases", "Cases", html + "</table>\n"});
  page.sections.push_back({"reasons", "Why not", reasons_html(rows, columns)});
  page.sections.push_back({"types", "Types", counts_by("type of an input", rows, columns, types_of)});
  page.sections.push_back({"opsets", "Operator sets", counts_by("operator set", rows, columns, opset_of)});
  return page;
}

}  // namespace

std::map<std::string, Page> scoreboard_pages(const std::vector<std::string>& columns, const std::vector<ScoreRow>& rows,
                                             const std::string& title, const ScoreHistory& history) {
  std::map<std::string, std::vector<const ScoreRow*>> by_op;
  for (const ScoreRow& r : rows) by_op[r.op].push_back(&r);
  std::map<std::string, Page> pages;
  std::vector<Count> totals(columns.size());
  std::string html;
  for (const auto& [op, cases] : by_op) {
    std::vector<std::string> cells{link(file_of(op), op.empty() ? "(several nodes)" : op)};
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
                            "<table>\n<thead>" + row(heads({"operator"}, columns), "th") + row(sums, "th") +
                                "</thead>\n" + html + "</table>\n"});
  std::vector<const ScoreRow*> all;
  for (const ScoreRow& r : rows) all.push_back(&r);
  index.sections.push_back({"types", "Types", counts_by("type of an input", all, columns, types_of)});
  index.sections.push_back({"opsets", "Operator sets", counts_by("operator set", all, columns, opset_of)});
  if (history.versions.size() > 1) index.sections.push_back({"history", "History", history_html(history, columns)});
  pages["index.html"] = std::move(index);
  return pages;
}

}  // namespace ingot::pages
