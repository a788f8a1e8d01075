// Checkpoints: the state of a run in one file each, checked by the archive's own sums.
#include "ingot/train/checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/npy/npy.h"

namespace ingot::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStem = "step-";
constexpr const char* kStepName = "ingot.step";

/// Newest first.
std::vector<std::pair<std::uint64_t, std::string>> checkpoints_in(const std::string& directory) {
  std::vector<std::pair<std::uint64_t, std::string>> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kStem) || !name.ends_with(".npz")) continue;
    const std::string digits = name.substr(kStem.size(), name.size() - kStem.size() - 4);
    if (digits.empty() || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) continue;
    found.emplace_back(std::stoull(digits), entry.path().string());
  }
  std::ranges::sort(found, std::greater<>());
  return found;
}

formats::npy::NpyArray to_npy(const Array& array) {
  const Tensor tensor = array.to_tensor();
  formats::npy::NpyArray npy;
  npy.dtype = tensor.dtype();
  npy.dims = tensor.dims();
  npy.data = tensor.bytes();
  npy.item_bytes = array.size() ? array.byte_size() / static_cast<std::size_t>(array.size()) : 0;
  return npy;
}

}  // namespace

void save_checkpoint(const std::string& directory, std::uint64_t step, const StepRunner& runner, std::uint64_t keep) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) throw Error(Code::cannot_write, "the directory cannot be made: " + failed.message()).in_file(directory);
  char name[64];
  std::snprintf(name, sizeof name, "step-%08llu.npz", static_cast<unsigned long long>(step));
  std::vector<std::pair<std::string, formats::npy::NpyArray>> arrays;
  arrays.emplace_back(kStepName, to_npy(Array::scalar(static_cast<std::int64_t>(step))));
  const std::vector<std::string>& names = runner.state_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    arrays.emplace_back("state." + std::to_string(i), to_npy(runner.state(names[i])));
  AtomicFile file((fs::path(directory) / name).string());
  formats::npy::write_npz(arrays, file);
  file.commit();
  const auto all = checkpoints_in(directory);
  for (std::size_t i = std::max<std::uint64_t>(keep, 1); i < all.size(); ++i) fs::remove(all[i].second, failed);
}

std::optional<std::uint64_t> load_checkpoint(const std::string& directory, StepRunner& runner,
                                             std::vector<std::string>& notes) {
  for (const auto& [step, path] : checkpoints_in(directory)) {
    std::vector<std::pair<std::string, formats::npy::NpyArray>> arrays;
    try {
      arrays = formats::npy::read_npz(map_file(path));
    } catch (const Error& error) {
      notes.push_back("checkpoint '" + path + "' is damaged and passed over: " + error.message());
      continue;
    }
    const std::vector<std::string>& names = runner.state_names();
    if (arrays.size() != names.size() + 1)
      throw Error(Code::bad_training_data, "the checkpoint is of another model or optimizer").in_file(path);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& npy = arrays[i + 1].second;
      const Array now = runner.state(names[i]);
      if (npy.dtype != now.dtype() || npy.dims != now.dims())
        throw Error(Code::bad_training_data, "the checkpoint holds another '" + names[i] + "'").in_file(path);
      runner.set_state(names[i], Array::from(Tensor(npy.dtype, npy.dims, npy.data)));
    }
    return step;
  }
  return std::nullopt;
}

}  // namespace ingot::train
