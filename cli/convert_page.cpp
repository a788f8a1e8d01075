// What a conversion did, as a page for people.
#include <cstdio>

#include "convert_report.h"

namespace ingot::cli {
namespace {

constexpr const char* kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; border-bottom: 1px solid #ddd; }
table { border-collapse: collapse; } td, th { padding: .2em 1em .2em 0; text-align: left; vertical-align: top; }
th { font-weight: 600; color: #555; } td.n { text-align: right; } code { font: .9em ui-monospace, monospace; }
.same { color: #17692f; } .different { color: #b3261e; } .unknown, .none { color: #8a5a00; }
.verdict { font-size: 1.15em; font-weight: 600; } .bar { background: #6b93d6; height: .8em; display: inline-block; }
@media (prefers-color-scheme: dark) { body { background: #181a1c; color: #ddd; } h2 { border-color: #444; } th { color: #aaa; }
.same { color: #6fcf8b; } .different { color: #ff8a80; } .unknown, .none { color: #ffca7a; } }
)";

/// Names come from files.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string text_of(const Json& json) { return escaped(json.is_string() ? json.text() : json.dump()); }
std::string code(const Json& json) { return "<code>" + text_of(json) + "</code>"; }

std::string row(const std::vector<std::string>& cells, const char* tag = "td") {
  std::string text = "<tr>";
  for (const std::string& cell : cells) text += std::string("<") + tag + ">" + cell + "</" + tag + ">";
  return text + "</tr>\n";
}

std::string list(const Json& items) {
  std::string text = "<ul>\n";
  for (const Json& item : items) text += "<li>" + text_of(item) + "</li>\n";
  return items.empty() ? "" : text + "</ul>\n";
}

std::string percent(const Json& share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * share.number());
  return text;
}

std::string ports(const Json& json, const char* title) {
  std::string text = std::string("<h2>") + title + "</h2>\n<table>\n" + row({"name", "type", "layout"}, "th");
  for (const Json& port : json)
    text += row({code(port["name"]), code(port["type"]), port.contains("layout") ? text_of(port["layout"]) : ""});
  return text + "</table>\n";
}

std::string layers(const Json& v) {
  if (!v.contains("layers")) return {};
  std::string text = "<p>Quantised values inside, in steps:</p>\n<table>\n" +
                     row({"value", "operator", "99.9 % within", "all within", "elements that differ"}, "th");
  for (const Json& layer : v["layers"])
    text += row({code(layer["name"]), text_of(layer["op"]), text_of(layer["steps"]), text_of(layer["largest"]),
                 percent(layer["share_that_differs"])});
  return text + "</table>\n";
}

std::string verification(const Json& v) {
  const std::string answer = v["answer"].text();
  std::string words = "not verified: " + (v.contains("why") ? text_of(v["why"]) : "");
  if (answer == "same") words = "verified: source and result give the same numbers";
  if (answer == "same" && !v["independent"].is_true())
    words = "not verified by another program: Ingot itself ran the source, and agrees with the result";
  if (answer == "different") words = "source and result differ";
  if (answer == "unknown") words = "not verified: " + text_of(v["why_unknown"]);
  std::string text = "<h2>Verification</h2>\n<p class=\"verdict " + answer + "\">" + words + "</p>\n";
  if (!v.contains("outputs") || v["outputs"].empty()) return text;  // not both of them ran
  text += "<p>The source ran in " + text_of(v["a_runtime"]) + ", the result in " + text_of(v["b_runtime"]) +
          ", on:</p>\n" + list(v["inputs"]);
  text += "<table>\n" + row({"output", "", "apart by", "may be", "because"}, "th");
  for (const Json& o : v["outputs"]) {
    const char* word = !o["agrees"].is_true()   ? "different\">differs"
                       : o["decided"].is_true() ? "same\">agrees"
                                                : "unknown\">is undecided";
    text += row({code(o["a"]), std::string("<span class=\"") + word + "</span>", text_of(o["figure"]),
                 text_of(o["threshold"]), text_of(o["source"])});
  }
  text += "</table>\n" + layers(v) + list(v["notes"]);
  if (v.contains("first_difference")) {
    const Json& f = v["first_difference"];
    text += "<p class=different>They part at " + code(f["name"]) + " (" + text_of(f["op"]) + "), " + code(f["b_name"]) +
            " in the result: element " + text_of(f["place"]) + " is " + text_of(f["a_value"]) + " and " +
            text_of(f["b_value"]) + "; " + text_of(f["figure"]) + ", may be " + text_of(f["threshold"]) + ". " +
            text_of(f["agreeing_before"]) + " values before it agree.</p>\n";
  } else if (v.contains("why_not_bisected")) {
    text += "<p>Where they part is not known: " + text_of(v["why_not_bisected"]) + "</p>\n";
  }
  return text;
}

std::string operators(const Json& report) {
  std::size_t most = 1;
  for (const auto& [name, count] : report["operators"].items())
    most = std::max(most, static_cast<std::size_t>(count.number()));
  std::string text = "<h2>Operators</h2>\n<table>\n" + row({"operator", "nodes", ""}, "th");
  for (const auto& [name, count] : report["operators"].items()) {
    const std::size_t width = 200 * static_cast<std::size_t>(count.number()) / most;
    text += row({code(name), count.dump(), "<span class=bar style=\"width:" + std::to_string(width) + "px\"></span>"});
  }
  text += "</table>\n";
  if (report["source_operators"].empty()) return text;
  text += "<h2>From the source's operators</h2>\n<table>\n" + row({"source", "became"}, "th");
  for (const auto& [source, nodes] : report["source_operators"].items()) {
    std::string became;
    for (const auto& [op, count] : nodes.items())
      became += (became.empty() ? "" : ", ") + count.dump() + " " + escaped(op);
    text += row({code(source), became});
  }
  return text + "</table>\n";
}

std::string seconds(const Json& json) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f s", json.number());
  return text;
}

}  // namespace

std::string to_html(const Json& r) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<meta name=viewport "
      "content=\"width=device-width\">\n";
  page += "<title>" + text_of(r["input"]) + " as " + text_of(r["output_format"]) + "</title>\n<style>" + kStyle +
          "</style>\n</head>\n<body>\n";
  page += "<h1>" + text_of(r["input"]) + " &rarr; " + text_of(r["output"]) + "</h1>\n";
  page += "<p>" + text_of(r["input_format"]) + " to " + text_of(r["output_format"]) + ": " + r["nodes"].dump() +
          " nodes, " + r["parameters"].dump() + " parameters in " + r["parameter_bytes"].dump() + " bytes.</p>\n";
  page += verification(r["verification"]);
  page += ports(r["inputs"], "Inputs") + ports(r["outputs"], "Outputs");
  page += operators(r);
  page += "<h2>Casts</h2>\n<p>" + r["casts"]["count"].dump() + " Cast nodes.</p>\n" + list(r["casts"]["notes"]);
  page += "<h2>Transposes</h2>\n<p>" + r["transposes"]["count"].dump() + " Transpose nodes.</p>\n" +
          list(r["transposes"]["notes"]);
  page += "<h2>Notes</h2>\n" + (r["notes"].empty() ? "<p>None.</p>\n" : list(r["notes"]));
  page += "<h2>Versions</h2>\n<table>\n" + row({"operator set", "version"}, "th");
  for (const auto& [domain, version] : r["opsets"].items()) page += row({code(domain), version.dump()});
  page += row({"IR", r["ir_version"].dump()}) + "</table>\n<h2>Time</h2>\n<table>\n";
  for (const auto& [what, time] : r["seconds"].items()) page += row({escaped(what), seconds(time)});
  return page + "</table>\n</body>\n</html>\n";
}

}  // namespace ingot::cli
