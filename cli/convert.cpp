// ingot convert: from one file to another.
#include "ingot/driver/convert.h"

#include <cstdio>
#include <filesystem>

#include "command.h"
#include "convert_report.h"
#include "half_report.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/driver/summary.h"
#include "ingot/verify/conversion.h"
#include "terminal.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

struct Options {
  driver::ConvertRequest request;
  // As the command line has them.
  std::optional<std::string> from, to, auto_cast, mode, precision, weights, quantize, sequences, inputs_as, outputs_as,
      threshold, batch;
  std::vector<std::string> input_shapes, input_types, input_values, renames, inputs;
  std::optional<std::uint32_t> seed, seeds;
  std::string report, peers;
  std::vector<std::string> keep_float;
  bool json = false, no_verify = false, float16 = false, bfloat16 = false, half_ports = false;
};

driver::ConvertRequest request_of(const Options& options, const Global& global) {
  driver::ConvertRequest request = options.request;
  if (options.from) request.from = &driver::format_by_name(*options.from);
  if (options.to) request.to = &driver::format_by_name(*options.to);
  if (options.auto_cast) request.auto_cast = driver::parse_auto_cast(*options.auto_cast);
  if (options.mode) request.mode = driver::parse_mode(*options.mode);
  if (options.precision) request.precision = driver::parse_precision(*options.precision);
  if (options.weights) request.weights = driver::parse_weights(*options.weights);
  if (options.quantize) request.quantize = driver::parse_quantize(*options.quantize);
  if (options.sequences) request.sequences = driver::parse_sequences(*options.sequences);
  if (options.inputs_as) request.layout.inputs_as = driver::parse_layout(*options.inputs_as);
  if (options.outputs_as) request.layout.outputs_as = driver::parse_layout(*options.outputs_as);
  if (options.batch) request.batch = driver::parse_batch(*options.batch);
  if (options.threshold) request.external_threshold = parse_size(*options.threshold);
  for (const std::string& text : options.input_shapes) request.input_shapes.push_back(driver::parse_input_shape(text));
  for (const std::string& text : options.input_types) request.input_types.push_back(driver::parse_input_type(text));
  for (const std::string& text : options.input_values) request.input_values.push_back(driver::parse_input_value(text));
  for (const std::string& text : options.renames) request.renames.push_back(driver::parse_rename(text));
  for (const std::string& text : request.allow_custom) driver::parse_operator(text);
  if (options.float16 || options.bfloat16) {
    request.half.emplace();
    request.half->to = options.float16 ? DType::f16 : DType::bf16;
    request.half->keep = options.keep_float;
    request.half->converts_ports = options.half_ports;
  } else if (!options.keep_float.empty() || options.half_ports) {
    throw Error(Code::bad_usage, "--keep-float and --half-ports do nothing by themselves")
        .hint("add --float16 or --bfloat16");
  }
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
         " output=" + done.output;
}

