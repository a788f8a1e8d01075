// ingot inspect: what is in a model.
#include <algorithm>
#include <cstdio>

#include "command.h"
#include "costs.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/load.h"
#include "ingot/driver/summary.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, from, signature, tag;
  std::vector<std::string> input_shapes;
  bool text = false, weights = false, json = false, flops = false, memory = false;
};

void print_section(const char* title, const Table& table) {
  std::printf("%s\n%s", out_style(Style::bold, title).c_str(), table.str().c_str());
}

Table ports_table(const std::vector<driver::Summary::Port>& ports) {
  Table table;
  for (const auto& port : ports) table.add({port.name, port.type + (port.has_default ? "  (has a default)" : "")});
  return table;
}

Table head_table(const driver::Summary& s, const Options& options, const driver::Format& format) {
  Table head;
  head.add({"model", options.model});
  head.add({"format", std::string(format.title) + ", IR version " + std::to_string(s.ir_version)});
  std::string opsets;
  for (const auto& [domain, version] : s.opsets)
    opsets += (opsets.empty() ? "" : ", ") + domain + " " + std::to_string(version);
  head.add({"opsets", opsets.empty() ? "none" : opsets});
  if (!s.producer.empty()) head.add({"producer", s.producer});
  if (!s.graph_name.empty()) head.add({"graph", s.graph_name});
  if (s.model_version) head.add({"version", std::to_string(s.model_version)});
  if (!s.doc_string.empty()) head.add({"about", s.doc_string.substr(0, s.doc_string.find('\n'))});
  head.add({"nodes", grouped(s.nodes) + (s.subgraphs ? ", with " + grouped(s.subgraphs) + " subgraphs" : "")});
  head.add({"parameters", grouped(s.parameter_elements) + " in " + grouped(s.parameters.size()) + " tensors, " +
                              human_bytes(s.parameter_bytes)});
  return head;
}

Table operators_table(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::pair<std::string, std::size_t>> operators(counts.begin(), counts.end());
  std::ranges::stable_sort(operators, std::greater{}, &std::pair<std::string, std::size_t>::second);
  Table table({true});
  for (const auto& [name, count] : operators) table.add({grouped(count), name});
  return table;
}

