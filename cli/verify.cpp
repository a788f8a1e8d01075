// ingot verify: do two models give the same numbers?
#include "ingot/verify/verify.h"

#include <cstdio>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/options.h"
#include "terminal.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

using verify::Runtime;
using verify::Verdict;

struct Options {
  std::string a, b, a_with, b_with, peers, signature, tag;
  std::vector<std::string> with, inputs, input_shapes;
  std::uint32_t seed = 1, seeds = 0;
  std::optional<double> rtol, atol;
  bool lists_runtimes = false, no_bisect = false, json = false;
};

int list_runtimes(const Options& options) {
  const verify::Peers peers = verify::find_peers(options.peers);
  Json json = Json::array();
  Table table;
  for (const verify::RuntimeInfo& info : verify::all_runtimes()) {
    const auto missing = verify::why_missing(peers, info.runtime);
    json.push_back({{"name", info.name}, {"title", info.title}, {"installed", !missing}});
    if (missing) json.back()["missing"] = *missing;
    table.add({std::string(info.name), std::string(info.title), missing ? *missing : "installed"});
  }
  std::printf("%s", options.json ? (json.dump(2) + "\n").c_str() : table.str().c_str());
  return 0;
}

std::vector<Runtime> runtimes_of(const std::vector<std::string>& names) {
  std::vector<Runtime> runtimes;
  for (const std::string& name : names) runtimes.push_back(verify::runtime_by_name(name));
  return runtimes;
}

/// With one model, each runtime in turn is compared with Ingot; with two, each side takes the first that runs it.
std::vector<verify::VerifyRequest> requests_of(const Options& options, const Global& global) {
  verify::VerifyRequest request;
  request.a.file = options.a;
  request.b.file = options.b.empty() ? options.a : options.b;
  request.a.load = request.b.load = global.load_options();
  request.a.load.import.signature = options.signature;
  request.a.load.import.tag = options.tag;
  if (options.b.empty()) request.b.load.import = request.a.load.import;
  request.peers = find_peers(global, options.peers);
  request.inputs = options.inputs;
  request.seed = options.seed;
  request.seeds = options.seeds;
  request.rtol = options.rtol;
  request.atol = options.atol;
  request.bisects = !options.no_bisect;
  for (const std::string& text : options.input_shapes) request.input_shapes.push_back(driver::parse_input_shape(text));
  const std::vector<Runtime> with = runtimes_of(options.with);
  std::vector<verify::VerifyRequest> all;
  if (options.b.empty()) {
    request.b.load.import.input_shapes = request.input_shapes;
    request.b.runtimes = {Runtime::ingot};
    if (!options.b_with.empty()) request.b.runtimes = runtimes_of({options.b_with});
    if (!options.a_with.empty()) request.a.runtimes = runtimes_of({options.a_with});
    for (const Runtime r : with) {
      all.push_back(request);
      all.back().a.runtimes = {r};
    }
    if (with.empty()) all.push_back(request);
  } else {
    request.a.runtimes = options.a_with.empty() ? with : runtimes_of({options.a_with});
    request.b.runtimes = options.b_with.empty() ? with : runtimes_of({options.b_with});
    all.push_back(request);
  }
  if (global.untrusted)
    for (verify::VerifyRequest& r : all) r.a.runtimes = r.b.runtimes = {Runtime::ingot};
  return all;
}

void print(const verify::VerifyRequest& request, const Verdict& verdict) {
  std::printf("%s\n%s",
              out_style(Style::bold, request.a.file + " in " + verdict.a_runtime + ", " + request.b.file + " in " +
                                         verdict.b_runtime)
                  .c_str(),
              text_of(verdict, true).c_str());
  const bool is_alone = verdict.a_runtime == verdict.b_runtime && !verdict.is_independent;
  if (verdict.answer == Verdict::Answer::same)
    std::printf("%s%s\n", out_style(Style::green, "they give the same numbers").c_str(),
                is_alone ? ", as Ingot alone runs both" : "");
  else if (verdict.answer == Verdict::Answer::different)
    std::printf("%s\n", out_style(Style::red, "they differ").c_str());
  else
    std::printf("%s %s\n", out_style(Style::yellow, "no answer:").c_str(), verdict.why_unknown.c_str());
}

int run(const Options& options, const Global& global) {
  if (options.lists_runtimes) return list_runtimes(options);
  if (options.a.empty()) throw Error(Code::bad_usage, "verify needs one model or two").hint("'ingot verify --help'");
  bool differs = false, is_unknown = false;
  Json json = Json::array();
  for (const verify::VerifyRequest& request : requests_of(options, global)) {
    const Verdict verdict = verify::verify(request);
    differs |= verdict.answer == Verdict::Answer::different;
    is_unknown |= verdict.answer == Verdict::Answer::unknown;
    if (options.json) {
      json.push_back({{"a", request.a.file}, {"b", request.b.file}});
      json.back().update(to_json(verdict));
    } else {
      print(request, verdict);
    }
  }
  if (options.json) {
    const Json& shown = json.size() == 1 ? json[0] : json;
    std::printf("%s\n", shown.dump(2).c_str());
  }
  return differs ? 1 : is_unknown ? 4 : 0;
}

}  // namespace

Command add_verify(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("verify", "Do two models give the same numbers? If not, where do they part?");
  app->footer(
      "Both run on the same inputs; A is what B is measured by. A file runs in the runtime that its format is made "
      "for,\n"
      "an ONNX file B in Ingot; one model alone is compared with itself in Ingot. Exit code 0: the same; 1: they "
      "differ;\n"
      "4: a runtime is missing or does not run the model. 'check' asks whether a model is valid, 'test' runs stored "
      "cases.\n\n"
      "  ingot verify model.tflite model.onnx\n"
      "  ingot verify model.onnx --with ort\n"
      "  ingot verify model.tflite model.onnx --with litert,ort --in x=photo.npy\n"
      "  ingot verify --list-runtimes");
  app->add_option("A", options->a, "The model that the other is measured by");
  app->add_option("B", options->b, "The other model");
  app->add_option("--with", options->with,
                  "Runtimes: ingot, ort, tflite, litert, tfjs; a file takes the first that runs its format")
      ->delimiter(',');
  app->add_option("--a-with", options->a_with, "The runtime for A alone");
  app->add_option("--b-with", options->b_with, "The runtime for B alone");
  app->add_option("--in", options->inputs, "NAME=x.npy, NAME=x.pb, x.npz or a directory, in A's names");
  app->add_option("--random", options->seed, "Draw the inputs that are not given from this seed (default: 1)");
  app->add_option("--seeds", options->seeds,
                  "From so many seeds in turn (default: 3 where that takes little time, else 1)")
      ->positive();
  app->add_option("--input-shape", options->input_shapes, "Fix an input's dimensions: x:1,3,224,224 (? keeps one)");
  app->add_option("--signature", options->signature, "Which of A's signatures to run");
  app->add_option("--tag", options->tag, "Which of A's graphs to run, if it is a SavedModel (default: serve)");
  app->add_option("--rtol", options->rtol, "Allow this part of each element, in place of the policy")
      ->between(0, 1e300);
  app->add_option("--atol", options->atol, "Allow this much for each element, in place of the policy")
      ->between(0, 1e300);
  app->add_flag("--no-bisect", options->no_bisect, "Do not look for where they part");
  app->add_flag("--list-runtimes", options->lists_runtimes, "Which runtimes are here, and how to install the others");
  app->add_option("--peers", options->peers, "The folder with npm's node_modules (default: $INGOT_PEERS)");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
