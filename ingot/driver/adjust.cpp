// A model changed as the user asks: shapes, names, operator sets, IR version.
#include "ingot/driver/adjust.h"

#include <algorithm>
#include <map>

#include "ingot/base/error.h"
#include "ingot/driver/batch.h"
#include "ingot/driver/import_layout.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/versions.h"
#include "ingot/passes/cast_types.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/rename.h"
#include "ingot/passes/standardize.h"

namespace ingot::driver {
namespace {

/// What operators of others are said in, where a model's own operator set is too old for them.
constexpr std::int64_t kStandardOpset = 23;

Value* find_input(const Model& model, const std::string& name) {
  std::string known;
  for (Value* v : model.graph->inputs()) {
    if (v->name() == name) return v;
    known += (known.empty() ? "" : ", ") + v->name();
  }
  throw Error(Code::unknown_name, "the model has no input '" + name + "'").hint("its inputs are: " + known);
}

void set_input_shape(const Model& model, const std::string& name, const Shape& shape) {
  Value* input = find_input(model, name);
  if (input->type.kind != Type::Kind::tensor && input->type)
    throw Error(Code::bad_usage, "input '" + name + "' is " + input->type.str() + ": only tensors have a shape");
  Shape wanted = shape;
  if (const auto& old = input->type.shape) {
    if (old->size() != wanted.size())
      throw Error(Code::bad_usage, "input '" + name + "' is " + input->type.str() + ": its rank is not " +
                                       std::to_string(wanted.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].is_unknown()) wanted[i] = (*old)[i];
      if (!may_equal(wanted[i], (*old)[i]))
        throw Error(Code::bad_usage, "input '" + name + "' is " + input->type.str() + " in the source: dimension " +
                                         std::to_string(i) + " cannot be " + wanted[i].str())
            .hint(i == 0 ? "'convert --batch' changes the first dimension of a model that fixes it"
                         : "shapes are in the source's layout; 'convert --inputs-as' changes it afterwards");
    }
  }
  input->type.shape = std::move(wanted);
}

/// Which sizes the names of dimensions got; a name that got two says nothing.
void note_sizes(const Shape& before, const Shape& after, std::map<std::string, Dim>& sizes) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!before[i].is_symbolic() || !after[i].is_known()) continue;
    const auto [size, is_new] = sizes.try_emplace(before[i].str(), after[i]);
    if (!is_new && size->second != after[i]) size->second = before[i];
  }
}

/// The versions of all standard domains that belong together.
OpsetImports imports_of(const ops::Target& target) {
  OpsetImports imports;
  imports.set("", target.opset);
  imports.set("ai.onnx.ml", target.ml_opset);
  if (target.training_opset) {
    imports.set("ai.onnx.training", target.training_opset);
    imports.set("ai.onnx.preview.training", target.training_opset);
  }
  return imports;
}

OpsetImports imports_of_opset(std::int64_t opset) {
  for (const ops::Target& t : ops::all_targets())
    if (t.name.starts_with("onnx-") && t.opset >= opset) {
      OpsetImports imports = imports_of(t);
      imports.set("", opset);
      return imports;
    }
  OpsetImports newest;
  newest.set("", opset);
  return newest;
}

/// Only domains that the model uses are moved.
OpsetImports used(const OpsetImports& targets, const Model& model) {
  OpsetImports kept;
  for (const OpsetImport& t : targets) {
    bool is_used = model.opsets.version(t.domain) != 0;
    for (const auto& f : model.functions) is_used |= f->opsets.version(t.domain) != 0;
    if (is_used || normal_domain(t.domain).empty()) kept.push_back(t);
  }
  return kept;
}

/// Casts where the operators of the target lack a type; for that, everything is brought to its newest version first.
void cast_for(Model& model, std::int64_t opset, AutoCast rule, AdjustReport& report) {
  if (rule == AutoCast::none) return;
  passes::canonicalize(model);
  for (std::string& line : passes::cast_types(*model.graph, opset, rule)) report.notes.push_back(std::move(line));
}

