// Stored cases in runtimes and through converters.
#include "ingot/verify/scoreboard.h"

#include <algorithm>
#include <exception>
#include <mutex>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/threads.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/load.h"
#include "ingot/driver/work_directory.h"
#include "ingot/ir/model.h"
#include "ingot/verify/contender.h"
#include "ingot/verify/counterparts.h"
#include "ingot/verify/score_journal.h"

namespace ingot::verify {
namespace {

using Outcome = ScoreCell::Outcome;
using Inputs = std::vector<engine::NamedDatum>;

bool ends_everything(Code code) { return code == Code::cancelled || code == Code::time_limit; }

/// A runtime's columns: as the case is, with less known of its shapes, in other operator sets.
void add_runtime(std::vector<ScoreColumn>& columns, const std::string& name, const std::vector<std::string>& command,
                 const ScoreOptions& options) {
  ScoreColumn column{.name = name, .command = command};
  columns.push_back(column);
  if (options.hides_shapes)
    for (const UnknownShapes shapes : {UnknownShapes::symbolic, UnknownShapes::rank}) {
      column.shapes = shapes;
      columns.push_back(column);
    }
  column.shapes = UnknownShapes::none;
  for (const std::int64_t opset : options.opsets) {
    column.opset = opset;
    columns.push_back(column);
  }
}

std::vector<ScoreColumn> columns_of(const ScoreOptions& options) {
  std::vector<ScoreColumn> columns;
  for (const Runtime runtime : options.runtimes) add_runtime(columns, std::string(info_of(runtime).name), {}, options);
  for (const OwnRuntime& own : options.own) add_runtime(columns, own.name, own.command, options);
  if (options.converts)
    for (const driver::Format* format : driver::all_formats())
      if (driver::is_readable(*format) && driver::is_writable(*format) && format->name != "onnx" &&
          (format->is_onnx || format->operators))  // others hold weights alone
        columns.push_back({.name = std::string(format->name), .is_converter = true});
  return columns;
}

std::vector<const Value*> outputs_of(const Model& model) {
  const Values outputs = model.graph->outputs();
  return {outputs.begin(), outputs.end()};
}

bool is_number(DType t) { return is_float(t) || is_integer(t); }

std::string file_in(const driver::WorkDirectory& scratch, const driver::Format& format) {
  return (scratch.path() / "model").string() +
         (format.extensions.empty() ? std::string() : std::string(format.extensions.front()));
}

class Case {
 public:
  Case(const TestCase& test, const ScoreOptions& options) : test_(test), options_(options) {
    load_.budget = options.budget;
    original_ = driver::load(test.model, load_).model;
  }

  ScoreLine line() const {
    ScoreLine line{test_.name, "", original_.opsets.version(""), {}, {}};
    if (original_.graph->node_count() == 1) {
      const Node& node = *original_.graph->nodes().begin();
      line.op = (node.domain.empty() ? "" : node.domain + ".") + node.op;
    }
    for (const Value* v : original_.graph->inputs())
      line.types.push_back(v->type.is_tensor() ? std::string(name_of(v->type.elem)) : v->type.schema_name());
    return line;
  }

  /// What a column makes of the case; `version` learns which runtime it was.
  ScoreCell cell(const ScoreColumn& column, std::string& version) const {
    try {
      return column.is_converter ? convert(column) : run(column, version);
    } catch (const Error& error) {
      if (ends_everything(error.code())) throw;
      return {error.exit_code() == 4 ? Outcome::unsupported : Outcome::failed, error.message()};
    } catch (const std::exception& error) {
      return {Outcome::failed, error.what()};  // of the whole run, one cell
    }
  }

 private:
  ScoreCell convert(const ScoreColumn& column) const {
    const driver::WorkDirectory scratch;
    const driver::Format& format = driver::format_by_name(column.name);
    // Without an extension: some formats read files by theirs, and write folders.
    const std::string file = (scratch.path() / "model").string();
    driver::SaveOptions save;
    save.to = &format;
    driver::save(original_, file, save);
    driver::LoadOptions load = load_;
    load.from = &format;
    if (format.leaves_inputs_open) tell_inputs(file, load);
    const Model back = driver::load(file, load).model;
    return judged(back, [&](const Inputs& inputs) { return run_in_ingot(back, inputs, {}, options_.budget); });
  }

