// ingot explain: what an error's code means, and what to do about it.
#include "explain.h"

#include <cstdio>
#include <sstream>

#include "command.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

struct Options {
  std::string code;
  bool json = false;
};

/// IG0312, ig312, 312, bad_name, and [IG0312] as messages end with are one.
const CodeInfo& find_code(const std::string& text) {
  std::string digits = text.starts_with('[') && text.ends_with(']') ? text.substr(1, text.size() - 2) : text;
  if (digits.size() > 2 && (digits.starts_with("IG") || digits.starts_with("ig"))) digits.erase(0, 2);
  const bool is_number =
      !digits.empty() && digits.size() < 6 && digits.find_first_not_of("0123456789") == std::string::npos;
  for (const CodeInfo& info : all_codes())
    if (info.name == text || (is_number && static_cast<int>(info.code) == std::stoi(digits))) return info;
  throw Error(Code::unknown_name, "there is no error '" + text + "'")
      .hint("a code is four digits: IG0312; 'ingot explain' lists all");
}

/// The last cell of the code's row.
std::string remedy_of(const std::string& code) {
  std::istringstream page(kErrorsPage);
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| " + code + " |")) continue;
    const std::size_t end = line.rfind(" |");
    const std::size_t begin = line.rfind(" | ", end - 1);
    return line.substr(begin + 3, end - begin - 3);
  }
  return {};
}

int list_codes(const Options& options) {
  Json json = Json::array();
  Table table;
  for (const CodeInfo& info : all_codes()) {
    json.push_back({{"code", code_name(info.code)}, {"name", info.name}, {"meaning", info.meaning}});
    table.add({code_name(info.code), std::string(info.name), std::string(info.meaning)});
  }
  std::fputs(options.json ? (json.dump(2) + "\n").c_str() : table.str("").c_str(), stdout);
  return 0;
}

int run(const Options& options) {
  if (options.code.empty()) return list_codes(options);
  const Explanation e = explain(options.code);
  if (options.json) {
    const Json json{
        {"code", e.code}, {"name", e.name}, {"meaning", e.meaning}, {"exit_code", e.exit_code}, {"remedy", e.remedy}};
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  std::printf("%s  %s\n", out_style(Style::bold, e.code).c_str(), e.name.c_str());
  Table table;
  table.add({"meaning", e.meaning});
  table.add({"what to do", e.remedy});
  table.add({"exit code", std::to_string(e.exit_code)});
  std::fputs(table.str().c_str(), stdout);
  return 0;
}

}  // namespace

Explanation explain(const std::string& code) {
  const CodeInfo& info = find_code(code);
  const std::string name = code_name(info.code);
  return {name, std::string(info.name), std::string(info.meaning), remedy_of(name), info.exit_code};
}

Command add_explain(App& program, const Global&) {
  auto options = std::make_shared<Options>();
  App* app = program.add_subcommand("explain", "What an error's code means, and what to do about it");
  app->footer("Messages end with their code.\n\n  ingot explain IG0312");
  app->add_option("CODE", options->code, "IG0312, 312 or bad_name (default: all of them, a line each)");
  app->add_flag("--json", options->json, "For programs");
  return {app, [options] { return run(*options); }};
}

}  // namespace ingot::cli
