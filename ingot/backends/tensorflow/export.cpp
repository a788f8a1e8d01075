// ONNX -> TensorFlow: rewriting, layouts, operators, signature.
#include "ingot/backends/tensorflow/export.h"

#include <algorithm>

#include "ingot/backends/tensorflow/operators.h"
#include "ingot/backends/tensorflow/target.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {
namespace {

/// The version of graphs that TensorFlow 2.7 writes, whose operators are meant.
constexpr std::int64_t kProducer = 898;

tf::TensorInfo info_of(const std::string& node, const Value* v) {
  tf::TensorInfo info;
  info.name = node + ":0";
  info.dtype = word_for(v->type);
  info.shape = shape_word(v->type.shape);
  return info;
}

}  // namespace

std::vector<Obstacle> find_obstacles(const Model& source, const ExportOptions& options) {
  Model model = source.clone();
  return passes::legalize::to_target(model, target_for(options), options).obstacles;
}

Exported to_tensorflow(const Model& source, const ExportOptions& options) {
  Model model = source.clone();
  const passes::legalize::Target target = target_for(options);
  passes::legalize::Report report = passes::legalize::to_target(model, target, options);
  passes::legalize::require_none(report.obstacles, target);
  Exported result;
  result.notes = std::move(report.notes);
  Graph& graph = *model.graph;
  // Emitters rely on sizes and attributes that fit each other, which inference looks at.
  ops::InferSession session;
  ops::infer_graph(graph, session);
  result.layout = passes::legalize::lay_out(graph, target, options, result.notes);

  Output output;
  output.dialect = options.dialect;
  output.graph.producer = kProducer;
  output.names.insert(options.taken.begin(), options.taken.end());
  Emitter main(output);
  for (const Value* v : graph.inputs()) {
    if (v->initializer) continue;
    const std::string name = output.unique(v->name());
    main.bind(v, main.placeholder(*v, name));
    result.signature.inputs.emplace_back(v->name(), info_of(name, v));
  }
  main.emit_nodes(graph);
  Refs results;
  for (const Value* v : graph.outputs()) {
    const Ref made = main.named(main.ref(v), node_name(v->name()));
    results.push_back(made);
    result.signature.outputs.emplace_back(v->name(), info_of(main.name_of(made), v));
  }
  output.graph.nodes = main.graph_nodes(results);
  result.notes.insert(result.notes.end(), output.notes.begin(), output.notes.end());
  result.signature.key = "serving_default";
  result.signature.method = "tensorflow/serving/predict";
  result.graph = std::move(output.graph);
  return result;
}

std::vector<OperatorSupport> supported_operators(Dialect dialect) {
  ExportOptions options;
  options.dialect = dialect;
  const passes::legalize::Target target = target_for(options);
  std::vector<OperatorSupport> list;
  for (const ops::OpDef* def : ops::all()) {
    OperatorSupport line;
    line.op = std::string(def->name);
    line.domain = std::string(def->domain);
    const auto row = std::ranges::find(all_rows(), def->name, &Row::op);
    line.is_native =
        line.domain.empty() && row != all_rows().end() && (dialect == Dialect::tensorflow || row->is_in_tfjs);
    line.decomposes = def->decompose || passes::legalize::has_rewrite(target, def->name, def->domain);
    list.push_back(std::move(line));
  }
  return list;
}

}  // namespace ingot::backends::tensorflow
