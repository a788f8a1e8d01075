// ingot optimize: a smaller model that means the same.
#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/edit.h"
#include "ingot/driver/summary.h"
#include "ingot/ir/opaque_model.h"
#include "ingot/verify/verify.h"
#include "terminal.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string model, output, level = "extended", fuse, peers;
  std::vector<std::string> with, input_shapes;
  std::int64_t opset = 0;
  bool ignores_nan = false, no_verify = false, json = false;
};

verify::Verdict verdict_of(const Options& options, const Global& global) {
  verify::VerifyRequest request;
  request.a.file = options.model;
  request.b.file = options.output;
  request.a.load = request.b.load = global.load_options();
  request.peers = find_peers(global, options.peers);
  std::vector<verify::Runtime> runtimes = {verify::Runtime::ingot};
  if (!options.with.empty()) {
    runtimes.clear();
    for (const std::string& name : options.with) runtimes.push_back(verify::runtime_by_name(name));
  }
  request.a.runtimes = request.b.runtimes = runtimes;
  for (const std::string& text : options.input_shapes) request.input_shapes.push_back(driver::parse_input_shape(text));
  return verify::verify(request);
}

void print(const driver::OptimizeReport& report, const driver::Summary& before, const driver::Summary& after) {
  Table table({true});
  for (const auto& [rule, count] : report.rules) table.add({grouped(count), rule});
  std::fprintf(stderr, "%snodes %s -> %s, weights %s -> %s\n", table.str().c_str(),
               grouped(report.nodes_before).c_str(), grouped(report.nodes_after).c_str(),
               human_bytes(before.parameter_bytes).c_str(), human_bytes(after.parameter_bytes).c_str());
}

int run(const Options& options, const Global& global) {
  driver::refuse_overwriting(options.model, options.output);
  refuse_other_runtimes(global, "--with", options.with);
  driver::Loaded loaded = driver::load(options.model, global.load_options());
  const driver::Summary before = driver::summarise(loaded.model);
  driver::OptimizeRequest request;
  request.level = driver::parse_level(options.level);
  request.ignores_nan = options.ignores_nan;
  request.opset = options.opset;
  request.fuse = options.fuse;
  request.budget = global.budget;
  driver::OptimizeReport report;
  try {
    report = driver::optimize(loaded.model, request);
  } catch (Error& error) {
    error.in_file(options.model);
    throw;
  }
  driver::save(loaded.model, options.output);
  const driver::Summary after = driver::summarise(loaded.model);
  std::optional<verify::Verdict> verdict;
  if (!options.no_verify) verdict = verdict_of(options, global);
  if (options.json) {
    Json json{{"model", options.model},
              {"output", options.output},
              {"nodes", {{"before", report.nodes_before}, {"after", report.nodes_after}}},
              {"parameter_bytes", {{"before", before.parameter_bytes}, {"after", after.parameter_bytes}}},
              {"rules", Json::object()}};
    for (const auto& [rule, count] : report.rules) json["rules"][rule] = count;
    if (verdict) json["verification"] = to_json(*verdict);
    std::printf("%s\n", json.dump(2).c_str());
  } else if (!global.quiet) {
    print(report, before, after);
    std::fprintf(stderr, "wrote %s\n", options.output.c_str());
    if (verdict) {
      using Answer = verify::Verdict::Answer;
      const bool is_known = verdict->answer != Answer::unknown;
      const bool is_same = verdict->answer == Answer::same;
      const std::string word = is_same    ? err_style(Style::green, "verified:")
                               : is_known ? err_style(Style::red, "they differ:")
                                          : err_style(Style::yellow, "not verified: ") + verdict->why_unknown;
      std::fprintf(stderr, "%s\n%s", word.c_str(), is_known ? text_of(*verdict, false).c_str() : "");
    }
  }
  return verdict && verdict->answer == verify::Verdict::Answer::different ? 1 : 0;
}

}  // namespace

Command add_optimize(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("optimize", "A smaller model that means the same, compared with the one it was");
  app->footer(
      "basic: constants, known shapes and branches, nodes that do nothing, are not read or are there twice, casts, "
      "views "
      "and\n"
      "transposes of each other. extended: also what convolutions take in (batch normalisation, sums, products, "
      "padding),\n"
      "products with bias, transposes by the layout of the whole graph. all: also Gelu, LayerNormalization, attention "
      "... "
      "where\n"
      "the operator set has them (--opset 24). NaN and infinity stay what they are unless --ignore-nan. The result is "
      "run\n"
      "beside the source; the exit code is 1, and the file stays, if they differ.\n\n"
      "  ingot optimize model.onnx -o small.onnx\n"
      "  ingot optimize model.onnx -o small.onnx --level all --opset 23 --with ort\n"
      "  ingot optimize model.onnx -o fused.onnx --fuse com.microsoft --with ort");
  app->add_option("MODEL", options->model, "The model")->required();
  app->add_option("-o,--output", options->output, "The file to write")->required();
  app->add_option("--level", options->level, "basic, extended (default) or all")->one_of({"basic", "extended", "all"});
  app->add_option("--opset", options->opset, "The operator set to write (default: the model's own)")->positive();
  app->add_option("--fuse", options->fuse, "com.microsoft: make ONNX Runtime's own operators (implies --level all)")
      ->one_of({"com.microsoft"});
  app->add_flag("--ignore-nan", options->ignores_nan, "Take x * 0 and x - x for 0 whatever x is");
  app->add_option("--with", options->with, "Runtimes to compare source and result in (default: ingot)")->delimiter(',');
  app->add_option("--input-shape", options->input_shapes, "Sizes to compare with: x:1,3,224,224");
  app->add_flag("--no-verify", options->no_verify, "Do not compare source and result");
  app->add_option("--peers", options->peers, "The folder with npm's node_modules (default: $INGOT_PEERS)");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
