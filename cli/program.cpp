// The program: global options, the choice of a command, errors and exit codes.
#include "program.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "command.h"
#include "harmless_output.h"
#include "ingot/base/budget.h"
#include "ingot/base/byte_size.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/other_programs.h"
#include "ingot/driver/plugin.h"
#include "ingot/driver/supervisor.h"
#include "terminal.h"
#include "user_settings.h"

namespace ingot::cli {
namespace {

constexpr const char* kAbout =
    "Ingot carries machine-learning models between frameworks through ONNX and keeps them alive on the other side.";

constexpr const char* kFirstSteps = R"(
First steps:
  ingot convert model.tflite -o model.onnx       from TFLite, Keras, TensorFlow, PyTorch, scikit-learn ..., and compared
  ingot convert model.onnx -o model.tflite       and out again; '--to' names what an extension does not tell
  ingot inspect model.onnx                       what is in it: inputs, outputs, operators, parameters
  ingot check model.onnx                         is it valid ONNX? every problem, with its place and remedy
  ingot convert model.onnx -o m.onnx --opset 17  the same model in another operator set
  ingot convert model.onnx -o model.onnxtxt      as text, to read, compare and edit; and back
  ingot run model.onnx --in x=data.npy           from inputs to outputs
  ingot verify model.tflite model.onnx           do two models give the same numbers? if not, where do they part?
  ingot train model.onnx --data train.csv --target class --loss cross_entropy --export trained.onnx
  ingot test DIR                                 stored test cases, run and compared
  ingot bench model.onnx --vs ort                how fast it is, beside ONNX Runtime
  ingot optimize model.onnx -o small.onnx        a smaller model that means the same
  ingot compile model.onnx -o model              as C++ source: model.h and model.cpp
  ingot diff a.onnx b.onnx                       what two models say differently
  ingot view model.onnx                          look at it in the browser; 'report' writes the page
  ingot ops --versions                           which operators there are, and how their versions convert

'ingot help COMMAND' explains each command. Exit codes: 0 done, 1 the answer is no, 2 usage, 3 bad input file,
4 unsupported, 5 a limit was hit, 6 I/O, 7 training diverged, 70 a bug in Ingot, 128 + signal when interrupted;
'ingot explain IG0312' tells of an error's code. Defaults of your own: 'ingot config'.)";

/// The error, and which of the user's settings it is about, if it is about any.
Error with_settings_told(const Error& error, const std::vector<std::string>& given,
                         const std::vector<std::string>& arguments) {
  if (error.code() != Code::bad_usage) return error;
  std::string said;
  for (const std::string& word : arguments) {
    if (std::ranges::find(given, word) != given.end()) continue;
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string value = "'" + word.substr(std::min(equals + 1, word.size())) + "'";
    if (error.message().find(word.substr(0, equals)) != std::string::npos ||
        error.message().find(value) != std::string::npos)
      said += " " + word;
  }
  if (said.empty()) return error;
  const std::string hint = error.hint_text().empty() ? "" : error.hint_text() + "; ";
  return Error(error.code(), error.message()).hint(hint + "from your settings (ingot config) came" + said);
}

std::chrono::milliseconds parse_time(const std::string& text) {
  std::size_t end = 0;
  double number = -1;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  const std::string unit = text.substr(end);
  const double scale = unit == "ms" ? 1 : unit.empty() || unit == "s" ? 1000 : unit == "min" ? 60000 : -1;
  if (!(number >= 0) || scale < 0 || number * scale > 1e15)
    throw Error(Code::bad_usage, "'" + text + "' is not a time").hint("such as 60s, 500ms or 2min");
  return std::chrono::milliseconds(static_cast<std::int64_t>(number * scale));
}

Limits limits_of(const Global& global) {
  Limits limits;
  if (global.untrusted) {
    limits.memory = std::uint64_t{2} << 30;
    limits.time = std::chrono::seconds(10);
  } else if (const std::uint64_t ram = physical_memory()) {
    limits.memory = ram / 4 * 3;
  }
  if (!global.max_memory.empty()) limits.memory = parse_size(global.max_memory);
  if (!global.max_time.empty()) limits.time = parse_time(global.max_time);
  return limits;
}

bool wants_json = false;

void report(const Error& error) {
  std::fprintf(stderr, "%s %s\n", err_style(Style::red, "error:").c_str(), error.what());
  if (!wants_json) return;
  Json details{{"code", code_name(error.code())}, {"message", error.message()}, {"exit_code", error.exit_code()}};
  if (!error.file().empty()) details["file"] = error.file();
  if (!error.node().empty()) details["node"] = error.node();
  if (!error.op().empty()) details["op"] = error.op();
  if (!error.hint_text().empty()) details["hint"] = error.hint_text();
  std::printf("%s\n", Json{{"error", details}}.dump(2).c_str());
  std::fflush(stdout);
}

/// What the command line asks for; the exit code.
int run_chosen(App& program, Global& global, const std::vector<Command>& commands,
               const std::vector<std::string>& arguments) {
  if (const std::optional<int> code = program.parse(arguments)) return *code;
  Budget budget(limits_of(global));
  global.budget = &budget;
  const driver::Supervisor supervisor(budget);
  if (global.untrusted) driver::forbid_other_programs();
  for (const std::string& plugin : global.plugins) driver::load_plugin(plugin);
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    const int code = command.run();
    check_mapped_files();  // what was said of a file that changed meanwhile does not count
    return code;
  }
  std::fputs(program.help().c_str(), stdout);
  return 0;
}

int run(int argc, char** argv) {
  App program(kAbout, "ingot", "ingot " INGOT_VERSION);
  program.footer(kFirstSteps);
  Global global;
  program.add_flag("-q,--quiet", global.quiet, "No progress, no notes: results and errors only");
  program.add_flag("--allow-links", global.allow_links, "Follow links from a model's directory (hub caches use them)");
  program.add_flag("--untrusted", global.untrusted, "For models you do not trust: 2 GiB, 10 s, no other runtimes");
  program.add_flag("--unchecked", global.unchecked, "Go on with models that 'check' refuses, at your own risk");
  program.add_option("--max-memory", global.max_memory, "Most memory to use, such as 4G (default: 3/4 of the RAM)");
  program.add_option("--max-time", global.max_time, "Longest time to take, such as 60s (default: no limit)");
  program.add_option("--plugin", global.plugins, "A shared library with more operators, formats or targets");

  const std::vector<Command> commands = {
#define INGOT_COMMAND(name) add_##name(program, global),
#include "commands.def"
#undef INGOT_COMMAND
  };
  const std::vector<std::string> given(argv + 1, argv + argc);
  const std::vector<std::string> arguments = with_settings(given, program.describe());
  wants_json = std::ranges::find(arguments, "--json") != arguments.end();
  try {
    return run_chosen(program, global, commands, arguments);
  } catch (const Error& error) {
    throw with_settings_told(error, given, arguments);
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  driver::survive_no_memory();
  make_output_harmless();
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
      const int why = failed_write();
      if (why == EPIPE) return 128 + SIGPIPE;  // who reads has seen enough: 'ingot ops | head'
      if (why == ENOMEM || why == 0) return driver::report_no_memory();  // 0: the text was not even made
      throw Error(Code::cannot_write, "the output could not be written");
    }
    return code;
  } catch (const Error& error) {
    if (const int signal = driver::Supervisor::caught_signal()) return 128 + signal;
    report(error);
    return error.exit_code();
  } catch (const std::length_error&) {  // larger than any memory
    return driver::report_no_memory();
  } catch (const std::bad_alloc&) {
    return driver::report_no_memory();
  } catch (const std::filesystem::filesystem_error& failed) {  // a path that is too long, leads in circles ...
    const Error error =
        system_error(Code::cannot_open, "cannot use it", failed.path1().string(), failed.code().value());
    report(error);
    return error.exit_code();
  } catch (const std::exception& error) {
    report(Error(Code::internal, std::string("unexpected: ") + error.what())
               .hint("this is a bug in Ingot; please report it"));
    return 70;
  }
}

}  // namespace ingot::cli
