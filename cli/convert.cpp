// ingot convert: from one file to another.
#include <cstdio>
#include <filesystem>

#include "command.h"
#include "convert_report.h"
#include "half_report.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/base/printable.h"
#include "ingot/driver/convert_words.h"
#include "ingot/driver/summary.h"
#include "ingot/verify/conversion.h"
#include "terminal.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

/// What the command line says to one of the words.
struct GivenWord {
  const driver::ConvertWord* word;
  bool is_on = false;
  std::optional<std::string> one{};
  std::vector<std::string> several{};
};

void add_words(App& app, std::vector<GivenWord>& given) {
  for (const driver::ConvertWord& word : driver::convert_words()) given.push_back({&word});
  for (GivenWord& g : given) {  // which stay where they are from here on
    using Takes = driver::ConvertWord::Takes;
    const std::string name = "--" + std::string(g.word->name);
    const std::string help = std::string(g.word->help) + (g.word->known ? ": " + g.word->known() : "");
    switch (g.word->takes) {
      case Takes::nothing:
        app.add_flag(name, g.is_on, help);
        break;
      case Takes::one:
        app.add_option(name, g.one, help);
        break;
      case Takes::several:
        app.add_option(name, g.several, help);
        break;
      case Takes::names:
        app.add_option(name, g.several, help)->delimiter(',');
        break;
    }
  }
}

std::vector<driver::WordGiven> said(const std::vector<GivenWord>& given) {
  std::vector<driver::WordGiven> words;
  for (const GivenWord& g : given) {
    const std::string name(g.word->name);
    if (g.is_on) words.push_back({name});
    if (g.one) words.push_back({name, *g.one});
    for (const std::string& value : g.several) words.push_back({name, value});
  }
  return words;
}

struct Options {
  std::string input, output;
  std::vector<GivenWord> words;
  std::vector<std::string> inputs;
  std::optional<std::uint32_t> seed, seeds;
  std::string report, peers;
  bool json = false, no_verify = false;
};

driver::ConvertRequest request_of(const Options& options, const Global& global) {
  driver::ConvertRequest request;
  request.input = options.input;
  request.output = options.output;
  driver::set_words(request, said(options.words));
  request.allow_links = global.allow_links;
  request.budget = global.budget;
  request.requires_valid = !global.unchecked;
  request.allow_runtimes = !global.untrusted;
  return request;
}

/// One line of words and values, for programs that read what people see.
std::string summary_of(const Conversion& done) {
  using Answer = verify::Verdict::Answer;
  const std::string verified = !done.verdict                             ? "no"
                               : done.verdict->answer == Answer::unknown ? "unknown"
                               : done.verdict->answer != Answer::same    ? "different"
                               : done.verdict->is_independent            ? "same"
                                                                         : "self";  // by nobody else
  const double total = done.report.load_seconds + done.report.convert_seconds + done.report.write_seconds;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3f", total);
  return "summary: from=" + std::string(done.report.from->name) + " to=" + std::string(done.report.to->name) +
         " nodes=" + std::to_string(driver::summarise(done.report.model).nodes) +
         " notes=" + std::to_string(done.report.notes.size()) + " verified=" + verified + " seconds=" + seconds +
         " output=" + printable(done.output);  // a line, whatever the name is
}

void print(const Conversion& done, bool says_why_not) {
  for (const std::string& note : done.report.notes)
    std::fprintf(stderr, "%s %s\n", err_style(Style::yellow, "note:").c_str(), note.c_str());
  if (done.report.nodes_changed)
    std::fprintf(stderr, "%zu %s rewritten, %zu added\n", done.report.nodes_changed,
                 done.report.nodes_changed == 1 ? "node" : "nodes", done.report.nodes_added);
  if (done.report.half) std::fputs(text_of(*done.report.half).c_str(), stderr);
  std::fprintf(stderr, "wrote %s\n", done.output.c_str());
  using Answer = verify::Verdict::Answer;
  if (done.verdict && done.verdict->answer != Answer::unknown) {
    const verify::Verdict& verdict = *done.verdict;
    std::string word = err_style(Style::red, "they differ:");
    std::string runtimes = verdict.a_runtime + " runs the source and " + verdict.b_runtime + " the result";
    if (verdict.answer == Answer::same && verdict.is_independent) word = err_style(Style::green, "verified:");
    if (verdict.answer == Answer::same && !verdict.is_independent) {
      word = err_style(Style::yellow, "not verified by another program:");
      runtimes = "Ingot itself ran the source, and agrees with " +
                 (verdict.b_runtime == verdict.a_runtime ? "itself" : verdict.b_runtime);
    }
    std::fprintf(stderr, "%s %s:\n%s", word.c_str(), runtimes.c_str(), text_of(verdict, false).c_str());
  } else if (says_why_not) {
    std::fprintf(stderr, "%s %s\n", err_style(Style::yellow, "not verified:").c_str(),
                 done.report.not_verified.c_str());
  }
  std::fprintf(stderr, "%s\n", summary_of(done).c_str());
}

