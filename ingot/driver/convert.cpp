// From one file to another: all that decides what becomes of a model on the way.
#include "ingot/driver/convert.h"

#include <chrono>

#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/calibrate.h"
#include "ingot/driver/check.h"
#include "ingot/driver/inputs.h"
#include "ingot/driver/operator_map.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/train/preparation.h"

namespace ingot::driver {
namespace {

/// What the runtimes of the last years read.
constexpr std::int64_t kUsualOpset = 21;

double seconds_since(std::chrono::steady_clock::time_point& start) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - start).count();
  start = now;
  return seconds;
}

/// The request in parts for those who do the work.
struct Plan {
  LoadOptions load;
  AdjustOptions adjust;
  SaveOptions save;
};

/// Leaves to each end what it takes, and what both take to one of them.
void divide(ImportOptions& import, SaveOptions& save, const Format& from, const Format& to) {
  if (!from.import_options.has(Option::allow_custom)) import.allow_custom.clear();
  if (!to.export_options.has(Option::allow_custom)) save.allow_custom.clear();
  // The operator sets that the model moves to say which types are lacking.
  if (to.is_onnx) save.auto_cast.reset();
  // A backend that decides how its inputs and outputs lie does so best for a model that is ONNX already.
  const auto is_for_source = [&](Option option) {
    return from.import_options.has(option) && !(from.is_onnx && to.export_options.has(option));
  };
  (is_for_source(Option::inputs_as) ? save.layout.inputs_as : import.layout.inputs_as).reset();
  (is_for_source(Option::outputs_as) ? save.layout.outputs_as : import.layout.outputs_as).reset();
}

/// Which operator sets the model gets. Another framework's file has none: its writer takes the model as it is.
AdjustOptions adjust_options(const ConvertRequest& request, const Format& from, const Format& to) {
  AdjustOptions adjust = adjust_part(request);
  adjust.input_shapes.clear();                         // the reader takes them
  if (!to.is_onnx) adjust.auto_cast = AutoCast::none;  // its writer does that
  if (to.is_onnx && !from.is_onnx && !adjust.opset && adjust.target.empty()) adjust.opset = kUsualOpset;
  return adjust;
}

/// Options that would do nothing without others.
void require_company(const ConvertRequest& request, const AdjustOptions& adjust, const Format& to) {
  refuse_two_targets(adjust);
  if (request.external_threshold && !request.external_data)
    throw Error(Code::bad_usage, "--external-threshold does nothing by itself").hint("add --external-data");
  const bool casts = request.auto_cast.value_or(AutoCast::none) != AutoCast::none;
  if (casts && to.is_onnx && !adjust.opset && adjust.target.empty())
    throw Error(Code::bad_usage, "--auto-cast does nothing: the model keeps its operator sets")
        .hint("name others with --opset or --for");
}

/// Why the source's own runtime cannot be asked about the result; empty if it can.
std::string why_not_verified(const ConvertRequest& request, const ConvertReport& done, const ImportOptions& import) {
  if (!request.verify) return "as asked for";
  if (!done.is_translated && !request.verifies_onnx) return "source and result are ONNX; 'ingot verify' compares them";
  if (request.batch && request.batch->is_known())
    return "the batch is another one; Ingot alone compared the two, example by example";
  if (request.quantize == Quantize::uint8)
    return "weights are rounded to 8 bits, as asked for: what that changes, data must tell";
  if (!request.allow_runtimes) return "other runtimes are off under --untrusted";
  if (!done.from->is_onnx && done.from->runtimes.empty())
    return "no runtime runs " + std::string(done.from->title) + " models";
  if (done.from->why_not_verified)
    if (std::string why = done.from->why_not_verified(import); !why.empty()) return why;
  if (!done.to->why_not_run.empty()) return std::string(done.to->why_not_run);
  if (!done.to->load) return std::string(done.to->title) + " files cannot be read back";
  return {};
}

/// What was asked for changes more than the form of the file.
bool changes_model(const ConvertRequest& request, const AdjustOptions& adjust) {
  return adjust.opset || !adjust.target.empty() || adjust.batch || adjust.infer_types || adjust.standard ||
         adjust.half || !adjust.renames.empty() || !request.input_shapes.empty() || !request.inputs.empty() ||
         !request.outputs.empty() || request.layout.inputs_as || request.layout.outputs_as;
}

