#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ingot/base/json.h"
#include "ingot/verify/runtime.h"

namespace ingot {
class Budget;
}

namespace ingot::verify {

/// What became of one model of a collection.
struct ZooModel {
  std::string path;  // below the collection's directory
  std::uint64_t bytes = 0;
  std::int64_t changed = 0;   // seconds since 1970, of the file
  std::string format{};       // empty: not recognised
  bool is_converted = false;  // it is valid ONNX now
  std::string reason{};       // why not, or why it is not verified
  std::uint64_t nodes = 0, parameters = 0;
  std::string answer{};     // "same", "different", "unknown": its own runtime beside Ingot; empty: not asked
  std::string runtime{};    // which that was, with its version
  std::string figure{};     // of the output that is farthest from the reference: how far
  std::string threshold{};  // how far it may be
  double seconds = 0;
  std::uint64_t peak_bytes = 0;  // of what was charged
};

struct ZooOptions {
  bool verifies = true;
  Peers peers{};
  int threads = 1;               // models at once
  std::uint64_t most_bytes = 0;  // of memory per model; 0: no limit
  double most_seconds = 0;       // per model; 0: no limit
  bool allow_links = false;
  /// Told of each model that is done, one call at a time.
  std::function<void(const ZooModel&)> on_model{};
};

/// The models in and below a directory, by path: files whose contents some format recognises, those that are named as
/// models are (.onnx, .tflite ...), and directories that are one model. Links are not followed.
std::vector<ZooModel> find_models(const std::string& directory);

/// Loads, converts and verifies each; what fails is a line of the answer.
std::vector<ZooModel> walk_zoo(const std::string& directory, std::vector<ZooModel> models, const ZooOptions& options);

Json to_json(const ZooModel& model);
/// One line of JSON, and back; an empty path: it is no such line.
std::string to_line(const ZooModel& model);
ZooModel from_line(const std::string& line);

}  // namespace ingot::verify
