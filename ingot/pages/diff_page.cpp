// Two models side by side.
#include "ingot/pages/diff_page.h"

#include "ingot/pages/graph_data.h"

namespace ingot::pages {
namespace {

GraphNotes notes_of(const driver::Difference& d, const std::vector<std::string>& only) {
  GraphNotes notes;
  notes.is_compared = true;
  for (const std::string& node : only) notes.only[node] = true;
  for (const driver::NodeDifference& n : d.nodes) notes.changed[n.node + " (" + n.op + ")"] = n.changes;
  return notes;
}

/// Nodes that both have stand beside each other: those of the same name and operator know where, and of the others
/// those of the same name.
void add_twins(Json& a, Json& b) {
  for (const bool by_operator : {true, false}) {
    const auto key = [&](const Json& node) {
      return node["name"].text() + (by_operator ? "\n" + node["op"].text() : std::string());
    };
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < b["nodes"].size(); ++i)
      if (!b["nodes"][i].contains("twin")) places.emplace(key(b["nodes"][i]), i);
    for (std::size_t i = 0; i < a["nodes"].size(); ++i) {
      if (a["nodes"][i].contains("twin")) continue;
      const auto found = places.find(key(a["nodes"][i]));
      if (found == places.end()) continue;
      a["nodes"][i]["twin"] = found->second;
      b["nodes"][found->second]["twin"] = i;
      places.erase(found);
    }
  }
}

std::string lines(const char* title, const std::vector<std::string>& texts) {
  return texts.empty() ? std::string() : std::string("<h2>") + title + "</h2>\n" + list(texts);
}

std::string words_html(const driver::Difference& d) {
  std::string text = d.is_same() ? "<p class=same>The models say the same.</p>\n" : "";
  text += lines("Model", d.model) + lines("Nodes only in the first", d.only_a) +
          lines("Nodes only in the second", d.only_b);
  if (!d.nodes.empty()) text += "<h2>Nodes that differ</h2>\n<table>\n" + row({"node", "operator", "what"}, "th");
  for (const driver::NodeDifference& n : d.nodes) text += row({code(n.node), code(n.op), list(n.changes)});
  if (!d.nodes.empty()) text += "</table>\n";
  text += lines("Weights only in the first", d.weights_only_a) + lines("Weights only in the second", d.weights_only_b);
  if (d.weights.empty()) return text;
  text += "<h2>Weights that differ</h2>\n<table>\n" + row({"weight", "type", "largest difference", "elements"}, "th");
  for (const driver::WeightDifference& w : d.weights)
    text += row({code(w.a_name), code(w.a_type == w.b_type ? w.a_type : w.a_type + " / " + w.b_type),
                 w.is_comparable ? Json(w.largest).dump() : "",
                 w.is_comparable ? std::to_string(w.differing) + " of " + std::to_string(w.elements) : ""});
  return text + "</table>\n";
}

}  // namespace

Page diff_page(const Model& a, const Model& b, const driver::Difference& d, const std::string& a_name,
               const std::string& b_name) {
  Page page{a_name + " and " + b_name, {}};
  page.sections.push_back({"graphs", "Graphs", "<div class=pair>\n" + graph_html() + graph_html() + "</div>\n", true});
  page.sections.push_back({"words", "Differences", words_html(d)});
  Json first = graph_data(a, notes_of(d, d.only_a)), second = graph_data(b, notes_of(d, d.only_b));
  add_twins(first, second);
  page.data["graphs"] = Json::array();
  page.data["graphs"].push_back(std::move(first));
  page.data["graphs"].push_back(std::move(second));
  return page;
}

}  // namespace ingot::pages
