// ingot convert: from one file to another.
#include "ingot/driver/convert.h"

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "command.h"
#include "convert_report.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/export.h"
#include "terminal.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string input, output, from, to, target, report, threshold = "1K";
  std::int64_t opset = 0;
  std::vector<std::string> input_shapes, renames;
  driver::ImportOptions import;
  driver::ExportOptions exported;
  bool external_data = false, infer_types = false, json = false, no_verify = false;
  std::string peers;
};

double seconds_since(std::chrono::steady_clock::time_point& start) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - start).count();
  start = now;
  return seconds;
}

driver::ConvertOptions convert_options(const Options& options) {
  driver::ConvertOptions convert;
  if (options.opset) convert.opset = options.opset;
  convert.target = options.target;
  convert.infer_types = options.infer_types;
  convert.auto_cast = options.exported.auto_cast;
  for (const std::string& text : options.input_shapes) convert.input_shapes.push_back(driver::parse_input_shape(text));
  for (const std::string& text : options.renames) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(Code::bad_usage, "'" + text + "' is not a renaming").hint("such as old=new");
    convert.renames.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return convert;
}

/// Why the source's own runtime cannot be asked about the result; empty if it can.
std::string why_not_verified(const Options& options, const Global& global, driver::Format from,
                             std::optional<driver::Format> to) {
  const bool is_foreign = !driver::is_onnx(from) || (to && driver::is_foreign(*to));
  if (options.no_verify) return "as asked for";
  if (!is_foreign) return "source and result are ONNX; 'ingot verify' compares them";
  if (global.untrusted) return "other runtimes are off under --untrusted";
  if (from == driver::Format::tflite && (!options.import.inputs.empty() || !options.import.outputs.empty()))
    return "the graph was cut; TFLite's runtimes begin and end where the file does";
  if (from == driver::Format::tflite && !options.import.signature.empty())
    return "TFLite's runtimes are asked about the main graph, not about signatures";
  if (options.import.dequantize) return "quantised values became floats";
  if (to == driver::Format::json) return "a description does not run";
  std::error_code unknown;
  if (std::filesystem::equivalent(options.input, options.output, unknown)) return "the result took the source's place";
  return {};
}

/// Runs the source in its own runtime and the result beside it.
void verify_result(const Options& options, const Global& global, const driver::LoadOptions& load, Conversion& done) {
  verify::VerifyRequest request;
  request.a.file = options.input;
  request.a.load = global.load_options(options.from);
  request.a.load.import.signature = load.import.signature;
  request.a.load.import.tag = load.import.tag;
  request.a.load.import.inputs = load.import.inputs;
  request.a.load.import.outputs = load.import.outputs;
  request.a.load.import.allow_custom = load.import.allow_custom;
  request.a.load.import.functions = load.import.functions;
  request.b.file = options.output;
  request.b.load = global.load_options(options.to);
  request.input_shapes = load.import.input_shapes;
  request.peers = find_peers(global, options.peers);
  try {
    done.verdict = verify::verify(request);
    if (done.verdict->answer == verify::Verdict::Answer::unknown) done.not_verified = done.verdict->why_unknown;
  } catch (const Error& error) {
    if (error.code() == Code::cancelled || error.code() == Code::time_limit) throw;
    done.not_verified = error.message() + (error.hint_text().empty() ? "" : "; " + error.hint_text());
  }
}

void print(const Conversion& done, bool is_foreign) {
  for (const std::string& note : done.report.notes)
    std::fprintf(stderr, "%s %s\n", err_style(Style::yellow, "note:").c_str(), note.c_str());
  if (done.report.nodes_changed)
    std::fprintf(stderr, "%zu nodes rewritten, %zu added\n", done.report.nodes_changed, done.report.nodes_added);
  std::fprintf(stderr, "wrote %s\n", done.output.c_str());
  using Answer = verify::Verdict::Answer;
  if (done.verdict && done.verdict->answer != Answer::unknown) {
    const bool is_same = done.verdict->answer == Answer::same;
    const std::string runtimes =
        done.verdict->a_runtime + " runs the source and " + done.verdict->b_runtime + " the result";
    std::fprintf(stderr, "%s %s:\n%s",
                 is_same ? err_style(Style::green, "verified:").c_str() : err_style(Style::red, "they differ:").c_str(),
                 runtimes.c_str(), text_of(*done.verdict, false).c_str());
  } else if (is_foreign) {
    std::fprintf(stderr, "%s %s\n", err_style(Style::yellow, "not verified:").c_str(), done.not_verified.c_str());
  }
}

void write_report(const std::string& path, const Json& json) {
  AtomicFile file(path);
  file.write(path.ends_with(".html") || path.ends_with(".htm") ? to_html(json) : json.dump(2) + "\n");
  file.commit();
}

