// Stored cases in runtimes and through converters.
#include "ingot/verify/scoreboard.h"

#include <mutex>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/threads.h"
#include "ingot/driver/load.h"
#include "ingot/ir/model.h"
#include "ingot/verify/contender.h"
#include "ingot/verify/scratch_directory.h"

namespace ingot::verify {
namespace {

using Outcome = ScoreCell::Outcome;
using Inputs = std::vector<engine::NamedDatum>;

bool ends_everything(Code code) { return code == Code::cancelled || code == Code::time_limit; }

std::vector<ScoreColumn> columns_of(const ScoreOptions& options) {
  std::vector<ScoreColumn> columns;
  for (const Runtime runtime : options.runtimes) {
    const std::string name(info_of(runtime).name);
    columns.push_back({name});
    if (!options.hides_shapes) continue;
    columns.push_back({name, false, UnknownShapes::symbolic});
    columns.push_back({name, false, UnknownShapes::rank});
  }
  if (options.converts)
    for (const driver::Format* format : driver::all_formats())
      if (driver::is_readable(*format) && driver::is_writable(*format) && format->name != "onnx")
        columns.push_back({std::string(format->name), true});
  return columns;
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
    }
  }

 private:
  ScoreCell convert(const ScoreColumn& column) const {
    const ScratchDirectory scratch;
    const driver::Format& format = driver::format_by_name(column.name);
    const std::string file = (scratch.path() / "model").string() +
                             (format.extensions.empty() ? std::string() : std::string(format.extensions.front()));
    driver::SaveOptions save;
    save.to = &format;
    driver::save(original_, file, save);
    driver::LoadOptions load = load_;
    load.from = &format;
    const Model back = driver::load(file, load).model;
    return judged([&](const Inputs& inputs) { return run_in_ingot(back, inputs, {}, options_.budget); });
  }

  ScoreCell run(const ScoreColumn& column, std::string& version) const {
    const Runtime runtime = runtime_by_name(column.name);
    Model model = original_.clone();
    hide_shapes(model, column.shapes);
    if (runtime == Runtime::ingot)
      return judged([&](const Inputs& inputs) { return run_in_ingot(model, inputs, {}, options_.budget); });
    const ScratchDirectory scratch;
    const std::string file = (scratch.path() / "model.onnx").string();
    driver::save(model, file);
    Contender contender(file, {runtime}, load_, options_.peers, Contender::Role::reference);
    const ScoreCell cell = judged([&](const Inputs& inputs) { return contender.run(inputs); });
    version = contender.runtime_text();
    return cell;
  }

  template <class F> ScoreCell judged(F&& run) const {
    for (std::size_t set = 0; set < data_set_count(test_); ++set) {
      TestData data = load_test_data(test_, set, original_, load_);
      Inputs inputs;
      for (auto& [name, value] : data.inputs) inputs.push_back({name, std::move(value)});
      const Answer answer = run(inputs);
      if (!answer.error.empty()) return {Outcome::unsupported, answer.error};
      for (std::size_t i = 0; i < data.outputs.size(); ++i) {
        if (i >= answer.outputs.size()) return {Outcome::failed, "it has fewer outputs"};
        const auto what = difference(answer.outputs[i].value, data.outputs[i], test_.tolerance);
        if (what) return {Outcome::failed, "output '" + answer.outputs[i].name + "' " + *what};
      }
    }
    return {Outcome::passed};
  }

  const TestCase& test_;
  const ScoreOptions& options_;
  driver::LoadOptions load_;
  Model original_;
};

}  // namespace

std::string ScoreColumn::title() const {
  if (is_converter) return name + " and back";
  return name + (shapes == UnknownShapes::symbolic ? ", named dimensions"
                 : shapes == UnknownShapes::rank   ? ", no rank"
                                                   : "");
}

Scoreboard score(const std::vector<TestCase>& cases, const ScoreOptions& options) {
  Scoreboard board{columns_of(options), std::vector<ScoreLine>(cases.size())};
  std::mutex mutex;
  std::size_t done = 0;
  ThreadPool pool(options.threads);
  pool.parallel_for(static_cast<std::int64_t>(cases.size()), 1, [&](std::int64_t begin, std::int64_t) {
    const auto i = static_cast<std::size_t>(begin);
    ScoreLine line{cases[i].name, "", 0, {}, std::vector<ScoreCell>(board.columns.size())};
    std::vector<std::string> versions(board.columns.size());
    try {
      const Case one(cases[i], options);
      line = one.line();
      for (std::size_t c = 0; c < board.columns.size(); ++c)
        line.cells.push_back(one.cell(board.columns[c], versions[c]));
    } catch (const Error& error) {
      if (ends_everything(error.code())) throw;
      line.cells.assign(board.columns.size(), {Outcome::failed, error.message()});
    }
    const std::lock_guard lock(mutex);
    board.lines[i] = std::move(line);
    for (std::size_t c = 0; c < versions.size(); ++c)
      if (board.columns[c].version.empty()) board.columns[c].version = versions[c];
    if (options.on_progress) options.on_progress(++done);
  });
  return board;
}

}  // namespace ingot::verify
