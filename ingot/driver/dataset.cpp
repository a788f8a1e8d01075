// Examples for training from directories.
#include "ingot/driver/dataset.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "ingot/base/error.h"
#include "ingot/driver/array_file.h"
#include "ingot/driver/datum.h"
#include "ingot/ir/model.h"

namespace ingot::driver {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_entries(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory, failed)) entries.push_back(entry.path());
  if (failed) throw Error(Code::cannot_read, "the directory cannot be read: " + failed.message());
  // Shorter names first: test_data_set_2 comes before test_data_set_10.
  std::ranges::sort(entries, {},
                    [](const fs::path& p) { return std::pair(p.filename().string().size(), p.filename().string()); });
  return entries;
}

Array joined(const std::vector<Array>& parts, const std::string& name) {
  Dims dims = parts.front().dims();
  if (dims.empty()) throw Error(Code::bad_training_data, "'" + name + "' is a single number, not a batch");
  dims[0] = 0;
  for (const Array& part : parts) {
    const bool fits = part.dtype() == parts.front().dtype() && part.rank() == parts.front().rank() &&
                      std::equal(part.dims().begin() + 1, part.dims().end(), dims.begin() + 1, dims.end());
    if (!fits || part.dtype() == DType::string)
      throw Error(Code::bad_training_data,
                  "batches of '" + name + "' differ: " + parts.front().type().str() + " and " + part.type().str());
    dims[0] += part.dims()[0];
  }
  Array whole(parts.front().dtype(), dims);
  std::size_t at = 0;
  for (const Array& part : parts) {
    std::memcpy(whole.bytes() + at, part.bytes(), part.byte_size());
    at += part.byte_size();
  }
  return whole;
}

Array load_pb(const fs::path& path, const LoadOptions& options) {
  const Datum datum = load_datum(path.string(), Type::tensor(DType::undefined), options);
  if (!datum.array()) throw Error(Code::bad_training_data, "the file holds no tensor").in_file(path.string());
  return *datum.array();
}

train::Dataset from_batches(const std::vector<fs::path>& folders, const Model& model, const LoadOptions& options) {
  std::vector<std::string> names;
  for (const Value* v : model.graph->inputs())
    if (!v->initializer) names.push_back(v->name());
  const bool has_output = fs::exists(folders.front() / "output_0.pb");
  std::vector<std::vector<Array>> columns;
  for (const fs::path& folder : folders) {
    std::size_t i = 0;
    for (;; ++i) {
      const fs::path file = folder / ("input_" + std::to_string(i) + ".pb");
      if (!fs::exists(file)) break;
      if (columns.size() <= i) columns.resize(i + 1);
      columns[i].push_back(load_pb(file, options));
    }
    if (i < names.size())
      throw Error(Code::bad_training_data,
                  "there are " + std::to_string(i) + " input files for " + std::to_string(names.size()) + " inputs")
          .in_file(folder.string());
    if (i == names.size() && has_output) {
      columns.resize(std::max(columns.size(), i + 1));
      columns[i].push_back(load_pb(folder / "output_0.pb", options));
    }
  }
  train::Dataset data;
  for (std::size_t i = 0; i < columns.size() && i <= names.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : "target";
    data.columns.emplace_back(name, joined(columns[i], name));
    if (i == names.size()) data.target = name;
  }
  return data;
}

bool has_images(const fs::path& directory) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none))
    if (entry.is_regular_file(none) && train::is_image_name(entry.path().string())) return true;
  return false;
}

/// Names in the order of the alphabet, whatever their length: as others number classes of folders.
std::vector<std::string> subdirectories(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none))
    if (entry.is_directory(none) && has_images(entry.path())) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// Of folders train, val, test the one asked for; else the directory itself.
fs::path part_of(const fs::path& directory, const std::string& part) {
  std::vector<std::string> names = {part};
  if (part == "test") names.insert(names.end(), {"val", "valid", "validation"});
  for (const std::string& name : names)
    if (!subdirectories(directory / name).empty()) return directory / name;
  return directory;
}

