#pragma once
#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/engine/named_datum.h"

namespace ingot::driver {

using engine::NamedDatum;

/// The form in which inputs were given, and outputs are written.
enum class DataForm { npy, pb };

struct Inputs {
  std::vector<NamedDatum> values;
  DataForm form = DataForm::npy;
  std::vector<std::string> notes{};  // what a user should know
};

/// Inputs as the command line names them: "NAME=x.npy", "NAME=x.pb", "NAME=texts.txt" (a text in each line),
/// "NAME=photo.png", "x.npz", or a directory with input_0.pb, ... (in the order of the model's inputs) or NAME.npy
/// files. Pictures are prepared as the model says.
Inputs load_inputs(const Model& model, const std::vector<std::string>& sources, const LoadOptions& options = {});

/// Inputs drawn from a seed, the same on every machine; docs/run.md says how. Sizes that the model leaves open are 1.
/// Inputs with a default keep it; names in `given` are left out.
std::vector<NamedDatum> random_inputs(const Model& model, std::uint32_t seed,
                                      const std::vector<NamedDatum>& given = {});

/// Writes outputs to a directory, which is made if it is missing: output_0.pb, ... or NAME.npy, where sequences and
/// maps are .pb files all the same. Returns the paths.
std::vector<std::string> save_outputs(const Model& model, const std::vector<NamedDatum>& outputs,
                                      const std::string& directory, DataForm form);

}  // namespace ingot::driver
