// What a conversion did, as a page for people: that of the result, with what became of the source.
#include <cstdio>

#include "convert_report.h"
#include "ingot/pages/model_page.h"

namespace ingot::cli {
namespace {

using pages::code;
using pages::escaped;
using pages::row;

std::string text_of(const Json& json) { return escaped(json.is_string() ? json.text() : json.dump()); }

std::string list(const Json& texts) {
  std::vector<std::string> lines;
  for (const Json& text : texts) lines.push_back(text.text());
  return pages::list(lines);
}

std::string seconds(const Json& json) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f s", json.number());
  return text;
}

std::string layouts(const Json& report) {
  std::string rows;
  for (const char* side : {"inputs", "outputs"})
    for (const Json& port : report[side])
      if (port.contains("layout")) rows += row({code(port["name"].text()), text_of(port["layout"])});
  return rows.empty() ? rows : "<h2>Layouts</h2>\n<table>\n" + row({"name", "layout"}, "th") + rows + "</table>\n";
}

std::string source_operators(const Json& report) {
  if (report["source_operators"].empty()) return {};
  std::string text = "<h2>From the source's operators</h2>\n<table>\n" + row({"source", "became"}, "th");
  for (const auto& [source, nodes] : report["source_operators"].items()) {
    std::string became;
    for (const auto& [op, count] : nodes.items())
      became += (became.empty() ? "" : ", ") + count.dump() + " " + escaped(op);
    text += row({code(source), became});
  }
  return text + "</table>\n";
}

std::string conversion_html(const Json& r) {
  std::string html = "<p>" + text_of(r["input_format"]) + " to " + text_of(r["output_format"]) + ": " +
                     r["nodes"].dump() + " nodes, " + r["parameters"].dump() + " parameters in " +
                     r["parameter_bytes"].dump() + " bytes.</p>\n";
  html += "<h2>Notes</h2>\n" + (r["notes"].empty() ? "<p>None.</p>\n" : list(r["notes"]));
  html += source_operators(r) + layouts(r);
  html += "<h2>Casts</h2>\n<p>" + r["casts"]["count"].dump() + " Cast nodes.</p>\n" + list(r["casts"]["notes"]);
  html += "<h2>Transposes</h2>\n<p>" + r["transposes"]["count"].dump() + " Transpose nodes.</p>\n" +
          list(r["transposes"]["notes"]) + "<h2>Time</h2>\n<table>\n";
  for (const auto& [what, time] : r["seconds"].items()) html += row({escaped(what), seconds(time)});
  return html + "</table>\n";
}

}  // namespace

std::string to_html(const Conversion& conversion, const Json& report) {
  pages::ModelPageOptions options;
  options.title = conversion.input + " → " + conversion.output;
  options.format = conversion.report.to->title;
  options.verification = report["verification"];
  pages::Page page = pages::model_page(conversion.report.model, options);
  page.sections.insert(page.sections.begin(), {"conversion", "Conversion", conversion_html(report)});
  return pages::to_html(page);
}

}  // namespace ingot::cli
