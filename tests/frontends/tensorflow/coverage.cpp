// Which operators the comparisons cover.
#include "tests/frontends/tensorflow/coverage.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "ingot/frontends/tensorflow/import.h"
#include "ingot/frontends/tensorflow/operator_table.h"
#include "tests/support/files.h"

namespace ingot::test {
namespace {

/// Operator -> "name=default" of its attributes.
std::map<std::string, std::vector<std::string>> attribute_defaults() {
  std::map<std::string, std::vector<std::string>> defaults;
  std::ifstream in(source_dir() / "tests/frontends/tensorflow/attributes.txt");
  if (!in) throw std::runtime_error("cannot read attributes.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::stringstream words(line);
    std::string op;
    words >> op;
    for (std::string word; words >> word;) defaults[op].push_back(word);
  }
  return defaults;
}

bool has_other_value(const std::vector<std::string>& defaults, const std::set<std::string>& seen) {
  for (const std::string& one : defaults) {
    const std::string name = one.substr(0, one.find('=') + 1);
    for (const std::string& value : seen)
      if (value.starts_with(name) && value != one) return true;
  }
  return false;
}

}  // namespace

std::set<std::string> covered_operators(const Operators& seen) {
  const auto defaults = attribute_defaults();
  std::set<std::string> covered;
  for (const std::string_view op : frontends::tensorflow::supported_operators()) {
    const auto found = seen.find(std::string(op));
    if (found == seen.end()) continue;
    const auto own = defaults.find(found->first);
    if (own == defaults.end() || has_other_value(own->second, found->second)) covered.insert(found->first);
  }
  return covered;
}

Operators operators_of_cases() {
  Operators seen;
  for (const OperatorCase& c : read_operator_cases()) {
    Operators own;
    if (run_operator_case(c, false, &own).empty() && (c.keeps_sizes || run_operator_case(c, true).empty()))
      for (auto& [op, attributes] : own) seen[op].merge(attributes);
  }
  return seen;
}

std::size_t distinct_translations(const std::set<std::string>& operators) {
  std::set<const void*> translations;
  std::size_t count = 0;
  for (const std::string& op : operators) {
    if (const auto* row = frontends::tensorflow::find_row(op))
      translations.insert(reinterpret_cast<const void*>(row->translate));
    else
      ++count;  // Exit and Merge are found as wholes
  }
  return count + translations.size();
}

}  // namespace ingot::test