/// What is written must be valid; an ONNX file that stays what it is was checked when it was read.
void check_result(const ConvertRequest& request, const Plan& plan, const ConvertReport& done) {
  if (!request.requires_valid) return;
  const Made made{.is_imported = !done.from->is_onnx,
                  .has_given_shapes = !request.input_shapes.empty() || request.batch.has_value()};
  if (made.is_imported || changes_model(request, plan.adjust)) require_sound(done.model, made, request.budget);
}

/// Both as they can be run: what changes the numbers, or what is asked for, is said to the source once more.
Comparison comparison_of(const ConvertRequest& request, const LoadOptions& load) {
  Comparison comparison{.source = request.input, .result = request.output, .input_shapes = request.input_shapes};
  comparison.load_source = {.from = request.from, .allow_links = load.allow_links, .budget = load.budget};
  comparison.load_result = {.from = request.to, .allow_links = load.allow_links, .budget = load.budget};
  ImportOptions& import = comparison.load_source.import;
  import.signature = load.import.signature;
  import.tag = load.import.tag;
  import.inputs = load.import.inputs;
  import.outputs = load.import.outputs;
  import.allow_custom = load.import.allow_custom;
  import.strings = load.import.strings;
  import.functions = load.import.functions;
  import.map_ops = load.import.map_ops;
  if (request.weights == WeightForm::float16 || request.quantize) comparison.rounded_to = DType::f16;  // 16 bits
  if (request.half) comparison.rounded_to = request.half->to;
  return comparison;
}

Plan plan_of(const ConvertRequest& request, const Format& from, const Format& to) {
  require_taken(given(request), &from, &to);
  Plan plan;
  plan.load = {.from = &from, .allow_links = request.allow_links, .budget = request.budget};
  plan.load.requires_valid = request.requires_valid && from.is_onnx;  // what is imported is checked as it is written
  plan.load.import = import_part(request);
  // What computes in double by itself does so in float for a target that lacks element types.
  const bool lacks_types = !to.is_onnx && to.export_options.has(Option::auto_cast);
  if (from.import_options.has(Option::precision) && lacks_types && !request.precision)
    plan.load.import.precision = Precision::float32;
  plan.save = save_part(request);
  plan.save.to = &to;
  // Whoever names an operator of the result wants it written.
  for (std::string& name : OperatorMap(request.map_ops, request.budget).names_after())
    plan.save.allow_custom.push_back(std::move(name));
  divide(plan.load.import, plan.save, from, to);
  plan.adjust = adjust_options(request, from, to);
  require_company(request, plan.adjust, to);
  return plan;
}

/// How large numbers become: what float16 cannot hold stays float. Found on inputs that are drawn.
void find_ranges(const Model& model, passes::HalfOptions& half, Budget* budget, std::vector<std::string>& notes) {
  if (half.to != DType::f16 || !half.ranges.empty()) return;
  constexpr std::uint32_t kSeeds = 2;
  try {
    Model whole = model.clone();
    passes::take_defaults_for_constants(whole);
    const auto drawn = [&](std::size_t s) { return random_inputs(whole, static_cast<std::uint32_t>(s) + 1); };
    half.ranges = largest_values(whole, {.count = kSeeds, .batch = drawn}, budget);
  } catch (const Error& error) {
    if (error.code() == Code::cancelled || error.code() == Code::time_limit) throw;
    notes.push_back("how large its values become is not known, as it does not run: " + error.message());
  }
}

/// Only ONNX files carry what a model says of its data; whoever uses another must know it.
void note_what_is_left_behind(ConvertReport& done) {
  const train::Preparation said = train::preparation_of(done.model);
  std::string what = said.changes_numbers() ? "how its inputs are prepared" : "";
  if (!said.columns.empty()) what += (what.empty() ? "" : ", ") + std::string("the order of its columns");
  if (!said.classes.empty()) what += (what.empty() ? "" : ", ") + std::string("the names of its classes");
  if (what.empty()) return;
  done.notes.push_back(std::string(done.to->title) + " has no place for what the model says of its data: " + what +
                       (said.changes_numbers() ? "; 'ingot train --with-preprocessing' puts it into the graph" : ""));
}

Source source_of(const std::string& path) try { return open_source(path); } catch (Error& error) {
  error.in_file(path);
  throw;
}

