// From a framework's graph in ONNX's words to a model as a user expects it.
#include "ingot/driver/finish_import.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/import_layout.h"
#include "ingot/driver/own_functions.h"
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

void fold(Model& model) {
  passes::fold_constants(*model.graph);
  for (const auto& function : model.functions) passes::fold_constants(*function->body);
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
    settle_layout(imported.model, options.layout, imported.notes);
  else if (options.layout.inputs_as || options.layout.outputs_as)
    throw Error(Code::bad_usage, "the inputs and outputs of this model keep their layout")
        .hint("leave --inputs-as and --outputs-as out; what is trained stays as it is");
  begin_blank(imported);
  functions.add_to(imported.model);
}

}  // namespace ingot::driver
