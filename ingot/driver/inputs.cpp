// The data of a run: from and to files.
#include "ingot/driver/inputs.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/array_file.h"
#include "ingot/driver/datum.h"
#include "ingot/ir/model.h"
#include "ingot/train/dataset.h"

namespace ingot::driver {
namespace {

namespace fs = std::filesystem;

const Value* find_input(const Model& model, const std::string& name) {
  for (const Value* v : model.graph->inputs())
    if (v->name() == name) return v;
  return nullptr;
}

const Type& held_type(const Type& type) { return type.is_optional() ? type.inner() : type; }

DType wanted_type(const Model& model, const std::string& name) {
  const Value* input = find_input(model, name);
  return input ? held_type(input->type).elem : DType::undefined;
}

/// The lines of a text file.
Array load_texts(const Model& model, const std::string& name, const std::string& path, const LoadOptions& options) {
  const Value* input = find_input(model, name);
  if (input && held_type(input->type).elem != DType::string)
    throw Error(Code::bad_input, "a .txt file holds texts, and the model wants " + input->type.str())
        .in_file(path)
        .hint("numbers: a .npy file, or --data with a .csv file");
  const Bytes bytes = map_file(path);
  std::string_view rest = bytes.text();
  std::vector<std::string> lines;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (options.budget) options.budget->charge_memory(line.size() + sizeof(std::string));
    lines.emplace_back(line);
  }
  check_mapped_files();
  const auto rank = input && held_type(input->type).shape ? std::ssize(*held_type(input->type).shape) : 1;
  if (rank == 0 && lines.size() != 1)
    throw Error(Code::bad_input, "input '" + name + "' is one text, and the file has " + std::to_string(lines.size()))
        .in_file(path);
  Dims dims(static_cast<std::size_t>(rank), 1);
  if (rank > 0) dims[0] = std::ssize(lines);
  Array array(DType::string, dims);
  std::ranges::move(lines, array.mutable_data<std::string>().begin());
  return array;
}

Datum load_value(const Model& model, const std::string& name, const std::string& path, const LoadOptions& options) {
  if (path.ends_with(".npy")) return load_npy(path, wanted_type(model, name), options);
  if (path.ends_with(".txt")) return load_texts(model, name, path, options);
  if (!path.ends_with(".pb"))
    throw Error(Code::bad_usage, "an input must be a .npy, .pb or .txt file, a picture, a .npz file or a directory")
        .in_file(path)
        .hint("a table or many rows: --data; texts: a .txt file with one in each line");
  const Value* input = find_input(model, name);
  return load_datum(path, input ? input->type : Type(), options);
}

Array load_picture(const Model& model, const std::string& name, const std::string& path, const LoadOptions& options,
                   std::vector<std::string>& notes) {
  const Value* input = find_input(model, name);
  if (!input) throw Error(Code::bad_input, "the model has no input '" + name + "'").in_file(path);
  const train::Preparation prepared = train::preparation_of(model);
  if (!prepared.changes_numbers() && is_float(input->type.elem))
    notes.push_back("the model does not say how pixels are prepared: '" + name +
                    "' gets them as they are, from 0 to 255; see --scale, --mean and --std");
  return train::image_as_input(path, *input, prepared, options.budget);
}

void add_directory(const Model& model, const fs::path& directory, const LoadOptions& options, Inputs& inputs) {
  std::vector<const Value*> fed;
  for (const Value* v : model.graph->inputs())
    if (!v->initializer && !v->sparse_initializer) fed.push_back(v);
  const auto numbered = [&](std::size_t i) { return (directory / ("input_" + std::to_string(i) + ".pb")).string(); };
  if (fs::exists(numbered(fed.size()))) fed.assign(model.graph->inputs().begin(), model.graph->inputs().end());
  const std::size_t before = inputs.values.size();
  for (std::size_t i = 0; i < fed.size(); ++i)
    if (fs::exists(numbered(i)))
      inputs.values.push_back({fed[i]->name(), load_datum(numbered(i), fed[i]->type, options)});
  if (inputs.values.size() > before) {
    inputs.form = DataForm::pb;
    return;
  }
  for (const Value* v : model.graph->inputs()) {
    if (v->name().find('/') != std::string::npos) continue;
    const fs::path path = directory / (v->name() + ".npy");
    if (fs::exists(path)) inputs.values.push_back({v->name(), load_value(model, v->name(), path.string(), options)});
  }
  if (inputs.values.size() == before)
    throw Error(Code::bad_input, "the directory has neither input_0.pb nor NAME.npy of an input").in_file(directory);
}

/// Output names are the model's: whatever is no plain character of a file name is replaced.
std::string file_stem(const std::string& name, std::set<std::string>& taken) {
  std::string stem;
  for (const char c : name.substr(0, 100)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                          c == '-' || (c == '.' && !stem.empty());
    stem += is_plain ? c : '_';
  }
  if (stem.empty()) stem = "output";
  std::string unique = stem;
  for (int i = 1; !taken.insert(unique).second; ++i) unique = stem + "_" + std::to_string(i);
  return unique;
}

}  // namespace

Inputs load_inputs(const Model& model, const std::vector<std::string>& sources, const LoadOptions& options) {
  Inputs inputs;
  for (const std::string& source : sources) {
    if (fs::is_directory(source)) {
      add_directory(model, source, options, inputs);
    } else if (source.ends_with(".npz")) {
      for (auto& [name, array] : load_npz(
               source, [&](const auto& n) { return wanted_type(model, n); }, options))
        inputs.values.push_back({name, std::move(array)});
    } else {
      const std::size_t equals = source.rfind('=');
      if (equals == std::string::npos || equals == 0)
        throw Error(Code::bad_usage, "'" + source + "' does not name an input").hint("such as --in x=data.npy");
      const std::string name = source.substr(0, equals);
      const std::string path = source.substr(equals + 1);
      if (train::is_image_name(path))
        inputs.values.push_back({name, load_picture(model, name, path, options, inputs.notes)});
      else
        inputs.values.push_back({name, load_value(model, name, path, options)});
    }
  }
  return inputs;
}

std::vector<std::string> save_outputs(const Model& model, const std::vector<NamedDatum>& outputs,
                                      const std::string& directory, DataForm form) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw Error(Code::cannot_write, error.message()).in_file(directory);
  std::vector<std::string> paths;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Datum& value = outputs[i].value;
    const std::string stem = form == DataForm::pb ? "output_" + std::to_string(i) : file_stem(outputs[i].name, taken);
    const bool is_npy = form == DataForm::npy && value.array();
    const std::string path = (fs::path(directory) / (stem + (is_npy ? ".npy" : ".pb"))).string();
    if (is_npy)
      save_npy(*value.array(), path);
    else
      save_datum(value, model.graph->output(i)->type, path, outputs[i].name);
    paths.push_back(path);
  }
  return paths;
}

}  // namespace ingot::driver