void append(std::vector<std::string>& notes, std::vector<std::string> more) {
  notes.insert(notes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

ImportOptions import_part(const ConvertRequest& request) {
  ImportOptions import;
  import.signature = request.signature;
  import.tag = request.tag;
  import.inputs = request.inputs;
  import.outputs = request.outputs;
  import.input_shapes = request.input_shapes;
  import.allow_custom = request.allow_custom;
  import.functions = request.functions;
  import.map_ops = request.map_ops;
  import.weights_from = request.weights_from;
  import.keep_state = request.keep_state;
  import.loss = request.loss;
  import.optimizer = request.optimizer;
  import.optimizer_state = request.optimizer_state;
  import.input_types = request.input_types;
  import.input_values = request.input_values;
  import.dequantize = request.dequantize;
  import.precision = request.precision;
  import.raw_scores = request.raw_scores;
  import.zipmap = request.zipmap;
  import.decision_path = request.decision_path;
  import.data = request.data;
  import.schema = request.schema;
  import.keep_functions = request.keep_functions;
  import.strings = request.strings;
  import.keep_nhwc = request.keep_nhwc;
  import.layout = request.layout;
  import.mode = request.mode;
  return import;
}

AdjustOptions adjust_part(const ConvertRequest& request) {
  AdjustOptions adjust;
  adjust.opset = request.opset;
  adjust.target = request.target;
  adjust.input_shapes = request.input_shapes;
  adjust.batch = request.batch;
  adjust.renames = request.renames;
  adjust.infer_types = request.infer_types;
  adjust.auto_cast = request.auto_cast.value_or(AutoCast::none);
  adjust.standard = request.standard;
  adjust.half = request.half;
  adjust.budget = request.budget;
  return adjust;
}

SaveOptions save_part(const ConvertRequest& request) {
  SaveOptions save;
  save.external_data = request.external_data;
  save.external_threshold = request.external_threshold;
  save.auto_cast = request.auto_cast;
  save.weights = request.weights;
  save.native_lstm = request.native_lstm;
  save.quantize = request.quantize;
  save.variables = request.variables;
  save.sequences = request.sequences;
  save.layout = request.layout;
  save.allow_custom = request.allow_custom;
  return save;
}

OptionSet given(const ConvertRequest& request) {
  OptionSet set = driver::given(import_part(request)) | driver::given(save_part(request));
  set.add(Option::opset, request.opset.has_value());
  set.add(Option::target, !request.target.empty());
  set.add(Option::infer_types, request.infer_types);
  set.add(Option::half, request.half.has_value());
  set.add(Option::standard, request.standard);
  return set;
}

ConvertReport convert(const ConvertRequest& request) {
  const BudgetScope scope(request.budget);
  const auto begin = [&](std::string_view stage) {
    if (request.on_stage) request.on_stage(stage);
  };
  begin("read");
  ConvertReport done;
  done.to = &format_to_write(request.output, request.to);
  refuse_overwriting(request.input, request.output);
  auto clock = std::chrono::steady_clock::now();
  const Source source = source_of(request.input);
  const Format& from = format_to_read(source, request.from);
  const Plan plan = plan_of(request, from, *done.to);

  Loaded loaded = load(source, from, plan.load);
  done.load_seconds = seconds_since(clock);
  done.from = loaded.format;
  done.model = std::move(loaded.model);
  done.is_translated = !done.from->is_onnx || !done.to->is_onnx;
  append(done.notes, std::move(loaded.notes));
  begin("convert");
  try {
    AdjustOptions changes = plan.adjust;
    if (changes.half) find_ranges(done.model, *changes.half, request.budget, done.notes);
    AdjustReport adjusted = adjust(done.model, changes);
    done.convert_seconds = seconds_since(clock);
    done.nodes_changed = adjusted.nodes_changed;
    done.nodes_added = adjusted.nodes_added;
    append(done.notes, std::move(adjusted.notes));
    done.half = std::move(adjusted.half);
    check_result(request, plan, done);
    begin("write");
    // What another framework cannot express is a matter of the source.
    if (!done.to->is_onnx) append(done.notes, write(*done.to, done.model, request.output, plan.save));
  } catch (Error& error) {
    error.in_file(request.input);
    throw;
  }
  if (done.to->is_onnx)
    append(done.notes, save(done.model, request.output, plan.save));
  else
    note_what_is_left_behind(done);
  done.write_seconds = seconds_since(clock);

  done.not_verified = why_not_verified(request, done, plan.load.import);
  if (!done.not_verified.empty()) return done;
  begin("verify");
  done.not_verified = request.verify(comparison_of(request, plan.load));
  return done;
}

}  // namespace ingot::driver
