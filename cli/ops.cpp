// ingot ops: which operators there are and what Ingot can do with them.
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/catalogue.h"
#include "ingot/train/coverage.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, from, to, domain;
  bool versions = false, targets = false, gradients = false, json = false, markdown = false;
};

std::string joined(const std::vector<int>& numbers) {
  std::string text;
  for (const int n : numbers) text += (text.empty() ? "" : " ") + std::to_string(n);
  return text.empty() ? "-" : text;
}

std::string mark(bool yes) { return yes ? "yes" : "-"; }

using Rows = std::vector<std::vector<std::string>>;

void print_rows(const Rows& rows, bool markdown) {
  if (!markdown) {
    Table table;
    for (const auto& row : rows) table.add(row);
    std::fputs(table.str("").c_str(), stdout);
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& cell : rows[i]) std::printf("| %s ", cell.c_str());
    std::printf("|\n");
    if (i) continue;
    for (std::size_t k = 0; k < rows[i].size(); ++k) std::printf("|---");
    std::printf("|\n");
  }
}

Json to_json(const driver::OperatorLine& line) {
  return {{"domain", line.domain},         {"name", line.name},
          {"versions", line.versions},     {"deprecated", line.is_deprecated},
          {"inference", line.infers},      {"kernel", line.runs},
          {"gradient", line.has_gradient}, {"decomposition", line.decomposes},
          {"steps_up", line.steps_up},     {"steps_down", line.steps_down}};
}

Rows version_rows() {
  Rows rows{{"operator", "domain", "versions", "rewritten up into", "rewritten down from", "decomposition"}};
  for (const auto& line : driver::catalogue())
    rows.push_back({line.name + (line.is_deprecated ? " (deprecated)" : ""), line.domain, joined(line.versions),
                    joined(line.steps_up), joined(line.steps_down), mark(line.decomposes)});
  return rows;
}

Rows summary_rows() {
  Rows rows{{"operator", "domain", "newest", "inference", "kernel", "gradient", "decomposition"}};
  for (const auto& line : driver::catalogue())
    rows.push_back({line.name, line.domain, std::to_string(line.versions.empty() ? 0 : line.versions.back()),
                    mark(line.infers), mark(line.runs), mark(line.has_gradient), mark(line.decomposes)});
  return rows;
}

int list_model(const Options& options, const Global& global) {
  driver::LoadOptions load = global.load_options();
  load.requires_valid = false;  // a list of operators is of use to who mends a model
  load.allow_missing_data = true;
  const auto loaded = driver::load(options.model, load);
  const auto used = driver::operators_of(loaded.model);
  if (options.json) {
    Json array = Json::array();
    for (const auto& op : used) {
      Json line = to_json(op.line);
      line["count"] = op.count;
      line["known"] = op.is_known;
      line["function"] = op.is_function;
      array.push_back(std::move(line));
    }
    std::printf("%s\n", array.dump(2).c_str());
    return 0;
  }
  Rows rows{{"count", "operator", "domain", "known", "kernel", "gradient", "decomposition"}};
  for (const auto& op : used)
    rows.push_back({grouped(op.count), op.line.name, op.line.domain,
                    op.is_known      ? "yes"
                    : op.is_function ? "function of the model"
                                     : "no",
                    mark(op.line.runs), mark(op.line.has_gradient), mark(op.line.decomposes)});
  print_rows(rows, options.markdown);
  return 0;
}

/// Operators that ONNX does not define.
int list_domain(const Options& options) {
  const auto lines = driver::vendor_catalogue(options.domain);
  Rows rows{{"operator", "inference", "kernel", "in ONNX's own", "why not"}};
  Json array = Json::array();
  std::size_t defined = 0;
  for (const auto& [line, why] : lines) {
    rows.push_back({line.name, mark(line.infers), mark(line.runs), mark(line.decomposes), why});
    array.push_back(to_json(line));
    if (!why.empty()) array.back()["why"] = why;
    defined += line.runs || line.decomposes;
  }
  if (options.json) {
    std::printf("%s\n", array.dump(2).c_str());
    return 0;
  }
  print_rows(rows, options.markdown);
  std::fprintf(stderr, "%zu operators, of which %zu run\n", lines.size(), defined);
  return 0;
}

int list_translated(const Options& options) {
  const auto names = driver::translated_operators(driver::format_by_name(options.from));
  if (options.json) {
    std::printf("%s\n", Json(names).dump(2).c_str());
    return 0;
  }
  Rows rows{{"operator"}};
  for (const std::string& name : names) rows.push_back({name});
  print_rows(rows, options.markdown);
  std::fprintf(stderr, "%zu operators\n", names.size());
  return 0;
}