void print_summary(const driver::Summary& s, const Options& options, const driver::Format& format) {
  std::fputs(head_table(s, options, format).str("").c_str(), stdout);
  print_section("inputs", ports_table(s.inputs));
  print_section("outputs", ports_table(s.outputs));
  print_section("operators", operators_table(s.operators));
  if (!s.functions.empty()) {
    Table table;
    for (const auto& f : s.functions)
      table.add({f.name, std::to_string(f.nodes) + " nodes", "called " + std::to_string(f.calls) + " times"});
    print_section("functions", table);
  }
  for (const auto& t : s.training) {
    Table table;
    table.add({"algorithm", t.has_algorithm ? std::to_string(t.algorithm_nodes) + " nodes" : "none"});
    table.add({"initialization", t.has_initialization ? "yes" : "none"});
    std::string state;
    for (const std::string& name : t.state) state += (state.empty() ? "" : " ") + name;
    table.add({"mutable state", state.empty() ? "none" : state});
    print_section("training", table);
  }
  if (!s.stages.empty()) {
    Table table({false, true});
    for (const auto& [stage, count] : s.stages) table.add({stage, grouped(count)});
    print_section("stages (nodes)", table);
  }
  if (!s.metadata.empty()) {
    Table table;
    for (const auto& [key, value] : s.metadata) table.add({key, value.substr(0, 100)});
    print_section("metadata", table);
  }
  if (options.weights) {
    Table table({false, false, true});
    for (const auto& p : s.parameters) table.add({p.name, p.type, human_bytes(p.bytes)});
    print_section("weights", table);
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void print_contents(const driver::FileContents& contents, const driver::Format& format) {
  if (!contents.signatures.empty()) {
    Table table;
    for (const auto& signature : contents.signatures)
      table.add({signature.name, joined(signature.inputs) + " -> " + joined(signature.outputs)});
    print_section("signatures", table);
  }
  for (const auto& section : contents.sections) {
    std::printf("%s\n", out_style(Style::bold, section.title).c_str());
    for (const std::string& line : section.lines) std::printf("  %s\n", line.c_str());
  }
  if (contents.operators.empty()) return;
  const std::string title = "operators of the " + std::string(format.title) + " file";
  print_section(title.c_str(), operators_table(contents.operators));
}

Json to_json(const driver::FileContents& contents) {
  Json json{{"operators", contents.operators}, {"signatures", Json::array()}};
  for (const auto& signature : contents.signatures)
    json["signatures"].push_back(
        {{"name", signature.name}, {"inputs", signature.inputs}, {"outputs", signature.outputs}});
  for (const auto& section : contents.sections) json["sections"][section.title] = section.lines;
  return json;
}

Json ports_json(const std::vector<driver::Summary::Port>& ports) {
  Json array = Json::array();
  for (const auto& p : ports) array.push_back({{"name", p.name}, {"type", p.type}, {"has_default", p.has_default}});
  return array;
}

Json to_json(const driver::Summary& s, const Options& options, const driver::Format& format) {
  Json json{{"model", options.model}, {"format", format.name},     {"ir_version", s.ir_version},
            {"producer", s.producer}, {"graph", s.graph_name},     {"model_version", s.model_version},
            {"domain", s.domain},     {"doc_string", s.doc_string}};
  json["opsets"] = Json::object();
  for (const auto& [domain, version] : s.opsets) json["opsets"][domain] = version;
  json["inputs"] = ports_json(s.inputs);
  json["outputs"] = ports_json(s.outputs);
  json["nodes"] = s.nodes;
  json["subgraphs"] = s.subgraphs;
  json["operators"] = s.operators;
  json["parameters"] = {
      {"tensors", s.parameters.size()}, {"elements", s.parameter_elements}, {"bytes", s.parameter_bytes}};
  json["functions"] = Json::array();
  for (const auto& f : s.functions)
    json["functions"].push_back({{"name", f.name}, {"nodes", f.nodes}, {"calls", f.calls}});
  json["training"] = Json::array();
  for (const auto& t : s.training)
    json["training"].push_back({{"has_initialization", t.has_initialization},
                                {"has_algorithm", t.has_algorithm},
                                {"algorithm_nodes", t.algorithm_nodes},
                                {"state", t.state}});
  json["stages"] = s.stages;
  json["metadata"] = Json::object();
  for (const auto& [key, value] : s.metadata) json["metadata"][key] = value;
  if (options.weights) {
    json["weights"] = Json::array();
    for (const auto& p : s.parameters)
      json["weights"].push_back({{"name", p.name}, {"type", p.type}, {"elements", p.elements}, {"bytes", p.bytes}});
  }
  return json;
}

/// What the file holds of its own is shown even if it cannot be translated.
int show_contents(const driver::FileContents& contents, const Error& error, const Options& options,
                  const driver::Format& format) {
  if (options.json) {
    Json json{{"model", options.model}, {"format", format.name}, {"file", to_json(contents)}};
    json["not_converted"] = error.message();
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  Table head;
  head.add({"model", options.model});
  head.add({"format", std::string(format.title) + ", which cannot be converted to ONNX"});
  std::fputs(head.str("").c_str(), stdout);
  print_contents(contents, format);
  std::printf("%s %s\n", out_style(Style::yellow, "not converted:").c_str(), error.what());
  return 0;
}

int run(const Options& options, const Global& global) {
  driver::LoadOptions load = global.load_options(options.from);
  load.import.signature = options.signature;
  load.import.tag = options.tag;
  load.requires_valid = false;              // broken models are looked at too
  load.allow_missing_data = !options.text;  // the text has values
  const std::optional<driver::FileContents> contents = driver::describe(options.model, load);
  driver::Loaded loaded;
  try {
    loaded = driver::load(options.model, load);
  } catch (const Error& error) {
    if (!contents || options.text) throw;
    if (error.exit_code() != 4 && contents->sections.empty()) throw;
    const driver::Source source = driver::open_source(options.model);
    return show_contents(*contents, error, options, driver::format_to_read(source, load.from));
  }
  if (!global.quiet && !options.json && loaded.format->is_onnx)  // how a file was translated is convert's to tell
    for (const std::string& note : loaded.notes)
      std::fprintf(stderr, "%s %s\n", err_style(Style::yellow, "note:").c_str(), note.c_str());
  if (options.text) {
    std::fputs(driver::readable_text(loaded.model).c_str(), stdout);
    return 0;
  }
  const bool wants_costs = options.flops || options.memory;
  if (!wants_costs && !options.input_shapes.empty())
    throw Error(Code::bad_usage, "--input-shape does nothing by itself").hint("add --flops or --memory");
  driver::Costs costs;
  if (wants_costs) {
    driver::InputShapes shapes;
    for (const std::string& text : options.input_shapes) shapes.push_back(driver::parse_input_shape(text));
    costs = driver::costs_of(loaded.model, shapes);
  }
  const driver::Summary summary = driver::summarise(loaded.model);
  if (options.json) {
    Json json = to_json(summary, options, *loaded.format);
    if (contents) json["file"] = to_json(*contents);
    json["notes"] = loaded.notes;
    if (wants_costs) json["costs"] = costs_json(costs);
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  print_summary(summary, options, *loaded.format);
  if (contents) print_contents(*contents, *loaded.format);
  if (wants_costs) print_costs(costs, options.flops, options.memory);
  return 0;
}

}  // namespace

Command add_inspect(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("inspect", "What is in a model: inputs, outputs, operators, parameters, opsets");
  app->footer("Reads the graph, not the weights: models of many GB are described in milliseconds.");
  app->add_option("MODEL", options->model, "The model file")->required();
  app->add_flag("--text", options->text, "Print the graph as text, long weights left out");
  app->add_flag("--weights", options->weights, "List every weight with its type and size");
  app->add_flag("--flops", options->flops, "What each node computes: a multiplication and an addition are two");
  app->add_flag("--memory", options->memory, "Bytes of weights and outputs of each node, and most alive at once");
  app->add_option("--input-shape", options->input_shapes, "Sizes for --flops and --memory: x:1,3,224,224");
  app->add_option("--signature", options->signature, "Which of the source's signatures to look at");
  app->add_option("--tag", options->tag, "Which of a SavedModel's graphs to look at (default: serve)");
  app->add_flag("--json", options->json, "For programs");
  app->add_option("--from", options->from, "The file's format, when it does not tell itself");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
