#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/train/dataset.h"

namespace ingot::driver {

/// A model run on all rows of a file.
struct ScoreRequest {
  std::string model;
  LoadOptions load;
  InputShapes input_shapes;
  std::vector<std::string> inputs;  // the same for all rows, see load_inputs
  std::string data;                 // .csv, .npz, .npy, idx, or a directory of pictures
  train::DatasetOptions dataset;
  /// Rows at a time; a model that takes another number gets that, the last ones filled up. Nothing: as many as suit it.
  std::optional<std::uint64_t> batch{};
  std::string out;                // .csv, .npz or .npy
  std::vector<std::string> keep;  // columns of the data that stand before the answers
  bool is_raw = false;            // the model's own outputs only
  int threads = 0;
  bool is_fast = true;
  int part = 0, parts = 1;  // of neighbouring rows, of which only these are run
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress;
};

struct ScoreReport {
  std::uint64_t rows = 0, batches = 0, batch = 0;
  std::vector<std::string> notes;
};

/// Memory does not grow with the number of rows, unless the model says that rows depend on one another (its metadata
/// `ingot.rows` is `coupled`): then all go in at once, or are refused where it takes fewer. Errors name the file, and leave none behind.
ScoreReport score(const ScoreRequest& request);

}  // namespace ingot::driver