  /// What files of some formats do not say of their inputs, by the names that those have in the file.
  void tell_inputs(const std::string& file, driver::LoadOptions& load) const {
    std::vector<const Value*> told;
    for (const Value* v : fed_inputs(original_))
      if (v->type.is_tensor()) told.push_back(v);
    std::vector<std::string> names;
    for (const Value* v : told) names.emplace_back(v->name());
    try {
      const Model untold = driver::load(file, load).model;
      const std::vector<const Value*> there = fed_inputs(untold);
      const std::vector<std::size_t> places = paired(told, there);
      for (std::size_t i = 0; i < told.size(); ++i)
        if (places[i] < there.size()) names[i] = there[places[i]]->name();
    } catch (const Error& error) {  // it cannot be read without; the names may be the same
      if (ends_everything(error.code())) throw;
    }
    for (std::size_t i = 0; i < told.size(); ++i) {
      load.import.input_types.emplace_back(names[i], told[i]->type.elem);
      if (told[i]->type.shape) load.import.input_shapes.emplace_back(names[i], *told[i]->type.shape);
    }
  }

  ScoreCell run(const ScoreColumn& column, std::string& version) const {
    Model model = original_.clone();
    hide_shapes(model, column.shapes);
    if (column.opset) driver::adjust(model, {.opset = column.opset});
    if (!column.command.empty()) return run_in_own(column, model, version);
    const Runtime runtime = runtime_by_name(column.name);
    if (runtime == Runtime::ingot)
      return judged(model, [&](const Inputs& inputs) { return run_in_ingot(model, inputs, {}, options_.budget); });
    // What a runtime reads is what the case becomes: of TFLite it is the converter that may be at fault, too.
    const driver::WorkDirectory scratch;
    const driver::Format& format = driver::format_by_name(info_of(runtime).reads);
    const std::string file = file_in(scratch, format);
    driver::SaveOptions save;
    save.to = &format;
    driver::save(model, file, save);
    driver::LoadOptions load = load_;
    load.from = &format;
    Contender contender(file, {runtime}, load, options_.peers, Contender::Role::reference);
    const ScoreCell cell = judged(contender.model(), [&](const Inputs& inputs) { return contender.run(inputs); });
    version = contender.runtime_text();
    return cell;
  }

  ScoreCell run_in_own(const ScoreColumn& column, const Model& model, std::string& version) const {
    const driver::WorkDirectory scratch;
    const std::string file = (scratch.path() / "model.onnx").string();
    driver::save(model, file);
    std::unique_ptr<Peer> peer = options_.peers.pool->take(column.command, options_.peers);
    const ScoreCell cell = judged(model, [&](const Inputs& inputs) {
      PeerAnswer got = peer->run({.model = file, .inputs = inputs});
      if (got.error.empty() && !got.version.empty()) version = column.name + " " + got.version;
      return Answer{.error = std::move(got.error), .outputs = std::move(got.outputs)};
    });
    options_.peers.pool->give_back(std::move(peer));
    return cell;
  }

  /// What `run` makes of `model`, which is the case or what became of it.
  template <class F> ScoreCell judged(const Model& model, F&& run) const {
    const std::vector<std::size_t> places = paired(outputs_of(original_), outputs_of(model));
    for (std::size_t set = 0; set < data_set_count(test_); ++set) {
      const TestData data = load_test_data(test_, set, original_, load_);
      const Answer answer = run(inputs_for(model, data));
      if (!answer.error.empty()) return {Outcome::unsupported, answer.error};
      for (std::size_t i = 0; i < data.outputs.size(); ++i) {
        if (places[i] >= answer.outputs.size())
          return {Outcome::failed, "it has no output '" + original_.graph->output(i)->name() + "'"};
        const engine::NamedDatum& got = answer.outputs[places[i]];
        if (const auto what = difference(got.value, data.outputs[i], test_.tolerance))
          return {is_right_in_another_type(got.value, data.outputs[i]) ? Outcome::unsupported : Outcome::failed,
                  "output '" + got.name + "' " + *what};
      }
    }
    return {Outcome::passed};
  }

  /// The case's inputs by the names, and in the types, that they have in `model`. What that lacks, no output needs.
  Inputs inputs_for(const Model& model, const TestData& data) const {
    std::vector<const Value*> given, wanted;
    for (const auto& [name, value] : data.inputs) given.push_back(original_.graph->find(name));
    for (const Value* v : model.graph->inputs()) {
      const bool has_default = v->initializer || v->sparse_initializer;
      if (!has_default || std::ranges::find(given, v->name(), &Value::name) != given.end()) wanted.push_back(v);
    }
    const std::vector<std::size_t> places = paired(wanted, given);
    Inputs inputs;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (places[i] == given.size()) continue;
      const Datum& value = data.inputs[places[i]].second;
      const DType has = value.array() ? value.array()->dtype() : DType::undefined, elem = wanted[i]->type.elem;
      const bool changes = wanted[i]->type.is_tensor() && TypeSet(Numeric{}).has(elem) && is_number(has) &&
                           is_float(has) == is_float(elem);
      inputs.push_back({wanted[i]->name(), changes ? Datum(converted(*value.array(), elem)) : value});
    }
    return inputs;
  }

