// ingot scoreboard: operators, types, shapes and operator sets, for runtimes and for converters.
#include "ingot/verify/scoreboard.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "command.h"
#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/base/progress.h"
#include "ingot/pages/scoreboard_page.h"
#include "ingot/verify/score_history.h"
#include "ingot/verify/test_suite.h"
#include "terminal.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

using Outcome = verify::ScoreCell::Outcome;

struct Options {
  std::vector<std::string> directories, filters, with, runners;
  std::vector<std::uint64_t> opsets;
  std::string output, json, peers, before, label = INGOT_VERSION;
  int threads = 0;
  bool no_converters = false, no_hidden_shapes = false, anew = false;
};

const char* word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::failed:
      return "failed";
    case Outcome::unsupported:
      return "unsupported";
    case Outcome::not_run:
      break;
  }
  return "not run";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Per column and operator how many passed, and what did not: small enough to be kept with a project.
Json to_json(const verify::Scoreboard& board, const std::string& label, const verify::EarlierScores* before) {
  Json json{{"version", INGOT_VERSION},
            {"label", label},
            {"cases", board.lines.size()},
            {"history", Json::array()},
            {"columns", Json::array()}};
  if (before)
    for (const verify::ScoreRecord& record : before->records)
      if (record.label != label)
        json["history"].push_back({{"label", record.label}, {"cases", record.cases}, {"passed", record.passed}});
  for (std::size_t c = 0; c < board.columns.size(); ++c) {
    const verify::ScoreColumn& column = board.columns[c];
    Json one{{"title", column.title()}, {"name", column.name}, {"kind", column.is_converter ? "converter" : "runtime"}};
    if (!column.version.empty()) one["version"] = column.version;
    std::map<std::string, std::pair<std::size_t, std::size_t>> by_op;
    std::size_t passed = 0;
    Json others = Json::object();
    for (const verify::ScoreLine& line : board.lines) {
      auto& [good, all] = by_op[line.op];
      ++all;
      if (line.cells[c].outcome == Outcome::passed) {
        ++good;
        ++passed;
      } else {
        others[line.name] = word_of(line.cells[c].outcome);
      }
    }
    one["passed"] = passed;
    one["operators"] = Json::object();
    for (const auto& [op, counts] : by_op) {
      Json pair = Json::array();
      pair.push_back(counts.first);
      pair.push_back(counts.second);
      one["operators"][op] = std::move(pair);
    }
    one["not_passed"] = std::move(others);
    json["columns"].push_back(std::move(one));
  }
  json["names"] = Json::array();
  for (const verify::ScoreLine& line : board.lines) json["names"].push_back(line.name);
  return json;
}

pages::ScoreHistory history_of(const verify::Scoreboard& board, const std::string& label,
                               const verify::EarlierScores& before) {
  pages::ScoreHistory history;
  for (const verify::ScoreRecord& record : before.records)
    history.versions.push_back({record.label, record.cases, record.passed});
  pages::ScoreHistory::Version now{label, board.lines.size(), {}};
  for (std::size_t c = 0; c < board.columns.size(); ++c)
    now.passed[board.columns[c].title()] = static_cast<std::size_t>(
        std::ranges::count_if(board.lines, [&](const auto& line) { return line.cells[c].outcome == Outcome::passed; }));
  history.versions.push_back(std::move(now));
  for (auto& change : verify::changes_since(before, board))
    history.changes.push_back({change.column, change.gained, change.lost});
  return history;
}

/// "tract=/opt/tract-driver --fast" -> name and command.
verify::OwnRuntime runner_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  verify::OwnRuntime own{text.substr(0, equals), {}};
  for (std::size_t begin = equals + 1; equals != std::string::npos && begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) own.command.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (own.name.empty() || own.command.empty())
    throw Error(Code::bad_usage, "'" + text + "' is no runner").hint("such as --runner 'mine=/opt/mine/driver --fast'");
  const std::string program = verify::find_program(own.command[0]);
  if (program.empty()) throw Error(Code::bad_usage, "there is no program '" + own.command[0] + "'");
  own.command[0] = program;
  return own;
}

void write(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path.string());
  file.write(text);
  file.commit();
}

void write_pages(const verify::Scoreboard& board, const Options& options, const pages::ScoreHistory& history) {
  std::vector<std::string> columns;
  for (const verify::ScoreColumn& column : board.columns) columns.push_back(column.title());
  std::vector<pages::ScoreRow> rows;
  for (const verify::ScoreLine& line : board.lines) {
    pages::ScoreRow row{line.name, line.op, joined(line.types), line.opset, {}, {}};
    for (const verify::ScoreCell& cell : line.cells) {
      row.outcomes.push_back(word_of(cell.outcome));
      row.reasons.push_back(cell.reason);
    }
    rows.push_back(std::move(row));
  }
  for (const auto& [name, page] : pages::scoreboard_pages(columns, rows, "Scoreboard: ingot " + options.label, history))
    write(std::filesystem::path(options.output) / name, pages::to_html(page));
}

