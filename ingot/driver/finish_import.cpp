// From a framework's graph in ONNX's words to a model as a user expects it.
#include "ingot/driver/finish_import.h"

#include <algorithm>
#include <limits>

#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/import_layout.h"
#include "ingot/driver/own_functions.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/passes/absorb_lines.h"
#include "ingot/passes/absorb_pads.h"
#include "ingot/passes/fold.h"
#include "ingot/passes/recurrent_loops/recurrent_loops.h"
#include "ingot/train/initialization.h"

namespace ingot::driver {
namespace {

void recognise_cells(Imported& imported) {
  const std::size_t loops = passes::recognise_recurrent_loops(imported.model);
  if (loops)
    imported.notes.push_back(std::to_string(loops) + (loops == 1 ? " loop is" : " loops are") +
                             " written as LSTM, GRU or RNN");
}

template <class Change> std::size_t in_all_graphs(Model& model, const Change& change) {
  std::size_t count = change(*model.graph);
  for (const auto& function : model.functions) count += change(*function->body);
  return count;
}

bool is_weight_cast(const Node& node) {
  return node.is("Cast") && node.input(0) && node.input(0)->type.elem == DType::f16;
}

void fold(Model& model) {
  // Weights of half the size are only a way to store them: however large, they are what they become.
  passes::FoldOptions weights;
  weights.most_bytes = std::numeric_limits<std::uint64_t>::max();
  weights.keeps = [](const Node& node) { return !is_weight_cast(node); };
  passes::FoldOptions rest;
  rest.keeps = [](const Node& node) { return node.is("DequantizeLinear") || node.is("QuantizeLinear"); };
  in_all_graphs(model, [&](Graph& graph) { return passes::fold_constants(graph, weights); });
  in_all_graphs(model, [&](Graph& graph) { return passes::fold_constants(graph, rest); });
}

/// Only now: before the layout is settled, transposes stand in between.
void absorb(Imported& imported) {
  const std::size_t lines = in_all_graphs(imported.model, passes::absorb_lines);
  const std::size_t pads = in_all_graphs(imported.model, passes::absorb_pads);
  if (!lines && !pads) return;
  in_all_graphs(imported.model, [](Graph& graph) { return drop_unread(graph); });
  imported.notes.push_back("convolutions and pools take in " + std::to_string(lines + pads) +
                           " nodes: normalisations, biases and padding");
}

/// Variables that no file holds a value of begin as the model's own initialization says.
void begin_blank(Imported& imported) {
  if (imported.blank.empty()) return;
  const auto can_begin = [](const TrainingInfo& info) { return info.initialization != nullptr; };
  const bool begins = std::ranges::any_of(imported.model.training, can_begin);
  if (begins) train::initialize(imported.model);
  imported.notes.push_back(std::to_string(imported.blank.size()) + " variables have no stored value: they begin as " +
                           (begins ? "the graph says" : "zeros"));
}

}  // namespace

void finish_import(Imported& imported, const ImportOptions& options, OwnFunctions& functions) {
  if (imported.spells_out_cells) recognise_cells(imported);
  set_input_shapes(imported.model, options.input_shapes);
  if (imported.folds_constants) fold(imported.model);
  if (imported.is_channels_last)
    settle_layout(imported.model, options.layout, options.keep_nhwc, imported.notes);
  else if (options.layout.inputs_as || options.layout.outputs_as)
    throw Error(Code::bad_usage, "the inputs and outputs of this model keep their layout")
        .hint("leave --inputs-as and --outputs-as out; what is trained stays as it is");
  if (imported.folds_constants) absorb(imported);
  begin_blank(imported);
  functions.add_to(imported.model);
}

}  // namespace ingot::driver
