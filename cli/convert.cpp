// ingot convert: from one file to another.
#include "ingot/driver/convert.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "command.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/driver/export.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string input, output, from, to, target, report, threshold = "1K";
  std::int64_t opset = 0;
  std::vector<std::string> input_shapes, renames;
  driver::ImportOptions import;
  driver::ExportOptions exported;
  bool external_data = false, infer_types = false, json = false;
};

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

Json to_json(const Options& options, const driver::ConvertReport& report, const Model& model) {
  Json json{{"input", options.input},
            {"output", options.output},
            {"ir_version", model.ir_version},
            {"nodes_changed", report.nodes_changed},
            {"nodes_added", report.nodes_added},
            {"notes", report.notes}};
  json["opsets"] = Json::object();
  for (const OpsetImport& o : model.opsets) json["opsets"][o.domain.empty() ? "ai.onnx" : o.domain] = o.version;
  return json;
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
  driver::Loaded loaded = driver::load(options.input, load);
  if (driver::is_onnx(loaded.format)) {
    // A backend decides for itself how its inputs and outputs lie.
    if (!format || !driver::is_foreign(*format)) driver::wish_layout(loaded.model, layout, loaded.notes);
  } else {
    exported.inputs_as.clear();
    exported.outputs_as.clear();
  }
  // What the runtimes of the last years read.
  if (!driver::is_onnx(loaded.format) && !convert.opset && convert.target.empty()) convert.opset = 21;
  driver::ConvertReport report;
  try {
    report = driver::convert(loaded.model, convert);
    if (format && driver::is_foreign(*format))
      driver::export_model(loaded.model, options.output, *format, exported, report);
  } catch (Error& error) {
    error.in_file(options.input);
    throw;
  }
  report.notes.insert(report.notes.begin(), loaded.notes.begin(), loaded.notes.end());
  if (!format || !driver::is_foreign(*format)) driver::save(loaded.model, options.output, save);

  const std::string json = to_json(options, report, loaded.model).dump(2, ' ', false, Json::error_handler_t::replace);
  if (!options.report.empty()) {
    AtomicFile file(options.report);
    file.write(json + "\n");
    file.commit();
  }
  if (options.json) {
    std::printf("%s\n", json.c_str());
  } else if (!global.quiet) {
    for (const std::string& note : report.notes)
      std::fprintf(stderr, "%s %s\n", err_style(Style::yellow, "note:").c_str(), note.c_str());
    if (report.nodes_changed)
      std::fprintf(stderr, "%zu nodes rewritten, %zu added\n", report.nodes_changed, report.nodes_added);
    std::fprintf(stderr, "wrote %s\n", options.output.c_str());
  }
  return 0;
}

}  // namespace

Command add_convert(CLI::App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("convert", "From one model file to another: format, operator set, shapes, names");
  app->footer(
      "The formats follow from contents and extensions: .onnx, .onnxtxt (the ONNX text syntax), .tflite (input only),\n"
      ".json (a description, output only). Without --opset and --for, an ONNX model keeps its operator sets, and one "
      "of\n"
      "another framework gets opset 21. A file is written whole or not at all; what cannot be converted is listed\n"
      "completely, and the exit code is 4.\n\n"
      "  ingot convert model.tflite -o model.onnx\n"
      "  ingot convert model.onnx -o old.onnx --for ort-1.15\n"
      "  ingot convert model.onnx -o big.onnx --external-data");
  app->add_option("IN", options->input, "The model to convert")->required();
  app->add_option("-o,--output", options->output, "The file to write")->required();
  CLI::Option* opset = app->add_option("--opset", options->opset, "Operator set version of ai.onnx to write");
  opset->check(CLI::PositiveNumber);
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
  app->add_flag("--dequantize", options->import.dequantize, "Turn quantised tensors into float");
  app->add_flag("--infer-types", options->infer_types, "Write the inferred type and shape of every value");
  app->add_flag("--external-data", options->external_data, "Put the weights into one data file beside the model");
  app->add_option("--external-threshold", options->threshold, "Only weights of at least this size (default 1K)");
  app->add_option(
      "--auto-cast", options->exported.auto_cast,
      "Element types that the target lacks: none (default: refuse), up (compute in wider ones), all (narrower "
      "ones too)");
  app->add_option("--weights", options->exported.weights, "Store large float weights of a .tflite file as float16");
  app->add_option("--inputs-as", options->exported.inputs_as,
                  "Layout of inputs with channels: nchw or nhwc (default: as the source has them)");
  app->add_option("--outputs-as", options->exported.outputs_as, "Layout of outputs with channels");
  app->add_option("--from", options->from, "The input's format, when it does not tell itself");
  app->add_option("--to", options->to, "The output's format, when its extension does not tell");
  app->add_option("--report", options->report, "Write what was done to this JSON file");
  app->add_flag("--json", options->json, "Print what was done as JSON");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
