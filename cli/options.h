#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

// The command line. Only options.cpp sees the library that parses it: its headers cost more than most commands.

namespace ingot::cli {

/// An option of an App, which owns it. What is added returns the option itself.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}

  Option* required();
  /// One argument holds several values.
  Option* delimiter(char character);
  /// Not both.
  Option* excludes(const Option* other);
  Option* one_of(const std::vector<std::string>& words);
  Option* positive();
  /// The option may stand without its argument.
  Option* optional_argument();
  Option* between(double least, double most);

 private:
  friend class App;
  CLI::Option& option_;
  std::vector<std::string> words_{};  // that alone are taken; empty: any
};

/// What a command line may say, for completion and manual pages.
struct OptionDescription {
  std::vector<std::string> names;  // "-q", "--quiet"; of an argument without a name, what stands for it: "MODEL"
  std::string help;
  bool is_positional = false, is_required = false, takes_value = false;
  std::vector<std::string> words;  // that alone are taken; empty: any
};
struct CommandDescription {
  std::string name, about, footer;
  std::vector<OptionDescription> options;
};

/// The program or one of its commands. What options are written to must live as long.
class App {
 public:
  App(const std::string& about, const std::string& name, const std::string& version);
  App(const App&) = delete;
  App& operator=(const App&) = delete;
  ~App();

  App* add_subcommand(const std::string& name, const std::string& about);
  void footer(const std::string& text);

  Option* add_flag(const std::string& name, bool& value, const std::string& help);
  /// For the types that options.cpp lists; others do not link.
  template <class T> Option* add_option(const std::string& name, T& value, const std::string& help);
  template <class T>
  Option* add_option_function(const std::string& name, const std::function<void(const T&)>& use,
                              const std::string& help);
  /// One that was added before.
  Option* get_option(const std::string& name);

  /// Whether the command line chose this command, and how often it gave an option.
  bool parsed() const;
  std::size_t count(const std::string& option) const;

  std::string help() const;
  /// The program itself, then its commands in order.
  std::vector<CommandDescription> describe() const;
  /// The exit code, where nothing is left to do (--help, --version). Throws Error for what is not understood.
  std::optional<int> parse(const std::vector<std::string>& arguments);

 private:
  struct State;
  int print_help(const std::vector<std::string>& commands) const;
  explicit App(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

/// Refuses an argument from within add_option_function.
[[noreturn]] void refuse_argument(const std::string& option, const std::string& why);

}  // namespace ingot::cli
