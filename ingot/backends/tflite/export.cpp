// ONNX -> TFLite: rewriting, layouts, operators, signature.
#include "ingot/backends/tflite/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "ingot/backends/tflite/called_operator.h"
#include "ingot/backends/tflite/operators.h"
#include "ingot/backends/tflite/quantized.h"
#include "ingot/backends/tflite/settle_outputs.h"
#include "ingot/backends/tflite/simplify.h"
#include "ingot/backends/tflite/target.h"
#include "ingot/backends/tflite/type_tables.h"
#include "ingot/backends/tflite/variables.h"
#include "ingot/formats/tflite/source_note.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {
namespace {

/// Parameters of integer inputs that no operator tells.
void set_quantization(Emitter& emitter, const Graph& graph) {
  for (const Value* v : graph.inputs()) {
    std::istringstream text{std::string(note_of(v->metadata, kQuantization))};
    Quantization q;
    q.scale.resize(1);
    q.zero_point.resize(1);
    const bool is_byte = v->type.elem == DType::i8 || v->type.elem == DType::u8 || v->type.elem == DType::i16;
    if (v->initializer || !is_byte || !(text >> q.scale[0] >> q.zero_point[0])) continue;
    if (!(q.scale[0] > 0) || !std::isfinite(q.scale[0])) continue;
    const std::int32_t x = emitter.tensor(v);
    if (!emitter.subgraph().tensors[static_cast<std::size_t>(x)].quantization) emitter.quantize(x, std::move(q));
  }
}

void add_signature(fmt_tflite::Model& model, const Graph& graph) {
  if (model.subgraphs[0].inputs.empty()) return;  // runtimes refuse a signature without inputs
  fmt_tflite::SignatureDef signature;
  signature.signature_key = "serving_default";
  const fmt_tflite::SubGraph& main = model.subgraphs[0];
  std::size_t at = 0;
  for (const Value* v : graph.inputs())
    if (!v->initializer) signature.inputs.push_back({v->name(), static_cast<std::uint32_t>(main.inputs[at++])});
  std::set<std::string> names;  // one value may be an output twice; runtimes tell outputs apart by their names
  for (std::size_t i = 0; i < graph.output_count(); ++i) {
    std::string name = graph.output(i)->name();
    while (!names.insert(name).second) name += "_again";
    signature.outputs.push_back({std::move(name), static_cast<std::uint32_t>(main.outputs[i])});
  }
  model.signature_defs.push_back(std::move(signature));
}

std::string_view moved(std::optional<passes::Layout> layout) {
  return layout == passes::Layout::channels_last ? fmt_tflite::kChannelsLastNote : "as in the source";
}

void add_metadata(Output& output, const Model& source, const ExportOptions& options) {
  std::string text = "format: onnx\n";
  if (!source.producer_name.empty()) text += "producer: " + source.producer_name + " " + source.producer_version + "\n";
  if (!source.graph->name.empty()) text += "graph: " + source.graph->name + "\n";
  text += fmt::format("inputs_as: {}\noutputs_as: {}\n", moved(options.inputs_as), moved(options.outputs_as));
  output.model.buffers.push_back(Bytes::own(std::move(text)));
  output.model.metadata.push_back(
      {std::string(fmt_tflite::kSourceNote), static_cast<std::uint32_t>(output.model.buffers.size() - 1)});
}

/// The model in TFLite's vocabulary, as far as there is one.
struct Expressed {
  Expressed(const Model& source, const ExportOptions& options) : model(source.clone()), target(target_for(options)) {
    target.keeps_call = called_operators(model, options);
    target.prepare = [this](Graph& graph, std::vector<std::string>& notes) {
      take_own_states(graph);
      states = take_states(graph, notes);
    };
    target.keeps_layout = [this](const Value& v) {
      return std::ranges::any_of(states, [&](const State& s) { return s.input == v.name() || s.output == v.name(); });
    };
    report = passes::legalize::to_target(model, target, options);
  }
  Expressed(const Expressed&) = delete;
  Expressed& operator=(const Expressed&) = delete;

  Model model;
  passes::legalize::Target target;
  std::vector<State> states;
  passes::legalize::Report report;
};

}  // namespace

std::vector<Obstacle> find_obstacles(const Model& source, const ExportOptions& options) {
  return Expressed(source, options).report.obstacles;
}

Exported to_tflite(const Model& source, const ExportOptions& options) {
  Expressed expressed(source, options);
  passes::legalize::require_none(expressed.report.obstacles, expressed.target);
  Exported result;
  result.notes = std::move(expressed.report.notes);
  Graph& graph = *expressed.model.graph;
  // Emitters rely on sizes and attributes that fit each other, which inference looks at.
  ops::InferSession session;
  ops::infer_graph(graph, session);
  result.layout = passes::legalize::lay_out(graph, expressed.target, options, result.notes);

  Output output;
  output.float16_weights = options.float16_weights;
  output.model.buffers.emplace_back();
  output.model.description = "written by Ingot from ONNX";
  Emitter main(output, graph);
  main.emit();
  set_quantization(main, graph);
  simplify(output);
  fuse_activations(output);
  prefer_signed(output);
  fuse_quantized(output);
  split_wide_dequantize(output);
  simplify(output);  // operators that were apart by a DEQUANTIZE are neighbours now
  spread_quantization(output);
  settle_outputs(output);
  add_signature(output.model, graph);
  keep_states(output, expressed.states);
  add_metadata(output, source, options);
  result.notes.insert(result.notes.end(), output.notes.begin(), output.notes.end());
  if (output.rounded_products)
    result.notes.push_back(fmt::format("{} products round their activations to 8 bits, as in the model they come from",
                                       output.rounded_products));
  check_types(output.model);
  result.model = std::move(output.model);
  return result;
}

std::vector<OperatorSupport> supported_operators() {
  const passes::legalize::Target target = target_for({});
  std::vector<OperatorSupport> list;
  for (const ops::OpDef* def : ops::all()) {
    OperatorSupport line;
    line.op = std::string(def->name);
    line.domain = std::string(def->domain);
    line.is_native = line.domain.empty() && std::ranges::find(all_rows(), def->name, &Row::op) != all_rows().end();
    line.decomposes = def->decompose || passes::legalize::has_rewrite(target, def->name, def->domain);
    list.push_back(std::move(line));
  }
  return list;
}

}  // namespace ingot::backends::tflite