  /// A runtime without that type is told from one that computes something else.
  bool is_right_in_another_type(const Datum& got, const Datum& expected) const {
    const Array *a = got.array(), *b = expected.array();
    if (!a || !b || a->dtype() == b->dtype() || !is_number(a->dtype()) || !is_number(b->dtype())) return false;
    const bool can_round = TypeSet(Numeric{}).has(b->dtype()) && is_float(a->dtype()) == is_float(b->dtype());
    const DType common = can_round ? b->dtype() : DType::f64;
    return !difference(converted(*a, common), converted(*b, common), test_.tolerance);
  }

  const TestCase& test_;
  const ScoreOptions& options_;
  driver::LoadOptions load_;
  Model original_;
};

ScoreLine without_answer(const TestCase& test, std::size_t columns, const std::string& why) {
  return {test.name, "", 0, {}, std::vector<ScoreCell>(columns, {Outcome::failed, why})};
}

/// What all columns make of a case; throws what ends the whole run alone.
ScoreLine line_of(const TestCase& test, const std::vector<ScoreColumn>& columns, const ScoreOptions& options,
                  std::vector<std::string>& versions) {
  try {
    const Case one(test, options);
    ScoreLine line = one.line();
    for (std::size_t c = 0; c < columns.size(); ++c) line.cells.push_back(one.cell(columns[c], versions[c]));
    return line;
  } catch (const Error& error) {
    if (ends_everything(error.code())) throw;
    return without_answer(test, columns.size(), error.message());
  } catch (const std::exception& error) {
    return without_answer(test, columns.size(), error.what());
  }
}

}  // namespace

std::string ScoreColumn::title() const {
  if (is_converter) return name + " and back";
  if (opset) return name + ", opset " + std::to_string(opset);
  return name + (shapes == UnknownShapes::symbolic ? ", named dimensions"
                 : shapes == UnknownShapes::rank   ? ", no rank"
                                                   : "");
}

Scoreboard score(const std::vector<TestCase>& cases, const ScoreOptions& given) {
  ScoreOptions options = given;
  options.peers.pool = std::make_shared<PeerPool>();
  Scoreboard board{columns_of(options), std::vector<ScoreLine>(cases.size())};
  ScoreJournal journal(options.journal, board.columns, options.anew);
  std::mutex mutex;
  std::size_t done = 0;
  const auto keep = [&](std::size_t i, ScoreLine line, const std::vector<std::string>& versions) {
    board.lines[i] = std::move(line);
    for (std::size_t c = 0; c < versions.size(); ++c)
      if (board.columns[c].version.empty()) board.columns[c].version = versions[c];
    if (options.on_progress) options.on_progress(++done);
  };
  const auto work_on = [&](std::size_t i) {
    ScoreLine line{cases[i].name, "", 0, {}, {}};
    std::vector<std::string> versions(board.columns.size());
    {
      const std::lock_guard lock(mutex);
      journal.begin(cases[i].name);
    }
    try {
      line = line_of(cases[i], board.columns, options, versions);
    } catch (const Error&) {
      const std::lock_guard lock(mutex);
      journal.leave(cases[i].name);
      throw;
    }
    const std::lock_guard lock(mutex);
    journal.end(line, versions);
    keep(i, std::move(line), versions);
  };
  std::vector<std::size_t> rest, suspects;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const int ends = journal.ends_of(cases[i].name);
    if (const ScoreJournal::Kept* kept = journal.find(cases[i].name))
      keep(i, kept->line, kept->versions);
    else if (ends > 1)
      keep(i, without_answer(cases[i], board.columns.size(), "it ended the whole program, twice"), {});
    else
      (ends == 1 ? suspects : rest).push_back(i);
  }
  for (const std::size_t i : suspects) work_on(i);
  ThreadPool pool(options.threads);
  pool.parallel_for(static_cast<std::int64_t>(rest.size()), 1,
                    [&](std::int64_t begin, std::int64_t) { work_on(rest[static_cast<std::size_t>(begin)]); });
  return board;
}

}  // namespace ingot::verify