void print(const Conversion& done, bool says_why_not) {
  for (const std::string& note : done.report.notes)
    std::fprintf(stderr, "%s %s\n", err_style(Style::yellow, "note:").c_str(), note.c_str());
  if (done.report.nodes_changed)
    std::fprintf(stderr, "%zu nodes rewritten, %zu added\n", done.report.nodes_changed, done.report.nodes_added);
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

/// What is taken of the source, and how it is understood.
void add_source_options(App& app, Options& options) {
  app.add_option("--signature", options.request.signature, "Which of the source's signatures to convert");
  app.add_option("--tag", options.request.tag, "Which of a SavedModel's graphs to convert (default: serve)");
  app.add_option("--inputs", options.request.inputs, "Cut the source here: names of values that become the inputs")
      ->delimiter(',');
  app.add_option("--outputs", options.request.outputs, "Names of values that become the outputs")->delimiter(',');
  app.add_option("--allow-custom", options.request.allow_custom,
                 "Keep an operator that has no translation as a custom node: Op or Op:domain");
  app.add_option("--functions", options.request.functions,
                 "An ONNX file whose functions say what custom operators of the same names mean");
  app.add_option("--map-ops", options.request.map_ops,
                 "A JSON file with other names, domains and attributes for operators of the source");
  app.add_option("--mode", options.mode, "What of a model that can learn: inference (default), training or both");
  app.add_option("--strings", options.request.strings,
                 "contrib: TensorFlow's texts as operators of ONNX Runtime's extensions, where they mean the same");
  app.add_flag("--keep-functions", options.request.keep_functions,
               "Keep TensorFlow's functions as functions of the model instead of inlining them");
  app.add_flag(
      "--keep-nhwc", options.request.keep_nhwc,
      "Keep channels last: Conv, MaxPool ... become functions of the domain ingot.nhwc with plain ONNX bodies");
  app.add_option(
      "--weights-from", options.request.weights_from,
      "The file that holds the weights: of a Keras model whose source only describes it, or others for a PyTorch one");
  app.add_option("--optimizer-state", options.request.optimizer_state,
                 "What torch.save wrote of optimizer.state_dict(): it becomes training information, with --loss");
  app.add_option("--loss", options.request.loss, "What that optimizer makes small: cross_entropy, mse, ...");
  app.add_option("--optimizer", options.request.optimizer, "Which optimizer it is, where the state leaves it open");
  app.add_flag("--keep-state", options.request.keep_state,
               "Buffers that the model changes (PyTorch) are inputs, and outputs NAME.next");
  app.add_flag("--dequantize", options.request.dequantize, "Turn quantised tensors into float");
  Option* float16 = app.add_flag("--float16", options.float16, "Compute in float16 what the model computes in float");
  app.add_flag("--bfloat16", options.bfloat16, "The same in bfloat16")->excludes(float16);
  app.add_option("--keep-float", options.keep_float, "Operators (Op) and nodes (by name) that stay float")
      ->delimiter(',');
  app.add_flag("--half-ports", options.half_ports, "Inputs and outputs become half precision too");
  app.add_flag("--standard", options.request.standard,
               "Say operators of other domains (com.microsoft) in ONNX's own, which any runtime has");
  app.add_option(
      "--precision", options.precision,
      "What models of scikit-learn and of boosting libraries compute in: float64 (default, where they do) or "
      "float32");
  app.add_flag("--raw-scores", options.request.raw_scores,
               "Classifiers give their decision function in place of probabilities");
  app.add_flag("--zipmap", options.request.zipmap, "Probabilities as a map from class to number");
  app.add_flag("--decision-path", options.request.decision_path,
               "Trees and forests of scikit-learn also tell which nodes each row passes");
  app.add_option("--data", options.request.data, "CSV: a sample of the frame that a pandas program works on");
  app.add_option("--schema", options.request.schema, "Its columns: age:int,price:float,name:text,is_new:bool");
}

/// How the result is written.
void add_result_options(App& app, Options& options) {
  app.add_flag("--infer-types", options.request.infer_types, "Write the inferred type and shape of every value");
  app.add_flag("--external-data", options.request.external_data, "Put the weights into one data file beside the model");
  app.add_option("--external-threshold", options.threshold, "Only weights of at least this size (default 1K)");
  app.add_option(
      "--auto-cast", options.auto_cast,
      "Element types that the target lacks: none (default: refuse), up (compute in wider ones), all (narrower "
      "ones too)");
  app.add_option("--weights", options.weights, "Store large float weights of a .tflite file as float16");
  app.add_flag("--native-lstm", options.request.native_lstm,
               "Write LSTM as one operator of TFLite's, which is smaller and faster but which LiteRT does not load");
  app.add_option("--quantize", options.quantize,
                 "Store large float weights of a TF.js model in fewer bits: float16, uint8 or uint16");
  app.add_flag("--variables", options.request.variables,
               "Keep parameters as variables of a SavedModel, to be trained on in TensorFlow");
  app.add_option("--sequences", options.sequences,
                 "Sequences in TensorFlow: lists (default), or ragged, which inputs and outputs may be too");
  app.add_option("--inputs-as", options.inputs_as,
                 "Layout of inputs with channels: nchw or nhwc (default: as the source has them)");
  app.add_option("--outputs-as", options.outputs_as, "Layout of outputs with channels");
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
  app->add_option("IN", options->request.input, "The model to convert")->required();
  app->add_option("-o,--output", options->request.output, "The file to write")->required();
  Option* opset = app->add_option("--opset", options->request.opset, "Operator set version of ai.onnx to write");
  opset->positive();
  app->add_option("--for", options->request.target,
                  "Write what this program reads: ort-1.15, onnx-1.12 (see 'ops --targets')")
      ->excludes(opset);
  app->add_option("--input-shape", options->input_shapes, "Fix an input's dimensions: x:1,3,224,224 (? keeps one)");
  app->add_option("--input-type", options->input_types,
                  "An input's element type, where the source does not say it (PyTorch): x:int64");
  app->add_option("--input-value", options->input_values,
                  "Fix a number that the model's code takes (PyTorch), so that it is no input: rate=16000");
  app->add_option("--batch", options->batch, "Another batch, also of a model that fixes it: 8, or N to leave it open");
  app->add_option("--rename", options->renames, "Rename a value: old=new");
  add_source_options(*app, *options);
  add_result_options(*app, *options);
  app->add_option("--from", options->from,
                  "The input's format, when it does not tell itself: " + driver::format_names(driver::is_readable));
  app->add_option(
      "--to", options->to,
      "The output's format, when its extension does not tell: " + driver::format_names(driver::is_writable));
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
