// ingot diff: what two models say differently.
#include "ingot/driver/diff.h"

#include <algorithm>
#include <cstdio>

#include "command.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/json.h"
#include "ingot/pages/diff_page.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string a, b, report;
  std::uint64_t most = 20;
  bool json = false;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

void print_lines(const std::string& title, const std::vector<std::string>& lines, std::uint64_t most) {
  if (lines.empty()) return;
  std::printf("%s\n", out_style(Style::bold, title + " (" + grouped(lines.size()) + ")").c_str());
  for (std::size_t i = 0; i < lines.size() && i < most; ++i) std::printf("  %s\n", lines[i].c_str());
  if (lines.size() > most) std::printf("  ... and %zu more\n", lines.size() - most);
}

/// Those that differ most come first.
std::vector<driver::WeightDifference> sorted(std::vector<driver::WeightDifference> weights) {
  const auto share = [](const driver::WeightDifference& d) {
    return d.is_comparable ? d.norm / std::max(d.a_norm, 1e-300) : 1e300;
  };
  std::ranges::stable_sort(weights, [&](const auto& x, const auto& y) { return share(x) > share(y); });
  return weights;
}

std::vector<std::string> weight_lines(const driver::Difference& d) {
  Table table;
  for (const auto& w : sorted(d.weights)) {
    const std::string name = w.a_name == w.b_name ? w.a_name : w.a_name + " / " + w.b_name;
    if (!w.is_comparable)
      table.add({name, w.a_type + ", and " + w.b_type + " in b"});
    else
      table.add({name, w.a_type + (w.a_type == w.b_type ? "" : ", and " + w.b_type + " in b"),
                 "|a - b| " + number(w.norm) + " of |a| " + number(w.a_norm), "largest " + number(w.largest),
                 grouped(w.differing) + " of " + grouped(w.elements)});
  }
  std::vector<std::string> lines(1);
  for (const char c : table.str(""))
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  lines.pop_back();
  return lines;
}

void print(const driver::Difference& d, const Options& options) {
  print_lines("model", d.model, options.most);
  std::vector<std::string> counts, nodes;
  for (const auto& c : d.operators) counts.push_back(c.op + ": " + grouped(c.a) + ", and " + grouped(c.b) + " in b");
  for (const auto& n : d.nodes)
    for (const std::string& change : n.changes) nodes.push_back(n.node + " (" + n.op + "): " + change);
  print_lines("operators", counts, options.most);
  print_lines("nodes only in a", d.only_a, options.most);
  print_lines("nodes only in b", d.only_b, options.most);
  print_lines("nodes that differ", nodes, options.most);
  print_lines("weights only in a", d.weights_only_a, options.most);
  print_lines("weights only in b", d.weights_only_b, options.most);
  print_lines("weights that differ", weight_lines(d), options.most);
  std::printf("%s nodes and %s weights are the same%s\n", grouped(d.same_nodes).c_str(),
              grouped(d.same_weights).c_str(), d.is_same() ? ": the models say the same" : "");
}

Json to_json(const driver::Difference& d) {
  Json json{{"same", d.is_same()},
            {"model", d.model},
            {"operators", Json::array()},
            {"nodes_only_in_a", d.only_a},
            {"nodes_only_in_b", d.only_b},
            {"nodes", Json::array()},
            {"weights_only_in_a", d.weights_only_a},
            {"weights_only_in_b", d.weights_only_b},
            {"weights", Json::array()},
            {"same_nodes", d.same_nodes},
            {"same_weights", d.same_weights}};
  for (const auto& c : d.operators) json["operators"].push_back({{"op", c.op}, {"a", c.a}, {"b", c.b}});
  for (const auto& n : d.nodes) json["nodes"].push_back({{"node", n.node}, {"op", n.op}, {"changes", n.changes}});
  for (const auto& w : sorted(d.weights)) {
    json["weights"].push_back({{"a", w.a_name}, {"b", w.b_name}, {"a_type", w.a_type}, {"b_type", w.b_type}});
    if (w.is_comparable)
      json["weights"].back().update({{"a_norm", w.a_norm},
                                     {"b_norm", w.b_norm},
                                     {"difference_norm", w.norm},
                                     {"largest", w.largest},
                                     {"elements", w.elements},
                                     {"differing", w.differing}});
  }
  return json;
}

int run(const Options& options, const Global& global) {
  for (const std::string& model : {options.a, options.b}) driver::refuse_overwriting(model, options.report);
  const driver::Loaded a = driver::load(options.a, global.load_options());
  const driver::Loaded b = driver::load(options.b, global.load_options());
  const driver::Difference d = driver::diff(a.model, b.model);
  if (!options.report.empty()) {
    AtomicFile file(options.report);
    file.write(pages::to_html(pages::diff_page(a.model, b.model, d, options.a, options.b)));
    file.commit();
  }
  if (options.json)
    std::printf("%s\n", to_json(d).dump(2).c_str());
  else
    print(d, options);
  return d.is_same() ? 0 : 1;
}

}  // namespace

Command add_diff(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("diff", "What two models say differently: operators, attributes, shapes, weights");
  app->footer(
      "Compares what the files say, of any format; 'verify' compares what they compute. Nodes belong together by what "
      "they\n"
      "make, by their names, or by what they read. Exit code 0: the same; 1: they differ.\n\n"
      "  ingot diff before.onnx after.onnx");
  app->add_option("A", options->a, "One model")->required();
  app->add_option("B", options->b, "The other model")->required();
  app->add_option("--most", options->most, "Lines of each kind that are shown (default: 20)")->positive();
  app->add_option("--report", options->report, "Write a page with both graphs side by side: diff.html");
  app->add_flag("--json", options->json, "For programs, with everything");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
