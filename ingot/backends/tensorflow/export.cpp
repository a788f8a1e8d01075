// ONNX -> TensorFlow: rewriting, layouts, operators, signature.
#include "ingot/backends/tensorflow/export.h"

#include <algorithm>

#include "ingot/backends/tensorflow/operators.h"
#include "ingot/backends/tensorflow/sequences.h"
#include "ingot/backends/tensorflow/target.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {
namespace {

/// The version of graphs that TensorFlow 2.7 writes, whose operators are meant.
constexpr std::int64_t kProducer = 898;

tf::TensorInfo info_of(const std::string& node, const Type& type) {
  tf::TensorInfo info;
  info.name = node + ":0";
  info.dtype = word_for(type);
  info.shape = shape_word(type.shape);
  return info;
}

/// What goes into the graph and comes out of it, by the model's own names.
class Borders {
 public:
  Borders(Emitter& e, tf::Signature& signature) : e_(e), signature_(signature) {}

  void add_input(const Value* v) {
    e_.bind(v, v->type.is_tensor() ? fed(v->name(), v->type)
                                   : list_of_parts(e_, v->type, [&](const char* part, const Type& type) {
                                       return fed(v->name() + part, type);
                                     }));
  }

  void add_output(const Value* v) {
    if (v->type.is_tensor()) return give(v->name(), e_.ref(v), v->type);
    for (const ListPart& part : parts_of_list(e_, v->type, e_.ref(v)))
      give(v->name() + part.name, part.tensor, part.type);
  }

  Refs results;

 private:
  Ref fed(const std::string& name, const Type& type) {
    const std::string node = e_.output().unique(name);
    signature_.inputs.emplace_back(name, info_of(node, type));
    return e_.placeholder(type, node);
  }
  void give(const std::string& name, Ref tensor, const Type& type) {
    // What is listed twice is one value, and signatures are by name.
    if (std::ranges::any_of(signature_.outputs, [&](const auto& known) { return known.first == name; })) return;
    results.push_back(e_.named(tensor, node_name(name)));
    signature_.outputs.emplace_back(name, info_of(e_.name_of(results.back()), type));
  }

  Emitter& e_;
  tf::Signature& signature_;
};

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
  Borders borders(main, result.signature);
  for (const Value* v : graph.inputs())
    if (!v->initializer) borders.add_input(v);
  main.emit_nodes(graph);
  for (const Value* v : graph.outputs()) borders.add_output(v);
  if (options.outputs_are_ends)
    for (Ref& r : borders.results) r = main.unread(r);
  output.graph.nodes = main.graph_nodes(borders.results);
  result.notes.insert(result.notes.end(), output.notes.begin(), output.notes.end());
  result.tables = std::move(output.tables);
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
