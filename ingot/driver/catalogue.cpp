// The catalogue of operators as lists for people and programs.
#include "ingot/driver/catalogue.h"

#include <map>

#include "ingot/base/error.h"
#include "ingot/driver/plugin.h"
#include "ingot/driver/run.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/versions.h"

namespace ingot::driver {
namespace {

std::string spelt_out(std::string_view domain) {
  const std::string_view d = normal_domain(domain);
  return d.empty() ? "ai.onnx" : std::string(d);
}

OperatorLine line_of(const ops::OpDef& def) {
  OperatorLine line;
  line.domain = spelt_out(def.domain);
  line.name = def.name;
  for (const ops::Schema& v : ops::versions_of(def.domain, def.name)) {
    line.versions.push_back(v.since);
    line.is_deprecated = v.deprecated;
  }
  line.infers = def.infer != nullptr;
  line.runs = def.kernel != nullptr;
  line.has_gradient = def.gradient != nullptr;
  line.decomposes = def.decompose != nullptr;
  for (const ops::Step& step : def.steps) {
    if (step.up) line.steps_up.push_back(step.since);
    if (step.down) line.steps_down.push_back(step.since);
  }
  return line;
}

}  // namespace

std::vector<OperatorLine> catalogue() {
  std::vector<OperatorLine> lines;
  for (const ops::OpDef* def : ops::all()) lines.push_back(line_of(*def));
  return lines;
}

std::string vendor_domains() {
  std::string text, last;
  for (const ops::Schema& s : ops::vendor_schemas()) {
    if (s.domain == last || s.domain.empty()) continue;
    last = s.domain;
    text += (text.empty() ? "" : ", ") + last;
  }
  return text;
}

std::vector<VendorLine> vendor_catalogue(const std::string& domain) {
  std::vector<VendorLine> lines;
  for (const ops::Schema& s : ops::vendor_schemas()) {
    if (spelt_out(s.domain) != spelt_out(domain)) continue;
    VendorLine line;
    if (const ops::OpDef* def = ops::find(s.domain, s.name)) {
      line.line = line_of(*def);
    } else {
      line.line.domain = spelt_out(s.domain);
      line.line.name = s.name;
      line.line.versions = {s.since};
    }
    if (!line.line.decomposes) line.why = ops::why_undefined(s.domain, s.name);
    if (line.why.empty() && !line.line.decomposes && !line.line.runs) line.why = "no definition here";
    lines.push_back(std::move(line));
  }
  for (const PluginOperator& op : plugin_operators()) {
    if (spelt_out(op.domain) != spelt_out(domain)) continue;
    VendorLine& line = lines.emplace_back();
    line.line.domain = spelt_out(op.domain);
    line.line.name = op.name;
    line.line.versions = {1};
    line.line.infers = true;
    line.line.runs = op.has_kernel;
    line.line.decomposes = op.has_body;
    if (!op.has_body) line.why = "the plug-in gives it no body";
  }
  if (lines.empty())
    throw Error(Code::bad_usage, "no operators of the domain '" + domain + "' are listed").hint(vendor_domains());
  return lines;
}

std::vector<UsedOperator> operators_of(const Model& model) {
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes()) ++counts[{spelt_out(node.domain), node.op}];
  std::vector<UsedOperator> used;
  for (const auto& [key, count] : counts) {
    UsedOperator op;
    op.count = count;
    if (const ops::OpDef* def = ops::find(key.first, key.second)) {
      op.line = line_of(*def);
      op.is_known = true;
    } else {
      op.line.domain = key.first;
      op.line.name = key.second;
      op.is_function = model.find_function(key.first, key.second) != nullptr;
    }
    used.push_back(std::move(op));
  }
  return used;
}

std::vector<TargetLine> targets() {
  std::vector<TargetLine> lines;
  for (const ops::Target& t : ops::all_targets())
    lines.push_back({std::string(t.name), t.opset, t.ml_opset, t.ir_version});
  return lines;
}

std::vector<std::string> translated_operators(const Format& from) {
  if (has_translations(from)) return from.operators->translated();
  throw Error(Code::bad_usage, "the operators of " + std::string(from.title) + " files are not translated")
      .hint("formats whose operators are: " + format_names(has_translations));
}

std::vector<ExportLine> exported_operators(const Format& to) {
  if (has_exports(to)) return to.operators->exported();
  throw Error(Code::bad_usage, "ONNX's operators are not translated into those of " + std::string(to.title) + " files")
      .hint("formats with operators of their own that can be written: " + format_names(has_exports));
}

std::vector<ExportObstacle> export_obstacles(const Model& model, const Format& to, const SaveOptions& options) {
  const std::optional<Model> form = runnable_form(model);
  return to.operators && to.operators->obstacles ? to.operators->obstacles(form ? *form : model, options)
                                                 : std::vector<ExportObstacle>();
}

}  // namespace ingot::driver