void move_versions(Model& model, const OpsetImports& targets, std::optional<std::int64_t> ir_version,
                   AdjustReport& report) {
  const std::size_t functions = model.functions.size();
  passes::VersionReport versions = passes::convert_version(model, used(targets, model));
  if (functions && model.functions.empty())
    report.notes.push_back(std::to_string(functions) + (functions == 1 ? " function is" : " functions are") +
                           " inlined: a body has operators that are others in this operator set");
  report.nodes_changed += versions.nodes_changed;
  report.nodes_added += versions.nodes_added;
  for (std::string& line : versions.casts) report.notes.push_back(std::move(line));
  const std::int64_t table = ops::ir_version_for(model.opsets);
  // IR 3 has every initializer as an input; that form is written only for programs that want it.
  std::int64_t ir = ir_version.value_or(std::max<std::int64_t>(4, table));
  if (!ir_version) {
    const passes::IrNeed need = passes::needed_ir_version(model);
    const bool can_do_without = need.version <= 10 && (ir < 8 || ir < 10);
    if (need.version > ir && !can_do_without) {
      report.notes.push_back("IR version " + std::to_string(need.version) + " instead of " + std::to_string(ir) + ": " +
                             need.why + " needs it");
      ir = need.version;
    }
  }
  for (std::string& note : passes::fit_ir_version(model, ir)) report.notes.push_back(std::move(note));
}

/// In ONNX's own operators, of the version that the model had; what older ones cannot say takes a newer one.
void say_in_standard(Model& model, bool keeps_versions, AdjustReport& report) {
  const std::int64_t opset = model.opsets.version("");
  for (const auto& [op, count] : passes::standardize(model).replaced) {
    report.notes.push_back(std::to_string(count) + " x " + op + " in ONNX's own operators");
    report.nodes_changed += count;
  }
  if (!keeps_versions) return;
  Model older = model.clone();
  const std::int64_t wanted = std::max<std::int64_t>(opset, 7);
  try {
    move_versions(older, imports_of_opset(wanted), std::nullopt, report);
    model = std::move(older);
  } catch (const Error& error) {
    if (error.code() != Code::cannot_downgrade || wanted >= kStandardOpset) throw;
    move_versions(model, imports_of_opset(kStandardOpset), std::nullopt, report);
    report.notes.push_back("opset " + std::to_string(kStandardOpset) + " instead of " + std::to_string(opset) +
                           ", which cannot say it");
  }
}

}  // namespace

void set_input_shapes(Model& model, const InputShapes& shapes) {
  std::map<std::string, Dim> sizes;  // of dimensions that other inputs may name too
  for (const auto& [name, shape] : shapes) {
    const std::optional<Shape> before = find_input(model, name)->type.shape;
    set_input_shape(model, name, shape);
    if (before) note_sizes(*before, *find_input(model, name)->type.shape, sizes);
  }
  for (Value* v : model.graph->inputs()) {
    const bool is_given = std::ranges::find(shapes, v->name(), &InputShapes::value_type::first) != shapes.end();
    if (is_given || sizes.empty() || !v->type.is_tensor() || !v->type.shape) continue;
    for (Dim& d : *v->type.shape)
      if (const auto size = sizes.find(d.str()); d.is_symbolic() && size != sizes.end()) d = size->second;
  }
}

void refuse_two_targets(const AdjustOptions& options) {
  if (options.opset && !options.target.empty())
    throw Error(Code::bad_usage, "--opset and --for exclude each other").hint("--for names the operator sets too");
}

AdjustReport adjust(Model& model, const AdjustOptions& options) {
  refuse_two_targets(options);
  AdjustReport report;
  set_input_shapes(model, options.input_shapes);
  if (options.batch) report.notes = change_batch(model, *options.batch, options.budget);
  if (options.standard) say_in_standard(model, options.target.empty() && !options.opset, report);
  if (!options.target.empty()) {
    const ops::Target& target = ops::target_by_name(options.target);
    cast_for(model, target.opset, options.auto_cast, report);
    move_versions(model, imports_of(target), target.ir_version, report);
  } else if (options.opset) {
    cast_for(model, *options.opset, options.auto_cast, report);
    move_versions(model, imports_of_opset(*options.opset), std::nullopt, report);
  }
  if (options.half) {
    passes::take_defaults_for_constants(model);
    report.half = passes::to_half(model, *options.half);
  }
  if (!options.renames.empty()) {
    passes::rename_values(model, options.renames);
    rename_layouts(model, options.renames);
  }
  if (options.infer_types) {
    passes::InferOptions infer_options;
    infer_options.keep_declared = true;
    passes::infer(model, infer_options);
    for (const GraphPlace& place : all_graphs(model))
      for (Node& node : place.graph->nodes())
        for (Value* v : node.outputs())
          if (v && v->type) v->is_declared = true;
  }
  return report;
}

}  // namespace ingot::driver
