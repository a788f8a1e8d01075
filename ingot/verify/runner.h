#pragma once
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/engine/inputs.h"
#include "ingot/verify/peer.h"

namespace ingot::driver {
class WorkDirectory;
}

namespace ingot::verify {

/// A value inside a model where it can be compared with another: the output of one of its operators.
struct Point {
  std::string name;    // of the value, as the file has it
  std::string op;      // what computes it, in the words of its framework; may be empty
  std::string source;  // the value that it stands for in the model that this one was converted from; may be empty
};

/// Points in running order, each name once.
class PointList {
 public:
  void add(Point point) {
    if (!point.name.empty() && seen_.insert(point.name).second) points_.push_back(std::move(point));
  }
  std::vector<Point> take() { return std::move(points_); }

 private:
  std::vector<Point> points_;
  std::unordered_set<std::string> seen_;
};

struct Answer {
  std::string error{};  // empty: it ran
  std::vector<engine::NamedDatum> outputs{};
  std::vector<engine::NamedDatum> points{};  // those asked for, in order
};

/// A model that was read, for whoever runs it; what it refers to lives longer than the runner.
struct Entry {
  const std::string& file;
  const driver::Loaded& loaded;
  const driver::LoadOptions& load;
  const Peers& peers;
  const driver::WorkDirectory& scratch;
};

/// One model in one runtime.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Runs on inputs by the model's names; `points` names further values that are wanted.
  virtual Answer run(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) = 0;
  /// The values inside that can be asked for, in running order.
  virtual std::vector<Point> points() const = 0;
  /// Of the runtime, known after a run.
  virtual std::string version() const { return {}; }
};

// How the runtimes of the table are run: runners/<name>.cpp.
std::unique_ptr<Runner> make_ingot_runner(const Entry& entry);
std::unique_ptr<Runner> make_ort_runner(const Entry& entry);
std::unique_ptr<Runner> make_tflite_runner(const Entry& entry);
std::unique_ptr<Runner> make_litert_runner(const Entry& entry);
std::unique_ptr<Runner> make_tfjs_runner(const Entry& entry);

/// What runs in a process of its own shares this.
class PeerRunner : public Runner {
 public:
  PeerRunner(const Entry& entry, Runtime runtime);
  ~PeerRunner() override;
  std::string version() const override { return version_; }

 protected:
  /// The answer to a request that should bring so many outputs.
  Answer ask(const PeerRequest& request, std::size_t output_count);
  std::string path_in_scratch(const char* name) const;
  const Model& model() const { return entry_.loaded.model; }

  Entry entry_;

 private:
  std::unique_ptr<Peer> peer_;
  std::string version_;
};

/// The outputs of a model's operators, each named once.
std::vector<Point> points_of(const Model& model);
/// The model with further outputs; names that it does not have are left out.
Model with_outputs(const Model& model, const std::vector<std::string>& names);
/// Runs a model in Ingot; further values can be asked for as above.
Answer run_in_ingot(const Model& model, const std::vector<engine::NamedDatum>& inputs,
                    const std::vector<std::string>& points, Budget* budget);

}  // namespace ingot::verify