int run(const Options& options, const Global& global) {
  driver::SaveOptions save;
  if (!options.to.empty()) save.to = driver::format_by_name(options.to);
  save.external_data = options.external_data;
  save.external_threshold = parse_size(options.threshold);
  driver::ConvertOptions convert = convert_options(options);
  const auto format = save.to ? save.to : driver::format_by_extension(options.output);

  driver::ExportOptions exported = options.exported;
  exported.allow_custom = options.import.allow_custom;
  driver::LoadOptions load = global.load_options(options.from);
  load.import = options.import;
  load.import.input_shapes = convert.input_shapes;
  const driver::LayoutWish layout{options.exported.inputs_as, options.exported.outputs_as};
  load.import.layout = layout;
  auto clock = std::chrono::steady_clock::now();
  Conversion done{.input = options.input, .output = options.output};
  driver::Loaded loaded = driver::load(options.input, load);
  done.load_seconds = seconds_since(clock);
  if (driver::is_onnx(loaded.format)) {
    // A backend decides for itself how its inputs and outputs lie.
    if (!format || !driver::is_foreign(*format)) driver::wish_layout(loaded.model, layout, loaded.notes);
  } else {
    exported.inputs_as.clear();
    exported.outputs_as.clear();
  }
  // What the runtimes of the last years read.
  if (!driver::is_onnx(loaded.format) && !convert.opset && convert.target.empty()) convert.opset = 21;
  const bool is_export = format && driver::is_foreign(*format);
  try {
    done.report = driver::convert(loaded.model, convert);
    done.convert_seconds = seconds_since(clock);
    if (is_export) driver::export_model(loaded.model, options.output, *format, exported, done.report);
  } catch (Error& error) {
    error.in_file(options.input);
    throw;
  }
  done.report.notes.insert(done.report.notes.begin(), loaded.notes.begin(), loaded.notes.end());
  if (!is_export) driver::save(loaded.model, options.output, save);
  done.write_seconds = seconds_since(clock);

  done.model = &loaded.model;
  done.input_format = driver::info_of(loaded.format).title;
  done.output_format = driver::info_of(format.value_or(driver::Format::onnx)).title;
  done.not_verified = why_not_verified(options, global, loaded.format, format);
  if (done.not_verified.empty()) verify_result(options, global, load, done);
  const Json json = to_json(done);
  if (!options.report.empty()) write_report(options.report, json);
  if (options.json)
    std::printf("%s\n", json.dump(2).c_str());
  else if (!global.quiet)
    print(done, (!driver::is_onnx(loaded.format) || is_export) && !options.no_verify);
  return done.verdict && done.verdict->answer == verify::Verdict::Answer::different ? 1 : 0;
}

}  // namespace

Command add_convert(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("convert", "From one model file to another: format, operator set, shapes, names");
  app->footer(
      "The formats follow from contents and extensions: .onnx, .onnxtxt (the ONNX text syntax), .tflite,\n"
      ".json (a description, output only). Without --opset and --for, an ONNX model keeps its operator sets, and one "
      "of\n"
      "another framework gets opset 21. A file is written whole or not at all; what cannot be converted is listed\n"
      "completely, and the exit code is 4. What comes from or goes to another framework is then run beside its source, "
      "if\n"
      "the source's runtime is installed; the exit code is 1, and the file stays, if the two differ.\n\n"
      "  ingot convert model.tflite -o model.onnx\n"
      "  ingot convert model.onnx -o old.onnx --for ort-1.15\n"
      "  ingot convert model.onnx -o big.onnx --external-data");
  app->add_option("IN", options->input, "The model to convert")->required();
  app->add_option("-o,--output", options->output, "The file to write")->required();
  Option* opset = app->add_option("--opset", options->opset, "Operator set version of ai.onnx to write");
  opset->positive();
  app->add_option("--for", options->target, "Write what this program reads: ort-1.15, onnx-1.12 (see 'ops --targets')")
      ->excludes(opset);
  app->add_option("--input-shape", options->input_shapes, "Fix an input's dimensions: x:1,3,224,224 (? keeps one)");
  app->add_option("--rename", options->renames, "Rename a value: old=new");
  app->add_option("--signature", options->import.signature, "Which of the source's signatures to convert");
  app->add_option("--tag", options->import.tag, "Which of a SavedModel's graphs to convert (default: serve)");
  app->add_option("--inputs", options->import.inputs, "Cut the source here: names of values that become the inputs")
      ->delimiter(',');
  app->add_option("--outputs", options->import.outputs, "Names of values that become the outputs")->delimiter(',');
  app->add_option("--allow-custom", options->import.allow_custom,
                  "Keep an operator that has no translation as a custom node: Op or Op:domain");
  app->add_option("--functions", options->import.functions,
                  "An ONNX file whose functions say what custom operators of the same names mean");
  app->add_option("--mode", options->import.mode,
                  "What of a model that can learn: inference (default), training or both")
      ->one_of({"inference", "training", "both"});
  app->add_flag("--keep-functions", options->import.keep_functions,
                "Keep TensorFlow's functions as functions of the model instead of inlining them");
  app->add_flag("--dequantize", options->import.dequantize, "Turn quantised tensors into float");
  app->add_flag("--infer-types", options->infer_types, "Write the inferred type and shape of every value");
  app->add_flag("--external-data", options->external_data, "Put the weights into one data file beside the model");
  app->add_option("--external-threshold", options->threshold, "Only weights of at least this size (default 1K)");
  app->add_option(
      "--auto-cast", options->exported.auto_cast,
      "Element types that the target lacks: none (default: refuse), up (compute in wider ones), all (narrower "
      "ones too)");
  app->add_option("--weights", options->exported.weights, "Store large float weights of a .tflite file as float16");
  app->add_flag("--native-lstm", options->exported.native_lstm,
                "Write LSTM as one operator of TFLite's, which is smaller and faster but which LiteRT does not load");
  app->add_option("--inputs-as", options->exported.inputs_as,
                  "Layout of inputs with channels: nchw or nhwc (default: as the source has them)");
  app->add_option("--outputs-as", options->exported.outputs_as, "Layout of outputs with channels");
  app->add_option("--from", options->from, "The input's format, when it does not tell itself");
  app->add_option("--to", options->to, "The output's format, when its extension does not tell");
  app->add_option("--report", options->report,
                  "Write what was done to this .json file, or as a page to this .html file");
  app->add_flag("--no-verify", options->no_verify, "Do not compare source and result (see 'ingot verify')");
  app->add_option("--peers", options->peers, "The folder with npm's node_modules (default: $INGOT_PEERS)");
  app->add_flag("--json", options->json, "Print what was done as JSON");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
