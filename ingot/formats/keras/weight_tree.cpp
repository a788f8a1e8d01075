// Weights in HDF5 files, as Keras 1 and 2 group them and as Keras 3 does.
#include "ingot/formats/keras/weight_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "ingot/base/error.h"

namespace ingot::formats::keras {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kMostObjects = 100'000;

/// Lists longer than 64 KiB are cut into name0, name1, ...
std::vector<std::string> attribute_texts(const hdf5::Object& object, const std::string& name) {
  if (const auto whole = object.attribute(name)) return whole->strings;
  std::vector<std::string> all;
  for (std::size_t i = 0;; ++i) {
    const auto part = object.attribute(name + std::to_string(i));
    if (!part) return all;
    all.insert(all.end(), part->strings.begin(), part->strings.end());
  }
}

std::string plain_name(std::string name) {
  if (name.ends_with(":0")) name.resize(name.size() - 2);
  std::ranges::replace(name, '\\', '/');  // written on Windows
  return name;
}

hdf5::Array read_array(const hdf5::Object& dataset) {
  hdf5::Array array = dataset.read();
  if (array.dtype == DType::undefined && array.item_bytes == 2 && attribute_text(dataset, "dtype") == "bfloat16")
    array.dtype = DType::bf16;
  return array;
}

/// "2" before "10".
bool is_before(const std::string& a, const std::string& b) {
  return std::pair(a.size(), std::string_view(a)) < std::pair(b.size(), std::string_view(b));
}

WeightTree read_object(const hdf5::Object& group, int depth, std::size_t& count) {
  if (depth > kDeepest || ++count > kMostObjects)
    throw Error(Code::bad_hdf5, "the HDF5 file nests its groups too deeply");
  WeightTree tree;
  for (const std::string& name : group.members()) {
    const hdf5::Object& member = *group.member(name);
    if (name == "vars" && member.is_group()) {
      tree.name = attribute_text(member, "name");
      std::vector<std::string> numbers = member.members();
      std::ranges::sort(numbers, is_before);
      for (const std::string& number : numbers)
        if (const hdf5::Object& variable = *member.member(number); variable.is_dataset())
          tree.values.push_back({number, read_array(variable)});
    } else if (member.is_group()) {
      tree.parts.emplace_back(name, read_object(member, depth + 1, count));
    }
  }
  return tree;
}

}  // namespace

std::string attribute_text(const hdf5::Object& object, const char* name) {
  const auto found = object.attribute(name);
  return found && found->strings.size() == 1 ? found->strings[0] : "";
}

std::vector<Weight> listed_weights(const hdf5::Object& group) {
  std::vector<Weight> weights;
  for (const std::string& name : attribute_texts(group, "weight_names")) {
    const hdf5::Object* dataset = hdf5::find(group, name);
    if (!dataset || !dataset->is_dataset())
      throw Error(Code::bad_reference, fmt::format("weight '{}' is not in the file", name));
    weights.push_back({plain_name(name), read_array(*dataset)});
  }
  return weights;
}

WeightTree layered_weights(const hdf5::Object& group) {
  WeightTree tree;
  for (const std::string& name : attribute_texts(group, "layer_names")) {
    const hdf5::Object* layer = hdf5::find(group, name);
    if (!layer) throw Error(Code::bad_reference, fmt::format("layer '{}' is not in the file", name));
    tree.parts.emplace_back(name, WeightTree{name, listed_weights(*layer), {}});
  }
  if (const hdf5::Object* own = group.member("top_level_model_weights")) tree.values = listed_weights(*own);
  return tree;
}

WeightTree object_weights(const hdf5::Object& root) {
  std::size_t count = 0;
  return read_object(root, 0, count);
}

void join(WeightTree& all, WeightTree more) {
  if (all.name.empty()) all.name = std::move(more.name);
  std::ranges::move(more.values, std::back_inserter(all.values));
  std::ranges::stable_sort(all.values, is_before, &Weight::name);
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < all.parts.size(); ++i) places.emplace(all.parts[i].first, i);
  std::vector<std::pair<std::string, WeightTree>> added;
  for (auto& [key, part] : more.parts)
    if (const auto found = places.find(key); found != places.end())
      join(all.parts[found->second].second, std::move(part));
    else
      added.emplace_back(std::move(key), std::move(part));
  std::ranges::move(added, std::back_inserter(all.parts));
}

}  // namespace ingot::formats::keras
