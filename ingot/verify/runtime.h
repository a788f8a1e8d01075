#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/driver/format.h"

namespace ingot {
class Budget;
}

namespace ingot::verify {

/// What models can be run in.
enum class Runtime { ingot, ort, tflite, litert, tfjs };

struct Entry;
struct Peers;
class PeerPool;
class Runner;

/// All that Ingot knows of one runtime: a row of the table. A new one is a row and its file in runners/.
struct RuntimeInfo {
  Runtime runtime;
  std::string_view name;   // as --with takes it
  std::string_view title;  // for people
  std::unique_ptr<Runner> (*make_runner)(const Entry&);
  std::string_view reads = {};    // the format whose files it opens; of others it gets a copy in that one. Empty: all
  std::string_view package = {};  // of npm; empty: built in
  /// The program that drives it, and its arguments; null: built in.
  std::vector<std::string> (*command)(const Peers&) = nullptr;
  std::string_view no_program = {};  // what to say where there is no such program
  /// The file without which the package is of no use; null: the package itself.
  std::string (*library)(const Peers&) = nullptr;
  bool widens_halves = false;  // it computes half precision in float
};

const std::vector<RuntimeInfo>& all_runtimes();
const RuntimeInfo& info_of(Runtime runtime);
/// Refuses unknown names with the list of those known.
Runtime runtime_by_name(std::string_view name);
/// The runtimes that run files of a format as they are, the one that the format is made for first. Ingot, which runs
/// whatever it can read, is the last one.
std::vector<Runtime> runtimes_for(const driver::Format& format);

/// Where the other runtimes are, all paths absolute, and what they may use.
struct Peers {
  std::string node;           // the program; empty: not found
  std::string packages;       // npm's folder node_modules; empty: not found
  std::string tflite_driver;  // our program that drives the TFLite library; empty: not found
  std::chrono::milliseconds time = std::chrono::seconds(120);  // for one answer
  std::uint64_t memory = 0;                                    // 0: no limit
  const Budget* budget = nullptr;                              // whoever waits for an answer may be interrupted
  std::shared_ptr<PeerPool> pool{};                            // processes to be used again; null: none is
};

/// `packages` is node_modules or the folder that holds it; if it is empty, $INGOT_PEERS is taken, else what lies beside
/// the running program or in the build tree that holds it.
Peers find_peers(const std::string& packages = {});

/// The absolute path of a program, looked up in $PATH where it has no slash; empty: there is none.
std::string find_program(const std::string& name);

/// What is missing for a runtime, and how to install it; nothing if it is there.
std::optional<std::string> why_missing(const Peers& peers, Runtime runtime);

}  // namespace ingot::verify