/// What another framework has for the operators, of a model or all.
int list_exported(const Options& options, const Global& global) {
  const driver::Format& format = driver::format_by_name(options.to);
  std::vector<driver::ExportLine> lines = driver::exported_operators(format);
  std::vector<driver::ExportObstacle> obstacles;
  if (!options.model.empty()) {
    const Model model = driver::load(options.model, global.load_options()).model;
    obstacles = driver::export_obstacles(model, format);
    const auto used = driver::operators_of(model);
    std::vector<driver::ExportLine> kept;
    for (const auto& op : used) {
      driver::ExportLine line{op.line.domain, op.line.name, false, op.is_function};
      for (const driver::ExportLine& known : lines)
        if (known.domain == line.domain && known.name == line.name) line = known;
      kept.push_back(std::move(line));
    }
    lines = std::move(kept);
  }
  if (options.json) {
    Json array = Json::array();
    for (const auto& line : lines)
      array.push_back({{"domain", line.domain},
                       {"name", line.name},
                       {"native", line.is_native},
                       {"by_others", !line.is_native && line.decomposes}});
    for (const auto& o : obstacles)
      array.push_back({{"obstacle", o.where},
                       {"name", o.op},
                       {"kind", std::string(o.kind)},
                       {"reason", o.reason},
                       {"remedy", o.remedy}});
    std::printf("%s\n", array.dump(2).c_str());
    return 0;
  }
  Rows rows{{"operator", "domain", "in " + options.to}};
  for (const auto& line : lines)
    rows.push_back({line.name, line.domain, line.is_native ? "native" : line.decomposes ? "by other operators" : "-"});
  print_rows(rows, options.markdown);
  if (options.model.empty()) return 0;
  // The operators are one thing, their types, sizes and attributes another: what converting would refuse.
  for (const auto& o : obstacles)
    std::printf("%s%s: %s%s\n", o.where.c_str(), o.op.empty() ? "" : (" (" + o.op + ")").c_str(), o.reason.c_str(),
                o.remedy.empty() ? "" : ("; may help: " + o.remedy).c_str());
  std::printf("%s\n", obstacles.empty() ? "the model converts" : "the model does not convert as it is");
  return 0;
}

/// Where an operator's gradient comes from.
std::string gradient_of(const driver::OperatorLine& line) {
  if (line.has_gradient) return "rule";
  for (const char* name : {"If", "Loop", "Scan", "SequenceMap"})
    if (line.name == name) return "its body's";
  return line.decomposes ? "decomposition" : "-";
}

/// Gradients, with what the tests compared; operators that no test differentiates are not listed.
int list_gradients(const Options& options) {
  const auto lines = driver::catalogue();
  Rows rows{{"operator", "domain", "gradient", "differences", "PyTorch", "second order"}};
  Json array = Json::array();
  const auto number = [](int n) { return n ? std::to_string(n) : "-"; };
  for (const train::GradientCoverage& covered : train::gradient_coverage())
    for (const auto& line : lines) {
      if (line.name != covered.op || line.domain != covered.domain) continue;
      rows.push_back({line.name, line.domain, gradient_of(line), number(covered.differences), number(covered.torch),
                      number(covered.second_order)});
      array.push_back({{"domain", line.domain},
                       {"name", line.name},
                       {"gradient", gradient_of(line)},
                       {"differences", covered.differences},
                       {"torch", covered.torch},
                       {"second_order", covered.second_order}});
    }
  if (options.json) {
    std::printf("%s\n", array.dump(2).c_str());
    return 0;
  }
  print_rows(rows, options.markdown);
  std::fprintf(stderr, "%zu operators; the numbers are derivatives that the tests compare\n", rows.size() - 1);
  return 0;
}

int run(const Options& options, const Global& global) {
  const int lists = options.versions + options.gradients + options.targets + !options.domain.empty() +
                    !options.from.empty() + (!options.to.empty() || !options.model.empty());
  if (lists > 1)
    throw Error(Code::bad_usage,
                "--versions, --gradients, --targets, --domain, --from, --to and --model are lists apart")
        .hint("name one of them; only --to and --model go together");
  if (!options.domain.empty()) return list_domain(options);
  if (options.gradients) return list_gradients(options);
  if (!options.from.empty()) return list_translated(options);
  if (!options.to.empty()) return list_exported(options, global);
  if (!options.model.empty()) return list_model(options, global);
  if (options.targets) {
    Rows rows{{"--for", "ai.onnx", "ai.onnx.ml", "IR"}};
    Json array = Json::array();
    for (const auto& t : driver::targets()) {
      rows.push_back({t.name, std::to_string(t.opset), std::to_string(t.ml_opset), std::to_string(t.ir_version)});
      array.push_back(
          {{"name", t.name}, {"ai.onnx", t.opset}, {"ai.onnx.ml", t.ml_opset}, {"ir_version", t.ir_version}});
    }
    if (options.json)
      std::printf("%s\n", array.dump(2).c_str());
    else
      print_rows(rows, options.markdown);
    return 0;
  }
  if (options.json) {
    Json array = Json::array();
    for (const auto& line : driver::catalogue()) array.push_back(to_json(line));
    std::printf("%s\n", array.dump(2).c_str());
    return 0;
  }
  print_rows(options.versions ? version_rows() : summary_rows(), options.markdown);
  return 0;
}

}  // namespace

Command add_ops(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("ops", "Which operators Ingot knows and what it can do with each");
  app->footer(
      "--versions shows, for each operator, its versions and where converting between two of them rewrites the node.\n"
      "Versions without a rewrite differ in element types or attributes only, which the schemas tell. An operator "
      "that\n"
      "a target operator set lacks is replaced by its decomposition, if it has one.");
  app->add_flag("--versions", options->versions, "Versions, rewrites between them, decompositions");
  app->add_flag("--gradients", options->gradients, "Which have gradients, and what the tests compare them with");
  app->add_option("--model", options->model, "Only the operators of this model, and what can be done with them");
  app->add_option(
      "--from", options->from,
      "The operators of another framework that become ONNX: " + driver::format_names(driver::has_translations));
  app->add_option("--to", options->to,
                  "What a format has for each operator: " + driver::format_names(driver::has_exports));
  app->add_option("--domain", options->domain,
                  "Operators that ONNX does not define: " + driver::vendor_domains() + ", ai.onnx (old experiments)");
  app->add_flag("--targets", options->targets, "The names that 'convert --for' takes, with their versions");
  app->add_flag("--markdown", options->markdown, "As a Markdown table");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
