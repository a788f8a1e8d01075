// Files of PyTorch: TorchScript archives, and weights alone.
#include "ingot/base/error.h"
#include "ingot/base/file_set.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/formats/rows.h"
#include "ingot/driver/load.h"
#include "ingot/driver/torch/optimizer_state.h"
#include "ingot/driver/torch/save.h"
#include "ingot/formats/torch/archive.h"
#include "ingot/formats/torch/safetensors.h"
#include "ingot/frontends/torch/import.h"
#include "ingot/frontends/torch/weights.h"
#include "ingot/ir/model.h"

namespace ingot::driver::rows {
namespace {

namespace files = formats::torch;
namespace front = frontends::torch;

constexpr const char* kWeightsOnly = "the file holds weights alone: there is no graph to run";

Certainty recognise_torch(const Source& source) {
  return !source.is_directory && files::kind_of(source.contents) != files::Kind::none ? Certainty::certain
                                                                                      : Certainty::no;
}

Model stored_weights(const Bytes& file, Budget* budget) {
  if (files::looks_like_safetensors(file)) return front::import_weights(files::read_safetensors(file));
  if (files::kind_of(file) == files::Kind::legacy) return front::import_weights(files::Saved(file, budget), budget);
  const files::Archive archive(file, budget);
  if (archive.kind() != files::Kind::saved)
    throw Error(Code::bad_usage, "the file holds no weights alone")
        .hint("torch.save(model.state_dict(), ...) writes them");
  return front::import_weights(archive.saved("data"), budget);
}

void put_stored(front::Imported& imported, const LoadOptions& options) try {
  const Model weights = stored_weights(map_file(options.import.weights_from), options.budget);
  for (std::string& note : front::put_weights(imported.model, weights)) imported.notes.push_back(std::move(note));
} catch (Error& error) {
  error.in_file(options.import.weights_from);
  throw;
}

/// What torch.save wrote, in either of its forms.
files::Saved saved_file(const Bytes& file, Budget* budget) {
  if (files::kind_of(file) == files::Kind::legacy) return files::Saved(file, budget);
  const files::Archive archive(file, budget);
  if (archive.kind() != files::Kind::saved) throw Error(Code::bad_usage, "the file is none that torch.save wrote");
  return archive.saved("data");
}

void put_optimizer(Imported& made, const std::vector<front::Parameter>& parameters, const LoadOptions& options) try {
  torch::add_optimizer(made, saved_file(map_file(options.import.optimizer_state), options.budget), parameters, options);
} catch (Error& error) {
  if (error.code() != Code::bad_usage) error.in_file(options.import.optimizer_state);
  throw;
}

/// Whether the model is to be trained: then nothing of it is computed before.
bool learns(const ImportOptions& options) {
  const bool has_state = !options.optimizer_state.empty();
  if (!has_state && !(options.loss.empty() && options.optimizer.empty()))
    throw Error(Code::bad_usage, "--loss and --optimizer tell more of what --optimizer-state names")
        .hint("'ingot make-trainable' begins without a state");
  if (has_state && options.mode == Mode::inference)
    throw Error(Code::bad_usage, "--optimizer-state is of use where the model is trained").hint("leave --mode out");
  return has_state || options.mode.value_or(Mode::inference) != Mode::inference;
}

Imported load_program(const files::Archive& archive, const LoadOptions& options) {
  front::ImportOptions import;
  import.method = options.import.signature;
  import.input_shapes = options.import.input_shapes;
  import.input_types = options.import.input_types;
  import.input_values = options.import.input_values;
  import.allow_custom = options.import.allow_custom;
  import.is_trainable = learns(options.import);
  import.keeps_state = options.import.keep_state;
  import.budget = options.budget;
  const bool is_script = archive.kind() == files::Kind::script || archive.kind() == files::Kind::mobile;
  front::Imported imported =
      is_script ? front::import_script(archive, import) : front::import_exported(archive, import);
  if (!options.import.weights_from.empty()) put_stored(imported, options);
  Imported made{
      .model = std::move(imported.model), .notes = std::move(imported.notes), .folds_constants = !import.is_trainable};
  if (!options.import.optimizer_state.empty()) put_optimizer(made, imported.parameters, options);
  return made;
}

Imported load_torch(const Source& source, const LoadOptions& options) {
  const files::Kind kind = files::kind_of(source.contents);
  if (kind == files::Kind::legacy)
    return {.model = front::import_weights(files::Saved(source.contents, options.budget), options.budget),
            .notes = {kWeightsOnly}};
  const files::Archive archive(source.contents, options.budget);
  switch (archive.kind()) {
    case files::Kind::script:
    case files::Kind::mobile:
    case files::Kind::exported:
    case files::Kind::exported_flat:
      return load_program(archive, options);
    case files::Kind::saved:
      return {.model = front::import_weights(archive.saved("data"), options.budget), .notes = {kWeightsOnly}};
    case files::Kind::old_script:
      throw Error(Code::unsupported_format_version, "the archive is TorchScript of PyTorch 1.0 or 1.1")
          .hint("load it in a newer PyTorch and save it again");
    default:
      throw Error(Code::unknown_format, "the file is none of PyTorch's");
  }
}

std::string why_not_verified(const ImportOptions&) {
  return "PyTorch itself is not among the runtimes that are compared with";
}

Certainty recognise_safetensors(const Source& source) {
  return !source.is_directory && files::looks_like_safetensors(source.contents) ? Certainty::sure : Certainty::no;
}

Imported load_safetensors(const Source& source, const LoadOptions&) {
  return {.model = front::import_weights(files::read_safetensors(source.contents)), .notes = {kWeightsOnly}};
}

std::vector<std::string> save_safetensors(const Model& model, const std::string& path, const SaveOptions&) {
  const files::Safetensors content = front::weights_of(model);
  FileSet set(path);
  files::write_safetensors(content, set.model());
  set.commit();
  if (model.graph->node_count() == 0) return {};
  return {"the file holds the model's " + std::to_string(content.tensors.size()) + " weights alone, not its graph"};
}

constexpr std::string_view kTorchExtensions[] = {".pt", ".pth", ".pt1", ".ptl", ".jit", ".ts", ".torchscript", ".pt2"};
constexpr std::string_view kSafetensorsExtensions[] = {".safetensors"};
constexpr Vocabulary kOperators = {.name = "torch",
                                   .translated = front::translated_operators,
                                   .exported = torch::exported_operators,
                                   .obstacles = torch::obstacles_of};

}  // namespace

constinit const Format kTorchFormat = {
    .name = "torch",
    .title = "PyTorch",
    .extensions = kTorchExtensions,
    .operators = &kOperators,
    .recognise = recognise_torch,
    .load = load_torch,
    .import_options = {Option::signature, Option::functions, Option::weights_from, Option::input_types,
                       Option::input_values, Option::allow_custom, Option::mode, Option::keep_state, Option::loss,
                       Option::optimizer, Option::optimizer_state},
    .save = torch::save_script,
    .export_options = {Option::auto_cast},
    .why_not_verified = why_not_verified,
    .leaves_inputs_open = true,
    .is_one_file = true,
};

constinit const Format kTorchSourceFormat = {
    .name = "torch-source",
    .title = "PyTorch source code",
    .operators = &kOperators,
    .save = torch::save_source,
    .export_options = {Option::auto_cast},
    .why_not_run = "Python runs it, with PyTorch",
};

constinit const Format kSafetensorsFormat = {
    .name = "safetensors",
    .title = "safetensors",
    .extensions = kSafetensorsExtensions,
    .recognise = recognise_safetensors,
    .load = load_safetensors,
    .save = save_safetensors,
    .why_not_verified = why_not_verified,
    .why_not_run = "a safetensors file holds weights alone",
    .is_one_file = true,
};

}  // namespace ingot::driver::rows
