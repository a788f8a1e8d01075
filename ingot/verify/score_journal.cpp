// A scoreboard in the making, on disk.
#include "ingot/verify/score_journal.h"

#include <chrono>
#include <filesystem>

#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/formats/json/document.h"

namespace ingot::verify {
namespace {

namespace fs = std::filesystem;
using Outcome = ScoreCell::Outcome;

/// What a line is worth depends on who asked, and on the program that found it.
std::string key_of(const std::vector<ScoreColumn>& columns) {
  Json key = Json::array();
  for (const ScoreColumn& column : columns) {
    key.push_back(column.title());
    for (const std::string& word : column.command) key.push_back(word);
  }
  std::error_code unknown;
  const fs::file_time_type made = fs::last_write_time("/proc/self/exe", unknown);
  key.push_back(static_cast<std::int64_t>(made.time_since_epoch().count()));
  return Json{{"scoreboard", key}}.dump();
}

}  // namespace

ScoreJournal::ScoreJournal(const std::string& path, const std::vector<ScoreColumn>& columns, bool anew) {
  if (path.empty()) return;
  const std::string key = key_of(columns);
  if (!anew) read(path, key, columns.size());
  file_.open(path, kept_.empty() && ends_.empty() ? std::ios::trunc : std::ios::app);
  if (!file_) throw Error(Code::cannot_write, "cannot write what is found so far").in_file(path);
  write(kept_.empty() && ends_.empty() ? key : "");  // what was cut off stays a line of its own
}

void ScoreJournal::read(const std::string& path, const std::string& key, std::size_t columns) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line != key) return;
  while (std::getline(file, line)) {
    try {
      take(line, columns);
    } catch (const Error&) {  // the run ended in the middle of a line
    }
  }
}

void ScoreJournal::take(const std::string& text, std::size_t columns) {
  const formats::json::Value v = formats::json::parse(text);
  if (v["begin"].is_text()) ++ends_[std::string(v["begin"].text())];
  if (v["left"].is_text()) --ends_[std::string(v["left"].text())];
  if (!v["name"].is_text() || v["cells"].entries().size() != columns) return;
  Kept kept;
  kept.line.name = v["name"].text();
  kept.line.op = v["op"].text();
  kept.line.opset = v["opset"].as_int().value_or(0);
  for (const auto& type : v["types"].entries()) kept.line.types.emplace_back(type.text());
  for (const auto& cell : v["cells"].entries()) {
    const std::int64_t outcome = cell["outcome"].as_int().value_or(0);
    if (outcome < 0 || outcome > static_cast<std::int64_t>(Outcome::unsupported)) return;
    kept.line.cells.push_back({static_cast<Outcome>(outcome), std::string(cell["reason"].text())});
  }
  for (const auto& version : v["versions"].entries()) kept.versions.emplace_back(version.text());
  kept.versions.resize(columns);
  ends_.erase(kept.line.name);
  const std::string name = kept.line.name;
  kept_.insert_or_assign(name, std::move(kept));
}

const ScoreJournal::Kept* ScoreJournal::find(const std::string& name) const {
  const auto it = kept_.find(name);
  return it == kept_.end() ? nullptr : &it->second;
}

int ScoreJournal::ends_of(const std::string& name) const {
  const auto it = ends_.find(name);
  return it == ends_.end() ? 0 : it->second;
}

void ScoreJournal::begin(const std::string& name) { write(Json{{"begin", name}}.dump()); }

void ScoreJournal::end(const ScoreLine& line, const std::vector<std::string>& versions) {
  Json cells = Json::array();
  for (const ScoreCell& cell : line.cells)
    cells.push_back(Json{{"outcome", static_cast<int>(cell.outcome)}, {"reason", cell.reason}});
  write(Json{{"name", line.name},
             {"op", line.op},
             {"opset", line.opset},
             {"types", line.types},
             {"cells", cells},
             {"versions", versions}}
            .dump());
}

void ScoreJournal::leave(const std::string& name) { write(Json{{"left", name}}.dump()); }

/// At once, whatever becomes of the program.
void ScoreJournal::write(const std::string& line) {
  if (file_.is_open()) file_ << line << std::endl;
}

}  // namespace ingot::verify
