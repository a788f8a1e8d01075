// Recurrent layers.
#include "ingot/base/error.h"
#include "ingot/frontends/keras/cell.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

/// What a layer is given and what is asked of it, whatever its cells are.
struct Sequence {
  IrValue *x = nullptr, *mask = nullptr;
  Values states{};
  bool is_reversed = false;
};

Sequence read_sequence(Call& call) {
  GraphBuilder& b = call.b;
  Sequence sequence;
  sequence.x = call.real();
  call.require(call.rank() == 3, "the input does not have the rank that the layer needs");
  sequence.mask = call.stated_mask();
  if (call.flag("time_major", false)) sequence.x = b.transpose(sequence.x, {1, 0, 2});
  std::vector<Flow> states(call.inputs.begin() + 1, call.inputs.end());
  if (const auto initial = call.kwargs.find("initial_state"); initial != call.kwargs.end())
    collect(initial->second, states);
  for (const Flow& state : states) sequence.states.push_back(state.value);
  sequence.is_reversed = call.flag("go_backwards", false) != call.kwargs.contains("__go_backwards__");
  if (sequence.is_reversed) {
    sequence.x = reversed(b, sequence.x, 1);
    if (sequence.mask) sequence.mask = reversed(b, sequence.mask, 1);
  }
  if (call.flag("stateful", false))
    call.import.notes.add("layer '" + call.layer.scope +
                          "' keeps its state between batches in Keras; here each run begins with zeros");
  return sequence;
}

/// `mask`: of the steps in the order in which they were taken; null: all count.
void give(Call& call, Ran ran, IrValue* mask) {
  GraphBuilder& b = call.b;
  const bool has_sequences = call.flag("return_sequences", false);
  if (mask && call.flag("zero_output_for_mask", false)) {
    IrValue* zero = b.scalar(0, ran.all->type.elem);
    ran.all = b.where(b.unsqueeze(mask, {2}), ran.all, zero);
    ran.last = b.where(b.op("Gather", {mask, b.ints({-1})}, {{"axis", 1}}), ran.last, zero);
  }
  IrValue* y = has_sequences ? ran.all : ran.last;
  if (has_sequences && call.flag("time_major", false)) y = b.transpose(y, {1, 0, 2});
  // A mask that the call states goes on in Keras 2 only.
  IrValue* goes_on = call.import.version < 3 ? call.stated_mask() : call.mask();
  call.set(y, has_sequences ? goes_on : nullptr);
  if (call.flag("return_state", false))
    for (IrValue* state : ran.states) call.outputs.push_back({state, nullptr});
}

void recurrent(Call& call, Cell::Kind kind) {
  const Sequence sequence = read_sequence(call);
  if (call.layer.weights.is_tree() && call.layer.weights.values().empty())
    call.layer.weights = call.layer.weights.part("cell");
  const Cell cell = read_cell(call, kind);
  call.require(sequence.states.empty() || sequence.states.size() == state_count(cell),
               "it is given another number of states than it has");
  give(call, run_cell(call, cell, sequence.x, sequence.mask, sequence.states), sequence.mask);
}

Cell::Kind kind_of(const Call& call, std::string_view class_name) {
  if (class_name == "LSTMCell") return Cell::Kind::lstm;
  if (class_name == "GRUCell") return Cell::Kind::gru;
  if (class_name == "SimpleRNNCell") return Cell::Kind::simple;
  call.refuse("a cell of class '" + std::string(class_name) + "' is Python code",
              "LSTMCell, GRUCell, SimpleRNNCell and StackedRNNCells have a translation");
}

}  // namespace

void simple_rnn(Call& call) { recurrent(call, Cell::Kind::simple); }
void gru(Call& call) { recurrent(call, Cell::Kind::gru); }
void lstm(Call& call) { recurrent(call, Cell::Kind::lstm); }

/// Cells that are stacked are layers one after the other: each step of one needs no later step of another.
void rnn(Call& call) {
  const Sequence sequence = read_sequence(call);
  const Config cell_config = call.at("cell");
  const Weights weights = call.layer.weights.is_tree() ? call.layer.weights.part("cell") : call.layer.weights;
  std::vector<Config> cells{cell_config};
  const bool is_bare = !cell_config.exists();  // as TF.js writes it
  const bool is_stacked = is_bare || cell_config["class_name"].text() == "StackedRNNCells";
  if (is_stacked) cells = is_bare ? call.at("cells").entries() : cell_config["config"]["cells"].entries();
  Ran ran{.all = sequence.x};
  Values states;
  std::size_t next_state = 0, next_weight = 0;
  std::map<std::string, std::size_t> of_class;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Layer inner = layer_of(cells[i], call.layer.scope, call.layer.is_trainable);
    if (cells.size() > 1) inner.scope += "_" + std::to_string(i);
    inner.class_name = cells[i]["class_name"].text();
    inner.place = call.layer.place;
    const Cell::Kind kind = kind_of(call, inner.class_name);
    const std::size_t count = inner.config["use_bias"].as_bool().value_or(true) ? 3 : 2;
    inner.weights = !is_stacked         ? weights
                    : weights.is_tree() ? weights.entry("cells", inner.class_name, of_class[inner.class_name]++)
                                        : weights.range(next_weight, count);
    next_weight += count;
    for (const auto& [name, made] : call.layer.parameters)
      if (name.starts_with(std::to_string(i) + ":")) inner.parameters.emplace(name.substr(name.find(':') + 1), made);
    Call step(call.import, inner, {});
    const Cell cell = read_cell(step, kind);
    for (const auto& [name, made] : inner.parameters)
      call.layer.parameters.emplace(std::to_string(i) + ":" + name, made);
    Values begin;
    for (std::size_t s = 0; s < state_count(cell) && !sequence.states.empty(); ++s) {
      call.require(next_state < sequence.states.size(), "it is given too few states");
      begin.push_back(sequence.states[next_state++]);
    }
    ran = run_cell(step, cell, ran.all, sequence.mask, begin);
    states.insert(states.end(), ran.states.begin(), ran.states.end());
  }
  ran.states = states;
  give(call, std::move(ran), sequence.mask);
}

}  // namespace ingot::frontends::keras
