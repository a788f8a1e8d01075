// Gradients for inference: forces from energies, saliency, guidance.
#include "ingot/train/gradient_model.h"

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/train/autodiff.h"

namespace ingot::train {

Model gradient_model(const Model& model, const GradientModelOptions& options) {
  Model made = model.clone();
  made.training.clear();
  passes::canonicalize(made);
  passes::inline_functions(made);
  Graph& graph = *made.graph;
  const auto find = [&](const std::string& name) {
    Value* v = graph.find(name);
    if (!v) throw Error(Code::unknown_name, "the model has no value '" + name + "'");
    if (!is_float(v->type.elem))
      throw Error(Code::not_differentiable,
                  "'" + name + "' is " + v->type.str() + ": only real numbers have gradients");
    return v;
  };
  if (options.of.empty() && graph.output_count() == 0) throw Error(Code::bad_usage, "the model has no outputs");
  Value* of = find(options.of.empty() ? graph.output(0)->name() : options.of);
  const std::string of_name = of->name();
  std::vector<std::string> names = options.wrt;
  if (names.empty())
    for (const Value* v : graph.inputs())
      if (!v->initializer && is_float(v->type.elem)) names.push_back(v->name());
  Values wrt;
  for (const std::string& name : names) wrt.push_back(find(name));
  const Values gradients = differentiate(of, wrt);
  if (!options.keeps_forward) graph.resize_outputs(0);
  GraphBuilder g(graph);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Value* out = g.op("Identity", {gradients[i]});
    graph.rename(out, graph.fresh_name("d" + of_name + "/d" + names[i]));
    out->producer()->name = out->name();
    graph.add_output(out);
  }
  return made;
}

}  // namespace ingot::train
