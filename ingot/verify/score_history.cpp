// Scoreboards of earlier versions.
#include "ingot/verify/score_history.h"

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/json/document.h"

namespace ingot::verify {
namespace {

namespace json = formats::json;

std::size_t count_of(const json::Value& value) {
  return static_cast<std::size_t>(std::max<std::int64_t>(0, value.as_int().value_or(0)));
}

ScoreRecord record_of(const json::Value& value) {
  ScoreRecord record{std::string(value["label"].text()), count_of(value["cases"]), {}};
  for (const auto& [title, passed] : value["passed"].members()) record.passed[std::string(title)] = count_of(passed);
  return record;
}

}  // namespace

EarlierScores read_scores(const std::string& path) try {
  const Bytes contents = map_file(path);
  const json::Value file =
      json::parse(std::string_view(reinterpret_cast<const char*>(contents.data()), contents.size()));
  if (!file["columns"].is_list() || !file["names"].is_list())
    throw Error(Code::bad_input, "this is no scoreboard").hint("'ingot scoreboard --json FILE' writes one");
  EarlierScores scores;
  for (const json::Value& value : file["history"].entries()) scores.records.push_back(record_of(value));
  for (const json::Value& name : file["names"].entries()) scores.cases.emplace(name.text());
  ScoreRecord own{std::string(file["label"].text()), count_of(file["cases"]), {}};
  for (const json::Value& column : file["columns"].entries()) {
    const std::string title(column["title"].text());
    own.passed[title] = count_of(column["passed"]);
    for (const auto& [name, outcome] : column["not_passed"].members()) scores.not_passed[title].emplace(name);
  }
  scores.records.push_back(std::move(own));
  return scores;
} catch (Error& error) {
  error.in_file(path);
  throw;
}

std::vector<ScoreChange> changes_since(const EarlierScores& before, const Scoreboard& now) {
  std::vector<ScoreChange> changes;
  for (std::size_t c = 0; c < now.columns.size(); ++c) {
    ScoreChange change{now.columns[c].title(), {}, {}};
    if (!before.records.back().passed.contains(change.column)) continue;
    const auto known = before.not_passed.find(change.column);
    for (const ScoreLine& line : now.lines) {
      if (!before.cases.contains(line.name)) continue;
      const bool passes = line.cells[c].outcome == ScoreCell::Outcome::passed;
      const bool passed = known == before.not_passed.end() || !known->second.contains(line.name);
      if (passes != passed) (passes ? change.gained : change.lost).push_back(line.name);
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace ingot::verify
