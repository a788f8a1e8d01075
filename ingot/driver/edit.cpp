// Work on graphs that stay ONNX.
#include "ingot/driver/edit.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/driver/import_layout.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/versions.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/extract.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/passes/fuse/fuse.h"
#include "ingot/passes/rename.h"

namespace ingot::driver {
namespace {

void rename_dims(Model& model, const Renames& dims) {
  if (dims.empty()) return;
  std::unordered_set<std::string> met;
  const auto lookup = [&](std::string_view name) -> std::optional<Dim> {
    for (const auto& [from, to] : dims)
      if (from == name) {
        met.insert(from);
        const bool is_number = std::ranges::all_of(to, [](char c) { return c >= '0' && c <= '9'; });
        return is_number && !to.empty() && to.size() < 18 ? Dim(std::stoll(to)) : Dim::symbol(to);
      }
    return std::nullopt;
  };
  for (const GraphPlace& place : all_graphs(model)) {
    const auto change = [&](Value* v) {
      if (v) v->type = ops::substitute(v->type, lookup);
    };
    for (Value* v : place.graph->inputs()) change(v);
    for (Value* v : place.graph->initializers()) change(v);
    for (Node& node : place.graph->nodes())
      for (Value* v : node.outputs()) change(v);
  }
  for (const auto& [from, to] : dims)
    if (!met.contains(from)) throw Error(Code::unknown_name, "no dimension of the model is called '" + from + "'");
}

void add_prefix(Model& model, const std::string& prefix) {
  if (prefix.empty()) return;
  std::unordered_set<const Value*> ports;
  for (const Value* v : model.graph->inputs()) ports.insert(v);
  for (const Value* v : model.graph->outputs()) ports.insert(v);
  Renames renames;
  const auto add = [&](const Value* v) {
    if (v && !ports.contains(v)) renames.emplace_back(v->name(), prefix + v->name());
  };
  for (const Value* v : model.graph->initializers()) add(v);
  for (const Node& node : model.graph->nodes())
    for (const Value* v : node.outputs()) add(v);
  passes::rename_values(model, renames);
  for (Node& node : model.graph->nodes())
    if (!node.name.empty()) node.name = prefix + node.name;
}

}  // namespace

OptimizeLevel parse_level(std::string_view word) {
  if (word == "basic") return OptimizeLevel::basic;
  if (word == "extended") return OptimizeLevel::extended;
  if (word == "all") return OptimizeLevel::all;
  throw Error(Code::bad_usage, "'" + std::string(word) + "' is not a level").hint("basic, extended or all");
}

void extract(Model& model, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  passes::extract(model, inputs, outputs);
}

std::vector<Part> split(const Model& model, const SplitOptions& options) {
  Model whole = model.clone();
  passes::take_defaults_for_constants(whole);
  return passes::split(whole, options);
}

HalfReport to_half(Model& model, const HalfOptions& options) { return passes::to_half(model, options); }

void rename(Model& model, const RenameOptions& options) {
  if (!options.values.empty()) {
    passes::rename_values(model, options.values);
    rename_layouts(model, options.values);
  }
  rename_dims(model, options.dims);
  add_prefix(model, options.prefix);
}

OpsetImports all_opsets(const Model& model) {
  OpsetImports all = model.opsets;
  for (const auto& f : model.functions)
    for (const OpsetImport& import : f->opsets)
      if (!all.version(import.domain)) all.set(import.domain, import.version);
  if (!all.version("")) all.set("", 1);
  return all;
}

void bring_to(Model& model, const OpsetImports& opsets, std::int64_t ir_version) {
  passes::convert_version(model, opsets);
  model.ir_version = ir_version;
  const passes::IrNeed need = passes::needed_ir_version(model);
  if (need.version > model.ir_version) passes::fit_ir_version(model, need.version);
}

namespace {

/// Rows are normalised by one operator since this set; ONNX Runtime's attention needs nothing newer.
constexpr std::int64_t kNormalizesRows = 17;
/// The set whose operators fusions are made from; those of the next one, Swish, have no kernel of their own there.
constexpr std::int64_t kForFusions = 23;

bool has_row_normalization(const Model& model) {
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes())
      if (node.is("LayerNormalization")) return true;
  return false;
}

/// Operators of ONNX Runtime, from ONNX's own of any set: those that are left must be in the set that is written.
void fuse(Model& model, passes::OptimizeOptions options, OptimizeReport& report) {
  for (const auto& [made, count] : passes::fuse_for_onnx_runtime(model, options.budget))
    report.rules.emplace_back("fused into " + made, count);
  options.lays_out = true;
  for (auto& [rule, count] : passes::optimize(model, options).rules) {
    const auto found = std::ranges::find(report.rules, rule, [](const auto& row) { return row.first; });
    if (found != report.rules.end())
      found->second += count;
    else
      report.rules.emplace_back(rule, count);
  }
}

}  // namespace

OptimizeReport optimize(Model& model, const OptimizeRequest& request) {
  if (!request.fuse.empty() && request.fuse != "com.microsoft")
    throw Error(Code::bad_usage, "there are no fusions for the domain '" + request.fuse + "'").hint("com.microsoft");
  OpsetImports wanted = all_opsets(model);
  if (request.opset) wanted.set("", request.opset);
  passes::take_defaults_for_constants(model);
  std::int64_t ir_version = model.ir_version;
  if (request.opset) ir_version = std::max<std::int64_t>(ir_version, ops::ir_version_for(wanted));
  passes::OptimizeOptions options;
  options.level = request.level;
  options.ignores_nan = request.ignores_nan;
  options.opset = wanted.version("");
  options.budget = request.budget;
  if (!request.fuse.empty()) {
    options.level = OptimizeLevel::all;
    options.opset = kForFusions;
    options.makes_attention = options.lays_out = false;
  }
  const Model source = model.clone();
  OptimizeReport report = passes::optimize(model, options);
  if (!request.fuse.empty()) {
    fuse(model, options, report);
    if (model.opsets.version(request.fuse)) wanted.set(request.fuse, 1);
    if (!request.opset && has_row_normalization(model) && wanted.version("") < kNormalizesRows) {
      wanted.set("", kNormalizesRows);
      ir_version = std::max<std::int64_t>(ir_version, ops::ir_version_for(wanted));
    }
  }
  bring_to(model, wanted, ir_version);
  report.nodes_after = 0;
  for (const GraphPlace& place : all_graphs(model)) report.nodes_after += place.graph->node_count();
  // An old operator set may need many nodes for what one said there.
  if (!request.opset && request.fuse.empty() && source.functions.empty() && report.nodes_after > report.nodes_before) {
    model = source.clone();
    report.rules.clear();
    report.nodes_after = report.nodes_before;
  }
  return report;
}

}  // namespace ingot::driver