const Value& picture_input(const Model& model) {
  const Value* found = nullptr;
  for (const Value* v : model.graph->inputs())
    if (!v->initializer && (!found || (v->type.shape && v->type.shape->size() == 4 && !found->type.shape))) found = v;
  if (!found) throw Error(Code::bad_input, "the model has no input for pictures");
  return *found;
}

/// A directory per class, or pictures without classes.
std::optional<train::Dataset> from_images(const fs::path& directory, const train::DatasetOptions& options,
                                          const Model& model, Budget* budget) {
  const std::vector<std::string> folders = subdirectories(directory);
  if (folders.empty() && !has_images(directory)) return std::nullopt;
  train::Dataset data;
  data.preparation = options.preparation();
  if (data.preparation.resize.empty()) data.preparation.resize = "stretch";
  std::vector<std::string>& classes = data.preparation.classes;
  if (classes.empty()) classes = folders;
  std::vector<std::string> paths;
  std::vector<std::int64_t> targets;
  for (const std::string& folder : folders.empty() ? std::vector<std::string>{"."} : folders) {
    const auto number = std::ranges::find(classes, folder) - classes.begin();
    if (!folders.empty() && number == std::ssize(classes)) {
      std::string known;
      for (const std::string& name : classes) known += (known.empty() ? "'" : ", '") + name + "'";
      throw Error(Code::bad_training_data, "the folder '" + folder + "' is no class that the model knows: " + known)
          .hint("'train --classes N' gives the model a new head for other classes");
    }
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folders.empty() ? directory : directory / folder))
      if (entry.is_regular_file() && train::is_image_name(entry.path().string()))
        files.push_back(entry.path().string());
    std::ranges::sort(files);
    paths.insert(paths.end(), files.begin(), files.end());
    targets.insert(targets.end(), files.size(), number);
  }
  const train::ImageInput input =
      train::image_input(picture_input(model), train::parse_image_size(data.preparation.resize));
  data.images.emplace(std::move(paths), input.channels, input.size, budget);
  if (!folders.empty()) {
    data.target = "class";
    data.columns.emplace_back("class", Array::of<std::int64_t>({std::ssize(targets)}, targets));
  }
  return data;
}

}  // namespace

train::DatasetOptions known_to(const Model& model, train::DatasetOptions options) {
  options.known = train::preparation_of(model);
  options.inputs.clear();
  for (const Value* v : model.graph->inputs()) {
    if (v->initializer || !v->type.is_tensor()) continue;
    train::TableInput input{v->name(), v->type.elem};
    if (v->type.shape && !v->type.shape->empty())
      if (const auto rest = static_dims(Shape(v->type.shape->begin() + 1, v->type.shape->end())))
        input.width = tensor_size(*rest);
    options.inputs.push_back(std::move(input));
  }
  return options;
}

train::Dataset load_dataset(const std::string& path, const train::DatasetOptions& given, const Model& model,
                            const LoadOptions& load) {
  const train::DatasetOptions options = known_to(model, given);
  if (!fs::is_directory(path)) return train::load_dataset(path, options);
  try {
    std::vector<fs::path> folders;
    train::Dataset data;
    if (fs::exists(fs::path(path) / "input_0.pb")) folders.emplace_back(path);
    for (const fs::path& entry : sorted_entries(path)) {
      if (fs::exists(entry / "input_0.pb")) folders.push_back(entry);
      if (entry.extension() == ".npy")
        data.columns.emplace_back(entry.stem().string(), load_npy(entry.string(), DType::undefined, load));
    }
    if (!folders.empty()) data = from_batches(folders, model, load);
    if (data.columns.empty())
      if (auto images = from_images(part_of(path, options.part), options, model, load.budget)) {
        train::finish(*images, options);
        return std::move(*images);
      }
    if (data.columns.empty())
      throw Error(Code::bad_training_data,
                  "the directory holds neither .npy files, nor batches such as input_0.pb, nor pictures or folders of "
                  "them");
    if (!options.target.empty()) {
      if (!data.find(options.target))
        throw Error(Code::bad_training_data, "there is no array '" + options.target + "' for the targets");
      data.target = options.target;
    }
    for (const char* usual : {"y", "target", "targets", "label", "labels"})
      if (data.target.empty() && data.find(usual)) data.target = usual;
    train::finish(data, options);
    return data;
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
}

}  // namespace ingot::driver