std::vector<verify::TestCase> chosen_cases(const Options& options) {
  std::vector<verify::TestCase> cases = verify::find_test_cases(options.directories);
  if (!options.filters.empty())
    std::erase_if(cases, [&](const verify::TestCase& c) {
      return std::ranges::none_of(options.filters, [&](const auto& f) { return verify::matches_glob(c.name, f); });
    });
  if (cases.empty())
    throw Error(Code::bad_input, "there are no test cases in " + options.directories.front())
        .hint("a case is a directory with model.onnx and test_data_set_0");
  return cases;
}

int run(const Options& options, const Global& global) {
  if (options.output.empty() && options.json.empty())
    throw Error(Code::bad_usage, "nothing is asked for").hint("-o names a folder for the pages, --json a file");
  refuse_other_runtimes(global, "--with", options.with);
  refuse_other_runtimes(global, "--runner", options.runners);
  const std::vector<verify::TestCase> cases = chosen_cases(options);
  verify::ScoreOptions score;
  score.budget = global.budget;
  score.threads = options.threads;
  score.converts = !options.no_converters;
  score.hides_shapes = !options.no_hidden_shapes;
  score.peers = find_peers(global, options.peers);
  if (!options.with.empty()) score.runtimes.clear();
  for (const std::string& name : options.with) score.runtimes.push_back(verify::runtime_by_name(name));
  for (const std::string& text : options.runners) score.own.push_back(runner_of(text));
  score.opsets.assign(options.opsets.begin(), options.opsets.end());
  std::optional<verify::EarlierScores> before;
  if (!options.before.empty()) before = verify::read_scores(options.before);
  if (!options.output.empty()) std::filesystem::create_directories(options.output);
  const std::string result = options.json.empty() ? options.output + "/scoreboard.json" : options.json;
  score.journal = result + ".part";
  score.anew = options.anew;
  verify::Scoreboard board;
  {
    Progress progress("scoring", cases.size(), ProgressOptions::for_terminal(global.quiet));
    score.on_progress = [&](std::size_t done) { progress.update(done); };
    board = verify::score(cases, score);
  }
  const pages::ScoreHistory history = before ? history_of(board, options.label, *before) : pages::ScoreHistory();
  if (!options.output.empty()) write_pages(board, options, history);
  const Json json = to_json(board, options.label, before ? &*before : nullptr);
  if (!options.json.empty()) write(options.json, json.dump(1) + "\n");
  std::filesystem::remove(score.journal);
  Table table({false, true, true});
  for (const Json& column : json["columns"])
    table.add({column["title"].text(), column["passed"].dump(), "of " + std::to_string(cases.size())});
  std::fputs(table.str("").c_str(), stdout);
  for (const auto& change : history.changes)
    for (const std::string& name : change.lost)
      std::printf("%s: %s passed before\n", change.column.c_str(), name.c_str());
  return 0;
}

}  // namespace

Command add_scoreboard(App& program, const Global& global) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("scoreboard", "Which operators, types and shapes runtimes and converters can do");
  app->footer(
      "Runs stored cases (the layout of the official ONNX backend tests) in runtimes, with the inputs' shapes as they "
      "are, with\nnamed dimensions and without a rank, and through converters: from ONNX to each format that can be "
      "written and back,\nrun by Ingot. What is found is kept beside the result (.part) until all is done: the same "
      "command goes on where a run\nstopped. docs/scoreboard.md tells how another runtime joins.\n\n"
      "  ingot scoreboard onnx/backend/test/data/node -o site --with ingot,ort");
  app->add_option("DIR", options->directories, "Where the cases are")->required();
  app->add_option("-o,--output", options->output, "The folder to write pages to");
  app->add_option("--json", options->json, "A file to write the counts to");
  app->add_option("--with", options->with, "Runtimes (default: ingot); 'verify --list-runtimes' lists them")
      ->delimiter(',');
  app->add_option("--runner", options->runners,
                  "A runtime of your own, as docs/scoreboard.md says: 'name=program words'");
  app->add_option("--opsets", options->opsets, "Also with the cases brought to these operator sets: 17,21")
      ->delimiter(',');
  app->add_option("--before", options->before, "A file that --json wrote earlier: what changed since, and the history");
  app->add_option("--label", options->label, "What this version is called there (default: the program's version)");
  app->add_option("--filter", options->filters, "Only cases with such a name; * and ? stand for any characters");
  app->add_flag("--anew", options->anew, "Not from where an interrupted run of the same columns stopped");
  app->add_option("--threads", options->threads, "Cases at once (default: all cores)")->positive();
  app->add_flag("--no-converters", options->no_converters, "Runtimes alone");
  app->add_flag("--no-hidden-shapes", options->no_hidden_shapes, "Shapes as they are alone");
  app->add_option("--peers", options->peers, "The folder with npm's node_modules (default: $INGOT_PEERS)");
  return {app, [options, &global] { return run(*options, global); }};
}

}  // namespace ingot::cli
