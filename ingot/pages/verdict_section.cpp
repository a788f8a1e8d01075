// What a comparison of two models found, for people.
#include "ingot/pages/verdict_section.h"

#include <cstdio>

#include "ingot/pages/page.h"

namespace ingot::pages {
namespace {

std::string text_of(const Json& json) { return escaped(json.is_string() ? json.text() : json.dump()); }

std::string items(const Json& texts) {
  std::vector<std::string> lines;
  for (const Json& text : texts) lines.push_back(text.text());
  return list(lines);
}

std::string percent(const Json& share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * share.number());
  return text;
}

std::string layers(const Json& v) {
  if (!v.contains("layers")) return {};
  std::string text = "<p>Quantised values inside, in steps:</p>\n<table>\n" +
                     row({"value", "operator", "99.9 % within", "all within", "elements that differ"}, "th");
  for (const Json& layer : v["layers"])
    text += row({code(layer["name"].text()), text_of(layer["op"]), text_of(layer["steps"]), text_of(layer["largest"]),
                 percent(layer["share_that_differs"])});
  return text + "</table>\n";
}

std::string words_of(const Json& v, const std::string& answer) {
  if (answer == "same" && v["independent"].is_true()) return "verified: both give the same numbers";
  if (answer == "same") return "not verified by another program: Ingot itself ran both, and agrees with itself";
  if (answer == "different") return "they differ";
  if (answer == "unknown") return "not verified: " + text_of(v["why_unknown"]);
  return "not verified: " + text_of(v["why"]);
}

std::string first_difference(const Json& v) {
  if (!v.contains("first_difference")) {
    if (!v.contains("why_not_bisected")) return {};
    return "<p>Where they part is not known: " + text_of(v["why_not_bisected"]) + "</p>\n";
  }
  const Json& f = v["first_difference"];
  return "<p class=different>They part at " + code(f["name"].text()) + " (" + text_of(f["op"]) + "), " +
         code(f["b_name"].text()) + " in the other: element " + text_of(f["place"]) + " is " + text_of(f["a_value"]) +
         " and " + text_of(f["b_value"]) + "; " + text_of(f["figure"]) + ", may be " + text_of(f["threshold"]) + ". " +
         text_of(f["agreeing_before"]) + " values before it agree.</p>\n";
}

}  // namespace

std::string verdict_html(const Json& v) {
  const std::string answer = v["answer"].text();
  std::string text = "<p class=\"" + escaped(answer) + "\">" + words_of(v, answer) + "</p>\n";
  if (!v.contains("outputs") || v["outputs"].empty()) return text;  // not both of them ran
  text += "<p>One ran in " + text_of(v["a_runtime"]) + ", the other in " + text_of(v["b_runtime"]) + ", on:</p>\n" +
          items(v["inputs"]);
  text += "<table>\n" + row({"output", "", "apart by", "may be", "because"}, "th");
  for (const Json& o : v["outputs"]) {
    const char* word = !o["agrees"].is_true()   ? "<span class=different>differs</span>"
                       : o["decided"].is_true() ? "<span class=same>agrees</span>"
                                                : "<span class=unknown>is undecided</span>";
    text += row({code(o["a"].text()), word, text_of(o["figure"]), text_of(o["threshold"]), text_of(o["source"])});
  }
  return text + "</table>\n" + layers(v) + items(v["notes"]) + first_difference(v);
}

}  // namespace ingot::pages
