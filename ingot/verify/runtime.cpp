// Which runtimes there are, and where.
#include "ingot/verify/runtime.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "ingot/base/error.h"
#include "ingot/verify/driver_scripts.h"
#include "ingot/verify/runner.h"

namespace ingot::verify {
namespace {

namespace fs = std::filesystem;

std::string program_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (candidate[0] == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

fs::path own_directory() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : self.parent_path();
}

std::string packages_in(const fs::path& folder) {
  std::error_code error;
  for (const fs::path& candidate : {folder / "node_modules", folder})
    if (candidate.filename() == "node_modules" && fs::is_directory(candidate, error))
      return fs::absolute(candidate).string();
  return {};
}

constexpr const char* kMachine =
#if defined(__aarch64__)
    "linux_arm64";
#else
    "linux_amd64";
#endif

std::string tflite_library(const Peers& peers) {
  return peers.packages + "/tfjs-tflite-node/cc_deps/" + kMachine + "/libtensorflowlite_c.so";
}

std::vector<std::string> in_node(const Peers& peers, const char* script) {
  return {peers.node, "--input-type=module", "-e", script, "--", peers.packages};
}
std::vector<std::string> ort_command(const Peers& peers) { return in_node(peers, kOrtScript); }
std::vector<std::string> litert_command(const Peers& peers) { return in_node(peers, kLitertScript); }
std::vector<std::string> tfjs_command(const Peers& peers) { return in_node(peers, kTfjsScript); }
std::vector<std::string> tflite_command(const Peers& peers) { return {peers.tflite_driver, tflite_library(peers)}; }

}  // namespace

const std::vector<RuntimeInfo>& all_runtimes() {
  constexpr std::string_view kNoNode = "the program 'node' is not in the PATH";
  static const std::vector<RuntimeInfo> runtimes = {
      {.runtime = Runtime::ingot, .name = "ingot", .title = "Ingot", .make_runner = make_ingot_runner},
      {.runtime = Runtime::ort,
       .name = "ort",
       .title = "ONNX Runtime",
       .make_runner = make_ort_runner,
       .reads = "onnx",
       .package = "onnxruntime-node",
       .command = ort_command,
       .no_program = kNoNode},
      {.runtime = Runtime::tflite,
       .name = "tflite",
       .title = "TFLite",
       .make_runner = make_tflite_runner,
       .reads = "tflite",
       .package = "tfjs-tflite-node",
       .command = tflite_command,
       .no_program = "the program ingot-tflite-driver is not beside this one",
       .library = tflite_library},
      {.runtime = Runtime::litert,
       .name = "litert",
       .title = "LiteRT",
       .make_runner = make_litert_runner,
       .reads = "tflite",
       .package = "@litertjs/core",
       .command = litert_command,
       .no_program = kNoNode},
      {.runtime = Runtime::tfjs,
       .name = "tfjs",
       .title = "TF.js",
       .make_runner = make_tfjs_runner,
       .reads = "tfjs",
       .package = "@tensorflow/tfjs-converter",
       .command = tfjs_command,
       .no_program = kNoNode,
       .widens_halves = true},
  };
  return runtimes;
}

const RuntimeInfo& info_of(Runtime runtime) {
  return *std::ranges::find(all_runtimes(), runtime, &RuntimeInfo::runtime);
}

Runtime runtime_by_name(std::string_view name) {
  std::string known;
  for (const RuntimeInfo& info : all_runtimes()) {
    if (info.name == name) return info.runtime;
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  throw Error(Code::bad_usage, "there is no runtime '" + std::string(name) + "'").hint("known runtimes: " + known);
}

std::vector<Runtime> runtimes_for(const driver::Format& format) {
  std::vector<Runtime> runtimes;
  for (const std::string_view name : format.runtimes) runtimes.push_back(runtime_by_name(name));
  runtimes.push_back(Runtime::ingot);
  return runtimes;
}

Peers find_peers(const std::string& packages) {
  Peers peers;
  peers.node = program_in_path("node");
  const fs::path own = own_directory();
  const char* named = std::getenv("INGOT_PEERS");
  if (!packages.empty()) {
    peers.packages = packages_in(packages);
  } else if (named && *named) {
    peers.packages = packages_in(named);
  } else if (!own.empty()) {
    for (const fs::path& folder : {own, own.parent_path() / "lib" / "ingot", own / "../../peers"})
      if (peers.packages.empty()) peers.packages = packages_in(folder.lexically_normal());
  }
  for (const fs::path& candidate : {own / "ingot-tflite-driver", own / "../../cli/ingot-tflite-driver"})
    if (peers.tflite_driver.empty() && ::access(candidate.c_str(), X_OK) == 0)
      peers.tflite_driver = candidate.lexically_normal().string();
  return peers;
}

std::string find_program(const std::string& name) {
  if (name.find('/') == std::string::npos) return program_in_path(name);
  return ::access(name.c_str(), X_OK) == 0 ? fs::absolute(name).string() : std::string();
}

std::optional<std::string> why_missing(const Peers& peers, Runtime runtime) {
  const RuntimeInfo& info = info_of(runtime);
  if (!info.command) return std::nullopt;
  const std::string package(info.package);
  const fs::path needed = info.library ? fs::path(info.library(peers)) : fs::path(peers.packages) / package;
  if (peers.packages.empty() || !fs::exists(needed))
    return "the npm package " + package + " is not there; 'npm install --ignore-scripts " + package +
           "' installs it, INGOT_PEERS or --peers names the folder";
  if (info.command(peers)[0].empty()) return std::string(info.no_program);
  return std::nullopt;
}

}  // namespace ingot::verify