void write_report(const std::string& path, const Conversion& done, const Json& json) {
  AtomicFile file(path);
  file.write(path.ends_with(".html") || path.ends_with(".htm") ? to_html(done, json) : json.dump(2) + "\n");
  file.commit();
}

int run(const Options& options, const Global& global) {
  driver::ConvertRequest request = request_of(options, global);
  Conversion done{.input = request.input, .output = request.output};
  if (!options.report.empty()) {
    driver::refuse_overwriting(request.input, options.report);
    if (std::filesystem::weakly_canonical(options.report) == std::filesystem::weakly_canonical(request.output))
      throw Error(Code::bad_usage, "the report would overwrite the model").in_file(options.report);
  }
  const bool names_inputs = !options.inputs.empty() || options.seed || options.seeds;
  if (options.no_verify && names_inputs)
    throw Error(Code::bad_usage, "--in, --random and --seeds say on which inputs source and result are compared")
        .hint("leave --no-verify out");
  request.verifies_onnx = names_inputs;
  const verify::ConversionInputs inputs{options.inputs, options.seed.value_or(1), options.seeds.value_or(0)};
  if (!options.no_verify) request.verify = verify::verifier(find_peers(global, options.peers), done.verdict, inputs);
  done.report = driver::convert(request);
  const Json json = to_json(done);
  if (!options.report.empty()) write_report(options.report, done, json);
  if (options.json)
    std::printf("%s\n", json.dump(2).c_str());
  else if (!global.quiet)
    print(done, (done.report.is_translated || names_inputs) && !options.no_verify);
  return done.verdict && done.verdict->answer == verify::Verdict::Answer::different ? 1 : 0;
}

}  // namespace

Command add_convert(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("convert", "From one model file to another: format, operator set, shapes, names");
  app->footer(
      "The formats follow from contents and extensions: .onnx, .onnxtxt (the ONNX text syntax), .tflite, .pb, .json\n"
      "(a description, output only); SavedModels and TF.js models are folders, written under --to. Without --opset "
      "and\n"
      "--for, an ONNX model keeps its operator sets, and one of another framework gets opset 21. A file is written\n"
      "whole or not at all; what cannot be converted is listed completely, and the exit code is 4. What comes from or\n"
      "goes to another framework is then run beside its source, if the source's runtime is installed; the exit code\n"
      "is 1, and the file stays, if the two differ.\n\n"
      "  ingot convert model.tflite -o model.onnx\n"
      "  ingot convert model.onnx -o old.onnx --for ort-1.15\n"
      "  ingot convert model.onnx -o big.onnx --external-data");
  app->add_option("IN", options->input, "The model to convert")->required();
  app->add_option("-o,--output", options->output, "The file to write")->required();
  add_words(*app, options->words);
  app->add_option("--report", options->report,
                  "Write what was done to this .json file, or as a page to this .html file");
  app->add_flag("--no-verify", options->no_verify, "Do not compare source and result (see 'ingot verify')");
  app->add_option("--in", options->inputs,
                  "Compare on these: NAME=x.npy, NAME=x.pb, x.npz or a directory, in the source's names");
  app->add_option("--random", options->seed, "Draw the inputs that are not given from this seed (default: 1)");
  app->add_option("--seeds", options->seeds, "Compare on so many draws, from that seed on")->positive();
  app->add_option("--peers", options->peers, "The folder with npm's node_modules (default: $INGOT_PEERS)");
  app->add_flag("--json", options->json, "Print what was done as JSON");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
