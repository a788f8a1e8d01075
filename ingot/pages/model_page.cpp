// The page of one model.
#include "ingot/pages/model_page.h"

#include <algorithm>

#include "ingot/base/byte_size.h"
#include "ingot/base/error.h"
#include "ingot/base/printable.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/costs.h"
#include "ingot/driver/summary.h"
#include "ingot/ir/model.h"
#include "ingot/pages/graph_data.h"
#include "ingot/pages/tensor_statistics.h"
#include "ingot/pages/verdict_section.h"

namespace ingot::pages {
namespace {

/// With types as far as they can be found; weights are shared.
Model with_types(const Model& model, const driver::InputShapes& shapes) {
  Model copy = model.clone();
  try {
    driver::AdjustOptions options;
    options.infer_types = true;
    options.input_shapes = shapes;
    driver::adjust(copy, options);
    return copy;
  } catch (const Error& error) {
    if (error.exit_code() == 5) throw;  // a limit is no property of the model
    return model.clone();
  }
}

/// Sizes that the model and the user leave open are 1, so that there is something to count; `open` names the inputs.
driver::InputShapes with_ones(const Model& model, driver::InputShapes shapes, std::vector<std::string>& open) {
  for (const Value* input : model.graph->inputs()) {
    const bool is_given = std::ranges::any_of(shapes, [&](const auto& s) { return s.first == input->name(); });
    if (input->initializer || is_given || !input->type.is_tensor() || !input->type.shape) continue;
    Shape shape = *input->type.shape;
    bool is_open = false;
    for (Dim& dim : shape)
      if (!dim.is_known()) {
        dim = Dim(1);
        is_open = true;
      }
    if (!is_open) continue;
    open.push_back(input->name());
    shapes.emplace_back(input->name(), std::move(shape));
  }
  return shapes;
}

driver::Costs costs_or_none(const Model& model, const driver::InputShapes& shapes) {
  try {
    return driver::costs_of(model, shapes);
  } catch (const Error& error) {
    if (error.exit_code() == 5) throw;
    return {};
  }
}

/// A line per node; those of graphs inside follow their node, a step further in.
void add_costs(const std::vector<driver::NodeCost>& nodes, int depth, Json& all) {
  for (const driver::NodeCost& c : nodes) {
    Json one{{"name", printable(c.node)},
             {"op", printable(c.op)},
             {"type", printable(c.output)},
             {"weights", c.weights},
             {"place", c.place}};
    if (c.operations) one["flops"] = *c.operations;
    if (c.activations) one["results"] = *c.activations;
    if (depth > 0) one["depth"] = depth;
    all.push_back(std::move(one));
    add_costs(c.bodies, depth + 1, all);
  }
}

Json weight_data(const std::string& name, const Tensor& tensor, bool has_statistics) {
  Json one{{"name", printable(name)}, {"type", tensor.type().str()}, {"bytes", tensor.bytes().size()}};
  if (!has_statistics) return one;
  if (const auto s = statistics_of(tensor))
    one.update({{"least", s->least},
                {"most", s->most},
                {"mean", s->mean},
                {"deviation", s->deviation},
                {"zeros", s->zeros},
                {"not_finite", s->not_finite},
                {"histogram", s->histogram}});
  return one;
}

/// Of all graphs, and what Constant nodes hold that is more than a few numbers.
Json weights_data(const Model& model, bool has_statistics) {
  constexpr std::uint64_t kFewBytes = 256;
  Json all = Json::array();
  for (const GraphPlace& place : all_graphs(model)) {
    for (const Value* v : place.graph->initializers())
      if (v->initializer) all.push_back(weight_data(v->name(), *v->initializer, has_statistics));
    for (const Node& node : place.graph->nodes()) {
      const Tensor* tensor = node.is("Constant") ? node.attributes.get<Tensor>("value") : nullptr;
      if (tensor && node.output() && tensor->bytes().size() > kFewBytes)
        all.push_back(weight_data(node.output()->name(), *tensor, has_statistics));
    }
  }
  return all;
}

std::string ports(const std::vector<driver::Summary::Port>& list, const char* title) {
  std::string text = std::string("<h2>") + title + "</h2>\n<table>\n" + row({"name", "type"}, "th");
  for (const auto& port : list) text += row({code(port.name), code(port.type)});
  return text + "</table>\n";
}

std::string costs_rows(const driver::Costs& costs) {
  const char* least = costs.unknown ? "at least " : "";
  std::string text;
  if (costs.operations > 0)
    text += row({"operations", least + grouped(static_cast<std::uint64_t>(std::min(costs.operations, 1e18)))});
  if (costs.peak)
    text += row({"most bytes alive at once", least + human_bytes(costs.peak) + " at " + code(costs.peak_node)});
  return text;
}

/// What the file itself holds, where that is not ONNX.
std::string contents_html(const driver::FileContents& contents, const std::string& format) {
  const auto joined = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + code(name);
    return text;
  };
  std::string text;
  if (!contents.signatures.empty()) text += "<h2>Signatures</h2>\n<table>\n" + row({"name", "inputs", "outputs"}, "th");
  for (const auto& s : contents.signatures) text += row({code(s.name), joined(s.inputs), joined(s.outputs)});
  if (!contents.signatures.empty()) text += "</table>\n";
  if (contents.signatures.size() > 1)
    text += "<p class=hint>One of them is shown; <code>--signature</code> says which.</p>\n";
  if (contents.operators.empty()) return text;
  text += "<h2>Operators of the " + escaped(format) + " file</h2>\n<table>\n" + row({"operator", "times"}, "th");
  for (const auto& [op, count] : contents.operators) text += row({code(op), grouped(count)});
  return text + "</table>\n";
}

std::string facts_html(const Model& model, const driver::Costs& costs, const ModelPageOptions& options) {
  const driver::Summary s = driver::summarise(model);
  std::string text = "<table>\n";
  if (!options.format.empty()) text += row({"format", escaped(options.format)});
  text += row({"producer", escaped(s.producer)}) + row({"graph", code(s.graph_name)});
  text += row({"nodes", grouped(s.nodes)}) +
          row({"parameters", grouped(s.parameter_elements) + " in " + human_bytes(s.parameter_bytes)});
  text += costs_rows(costs);
  for (const auto& [domain, version] : s.opsets)
    text += row({"operator set", code(domain) + " " + std::to_string(version)});
  text += row({"IR version", std::to_string(s.ir_version)}) + "</table>\n";
  if (!model.doc_string.empty()) text += "<p class=said>" + escaped(model.doc_string.substr(0, 4000)) + "</p>\n";
  text += ports(s.inputs, "Inputs") + ports(s.outputs, "Outputs");
  if (!options.notes.empty()) text += "<h2>Notes</h2>\n" + list(options.notes);
  text += "<h2>Operators</h2>\n<table>\n" + row({"operator", "nodes"}, "th");
  for (const auto& [op, count] : s.operators) text += row({code(op), grouped(count)});
  text += "</table>\n";
  if (options.contents) text += contents_html(*options.contents, options.format);
  if (!s.metadata.empty()) text += "<h2>Metadata</h2>\n<table>\n" + row({"key", "value"}, "th");
  for (const auto& [key, value] : s.metadata) text += row({code(key), escaped(value.substr(0, 1000))});
  return s.metadata.empty() ? text : text + "</table>\n";
}

std::string taken_as_one(const std::vector<std::string>& inputs) {
  constexpr std::size_t kMostNames = 6;
  if (inputs.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < inputs.size() && i < kMostNames; ++i) names += (i ? ", " : "") + code(inputs[i]);
  if (inputs.size() > kMostNames) names += " and " + grouped(inputs.size() - kMostNames) + " other inputs";
  return "<p class=hint>Counted with 1 for each size that is open in " + names +
         "; <code>--input-shape</code> says others.</p>\n";
}

constexpr const char* kCosts =
    "<table id=costs><thead><tr><th>node</th><th>operator</th><th>result</th><th>operations</th>"
    "<th>weights</th><th>results</th><th></th></tr></thead><tbody></tbody></table>\n";
constexpr const char* kWeights =
    "<table id=weights><thead><tr><th>name</th><th>type</th><th>bytes</th><th>least</th><th>most</th>"
    "<th>mean</th><th>deviation</th><th>zeros</th><th></th></tr></thead><tbody></tbody></table>\n";

}  // namespace

Page model_page(const Model& model, const ModelPageOptions& options) {
  const Model typed = with_types(model, options.input_shapes);
  std::vector<std::string> open;
  const driver::Costs costs = costs_or_none(typed, with_ones(typed, options.input_shapes, open));
  GraphNotes notes;
  notes.costs = &costs;
  Page page{options.title, {}};
  page.sections.push_back({"graph", "Graph", graph_html(), true});
  page.sections.push_back({"layers", "Layers", taken_as_one(open) + kCosts});
  page.sections.push_back({"tensors", "Weights", kWeights});
  if (options.verification.contains("answer"))
    page.sections.push_back({"verification", "Verification", verdict_html(options.verification)});
  if (!options.curves_svg.empty())
    page.sections.push_back({"training", "Training", "<div class=curve>" + options.curves_svg + "</div>\n"});
  page.sections.push_back({"facts", "Facts", facts_html(typed, costs, options)});
  page.data["graphs"] = Json::array();
  page.data["graphs"].push_back(graph_data(typed, notes));
  page.data["costs"] = Json::array();
  add_costs(costs.nodes, 0, page.data["costs"]);
  page.data["weights"] = weights_data(typed, options.has_statistics);
  return page;
}

}  // namespace ingot::pages
