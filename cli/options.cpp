// The command line, by CLI11.
#include "options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <map>

#include "ingot/base/error.h"
#include "ingot/base/similar_word.h"

namespace ingot::cli {
namespace {

std::vector<std::string> names_of_commands(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

void add_flags(const CLI::App& app, std::vector<std::string>& flags) {
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; }))
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
}

/// What the first word that nothing takes was meant to be; empty if there is none, or nothing is like it.
std::string meant_by(const CLI::App& program) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  for (std::string word : program.remaining(true)) {
    if (word.starts_with("--")) {
      std::vector<std::string> flags;
      for (const CLI::App* command : chosen) add_flags(*command, flags);
      add_flags(program, flags);
      word = word.substr(0, word.find('='));
      return similar_word(word, flags);
    }
    if (chosen.empty()) return similar_word(word, names_of_commands(program));
  }
  return {};
}

}  // namespace

Option* Option::required() { return option_.required(), this; }
Option* Option::delimiter(char character) { return option_.delimiter(character), this; }
Option* Option::excludes(const Option* other) { return option_.excludes(&other->option_), this; }
Option* Option::one_of(const std::vector<std::string>& words) {
  words_ = words;
  return option_.check(CLI::IsMember(words)), this;
}
Option* Option::positive() {
  const auto why_not = [](const std::string& text) {
    double number = 0;
    const bool is_number = CLI::detail::lexical_cast(text, number);
    return is_number && number > 0 ? std::string() : "'" + text + "' is not a number above zero";
  };
  return option_.check(CLI::Validator(why_not, "POSITIVE")), this;
}
Option* Option::optional_argument() { return option_.expected(0, 1), this; }
Option* Option::between(double least, double most) {
  const auto why_not = [](const std::string& text) {
    double number = 0;
    const bool is_nan = CLI::detail::lexical_cast(text, number) && std::isnan(number);
    return is_nan ? "'" + text + "' is not a number" : std::string();
  };
  // A comparison with NaN is never true: Range lets it pass.
  return option_.check(CLI::Validator(why_not, ""))->check(CLI::Range(least, most)), this;
}

struct App::State {
  std::unique_ptr<CLI::App> program;  // null: a command
  CLI::App* app;
  std::map<CLI::Option*, Option> options = {};
  std::vector<std::unique_ptr<App>> commands = {};

  Option* keep(CLI::Option* option) { return &options.try_emplace(option, *option).first->second; }
};

App::App(const std::string& about, const std::string& name, const std::string& version) {
  auto program = std::make_unique<CLI::App>(about, name);
  program->set_version_flag("--version", version);
  program->require_subcommand(0, 1);
  program->get_formatter()->column_width(34);
  program->fallthrough();
  CLI::App* app = program.get();
  state_ = std::make_unique<State>(State{std::move(program), app});
}

App::App(std::unique_ptr<State> state) : state_(std::move(state)) {}
App::~App() = default;

App* App::add_subcommand(const std::string& name, const std::string& about) {
  auto state = std::make_unique<State>(State{nullptr, state_->app->add_subcommand(name, about)});
  state->app->footer("");  // the program's own would be inherited
  state_->commands.push_back(std::unique_ptr<App>(new App(std::move(state))));
  return state_->commands.back().get();
}

void App::footer(const std::string& text) { state_->app->footer(text); }

Option* App::add_flag(const std::string& name, bool& value, const std::string& help) {
  return state_->keep(state_->app->add_flag(name, value, help));
}

template <class T> Option* App::add_option(const std::string& name, T& value, const std::string& help) {
  return state_->keep(state_->app->add_option(name, value, help));
}

template <class T>
Option* App::add_option_function(const std::string& name, const std::function<void(const T&)>& use,
                                 const std::string& help) {
  return state_->keep(state_->app->add_option_function<T>(name, use, help));
}

using Strings = std::vector<std::string>;
template Option* App::add_option(const std::string&, std::string&, const std::string&);
template Option* App::add_option(const std::string&, Strings&, const std::string&);
template Option* App::add_option(const std::string&, int&, const std::string&);
template Option* App::add_option(const std::string&, std::int64_t&, const std::string&);
template Option* App::add_option(const std::string&, std::uint32_t&, const std::string&);
template Option* App::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option* App::add_option(const std::string&, double&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<std::uint32_t>&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<std::uint64_t>&, const std::string&);
template Option* App::add_option_function(const std::string&, const std::function<void(const std::string&)>&,
                                          const std::string&);
template Option* App::add_option_function(const std::string&, const std::function<void(const Strings&)>&,
                                          const std::string&);
template Option* App::add_option_function(const std::string&, const std::function<void(const double&)>&,
                                          const std::string&);
template Option* App::add_option_function(const std::string&, const std::function<void(const std::int64_t&)>&,
                                          const std::string&);

Option* App::get_option(const std::string& name) { return state_->keep(state_->app->get_option(name)); }

bool App::parsed() const { return state_->app->parsed(); }
std::size_t App::count(const std::string& option) const { return state_->app->count(option); }

std::string App::help() const { return state_->app->help(); }

std::vector<CommandDescription> App::describe() const {
  const auto describe_one = [](const State& state) {
    CommandDescription command{state.app->get_name(), state.app->get_description(), state.app->get_footer(), {}};
    for (CLI::Option* option : state.app->get_options([](CLI::Option*) { return true; })) {
      OptionDescription one;
      one.is_positional = option->get_positional();
      if (one.is_positional) one.names.push_back(option->get_name(true));
      for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
      one.help = option->get_description();
      one.is_required = option->get_required();
      one.takes_value = option->get_items_expected_max() > 0;
      const auto known = state.options.find(option);
      if (known != state.options.end()) one.words = known->second.words_;
      command.options.push_back(std::move(one));
    }
    return command;
  };
  std::vector<CommandDescription> all{describe_one(*state_)};
  for (const auto& command : state_->commands) all.push_back(describe_one(*command->state_));
  return all;
}

std::optional<int> App::parse(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "help")
    return print_help(std::vector<std::string>(arguments.begin() + 1, arguments.end()));
  try {
    state_->app->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return state_->app->exit(error);  // --help, --version
    const std::string meant = meant_by(*state_->app);
    throw Error(Code::bad_usage, error.what())
        .hint(meant.empty() ? "'ingot --help' and 'ingot help COMMAND' show what there is"
                            : "did you mean " + meant + "?");
  }
}

int App::print_help(const std::vector<std::string>& commands) const {
  const CLI::App* app = commands.empty() ? state_->app : nullptr;
  for (const auto& command : state_->commands)
    if (!app && command->state_->app->get_name() == commands.front()) app = command->state_->app;
  if (!app) {
    const std::string meant = similar_word(commands.front(), names_of_commands(*state_->app));
    throw Error(Code::bad_usage, "there is no command '" + commands.front() + "'")
        .hint(meant.empty() ? "'ingot help' lists them" : "did you mean " + meant + "?");
  }
  const std::string text = commands.empty() ? app->help() : app->help(state_->app->get_name());
  std::fputs(text.c_str(), stdout);
  return 0;
}

void refuse_argument(const std::string& option, const std::string& why) { throw CLI::ValidationError(option, why); }

}  // namespace ingot::cli
