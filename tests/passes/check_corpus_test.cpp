// Every official model is valid, and of the models of the world just those that are listed are not.
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "ingot/passes/check/check.h"
#include "tests/onnx/corpus.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

struct Listed {
  std::string codes;  // "IG0303 IG0309"
  std::string reason;
};

/// invalid_models.txt: path, codes and the reason, separated by tabs; lines that begin with # explain.
std::map<std::string, Listed> listed_models() {
  std::map<std::string, Listed> listed;
  const std::filesystem::path source = test::source_dir();
  std::istringstream file(test::read_text(source / "tests" / "passes" / "invalid_models.txt"));
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (second == std::string::npos) {
      ADD_FAILURE() << "not a line of three parts: " << line;
      continue;
    }
    listed[line.substr(0, first)] = {line.substr(first + 1, second - first - 1), line.substr(second + 1)};
  }
  return listed;
}

TEST(CheckCorpus, JustTheListedModelsAreInvalid) {
  std::map<std::string, Listed> listed = listed_models();
  std::size_t valid = 0, warnings = 0;
  const std::size_t invalid = listed.size();
  test::for_each_shared_model([&](const std::string& name, const Model& model) {
    std::set<std::string> codes;
    std::string messages;
    for (const passes::Problem& p : passes::check(model)) {
      warnings += p.severity == passes::Severity::warning;
      EXPECT_FALSE(p.hint.empty()) << name << ": " << p.str();
      if (p.severity != passes::Severity::error) continue;
      codes.insert(code_name(p.code));
      messages += "\n  " + p.str();
    }
    valid += codes.empty();
    std::string found;
    for (const std::string& code : codes) found += (found.empty() ? "" : " ") + code;
    const auto it = listed.find(name);
    const std::string expected = it == listed.end() ? std::string() : it->second.codes;
    EXPECT_EQ(found, expected) << name << messages;
    if (it != listed.end()) listed.erase(it);
  });
  if (::testing::Test::IsSkipped()) return;
  for (const auto& [name, entry] : listed) ADD_FAILURE() << name << " is listed but was not read";
  std::cout << valid << " models are valid, " << invalid << " are not, as listed; " << warnings << " warnings\n";
}

}  // namespace
}  // namespace ingot
