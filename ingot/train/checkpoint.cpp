// Checkpoints: all of a run in one file each, checked by the archive's own sums.
#include "ingot/train/checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/file_set.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/npy/npy.h"

namespace ingot::train {
namespace {

namespace fs = std::filesystem;
using Arrays = std::vector<std::pair<std::string, formats::npy::NpyArray>>;

constexpr std::string_view kStem = "step-";
constexpr const char* kBest = "best.npz";

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

/// Checkpoints that a killed run was writing.
void collect_unfinished(const std::string& directory) {
  std::error_code none;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    const std::string name = entry.path().filename().string();
    const std::size_t end = name.find(".npz.ingot-");
    if (name.starts_with('.') && end != std::string::npos) names.push_back(name.substr(1, end + 3));
  }
  for (const std::string& name : names)
    if (name == kBest || name.starts_with(kStem)) (void)collect_leftovers(directory, name);
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

Array text_array(const std::string& text) {
  return Array::of<std::uint8_t>({static_cast<std::int64_t>(text.size())},
                                 std::vector<std::uint8_t>(text.begin(), text.end()));
}

std::string text_of(const RunSettings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) text += key + "=" + value + "\n";
  return text;
}

RunSettings settings_in(std::string_view text) {
  RunSettings settings;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t equals = std::min(line.find('='), line.size());
    settings.emplace_back(line.substr(0, equals), line.substr(std::min(equals + 1, line.size())));
    text = text.substr(std::min(line.size() + 1, text.size()));
  }
  return settings;
}

std::string setting(const RunSettings& settings, const std::string& key) {
  const auto found = std::ranges::find(settings, key, [](const auto& entry) { return entry.first; });
  return found == settings.end() ? "(nothing)" : found->second;
}

/// What must not differ and does, in words.
std::string differences(const RunSettings& then, const RunSettings& now) {
  std::string text;
  for (const auto& [key, value] : now)
    if (const std::string old = setting(then, key); old != value && key != kLength)
      text += "\n  " + key + ": then " + old + ", now " + value;
  return text;
}

constexpr std::int64_t kLoopNumbers = 7;

Array numbers_of(const LoopState& loop) {
  return Array::of<double>(
      {kLoopNumbers}, {static_cast<double>(loop.step), loop.epoch_loss, loop.best, static_cast<double>(loop.judgements),
                       static_cast<double>(loop.since_best), loop.plateau, static_cast<double>(loop.since_drop)});
}

LoopState loop_of(const formats::npy::NpyArray& npy) {
  if (npy.dtype != DType::f64 || npy.dims != std::vector<std::int64_t>{kLoopNumbers})
    throw Error(Code::bad_training_data, "the checkpoint does not say where the run was");
  const std::vector<double> n = Tensor(npy.dtype, npy.dims, npy.data).to_vector<double>();
  const auto count = [](double v) { return v >= 0 && v < 1e15 ? static_cast<std::uint64_t>(v) : 0; };
  return {count(n[0]), n[1], n[2], count(n[3]), count(n[4]), n[5], count(n[6])};
}

void write(const std::string& path, const LoopState& loop, const StepRunner& runner, const RunSettings& settings,
           const Fetch& fetch) {
  Arrays arrays;
  arrays.emplace_back("ingot.loop", to_npy(numbers_of(loop)));
  arrays.emplace_back("ingot.settings", to_npy(text_array(text_of(settings))));
  const std::vector<std::string>& names = runner.state_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    arrays.emplace_back("state." + std::to_string(i), to_npy(fetch ? fetch(names[i]) : runner.state(names[i])));
  AtomicFile file(path);
  formats::npy::write_npz(arrays, file);
  file.commit();
}

void make_directory(const std::string& directory) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) throw Error(Code::cannot_write, "the directory cannot be made: " + failed.message()).in_file(directory);
}

std::vector<Array> state_in(const Arrays& arrays, const StepRunner& runner, const std::string& path) {
  const std::vector<std::string>& names = runner.state_names();
  if (arrays.size() != names.size() + 2)
    throw Error(Code::bad_training_data, "the checkpoint is of another model or optimizer")
        .in_file(path)
        .hint("begin anew, with another --checkpoint directory");
  std::vector<Array> state;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& npy = arrays[i + 2].second;
    if (!runner.has_state(names[i])) {
      state.emplace_back();
      continue;
    }
    const Array now = runner.state(names[i]);
    if (npy.dtype != now.dtype() || npy.dims != now.dims())
      throw Error(Code::bad_training_data, "the checkpoint holds another '" + names[i] + "'").in_file(path);
    state.push_back(Array::from(Tensor(npy.dtype, npy.dims, npy.data)));
  }
  return state;
}

}  // namespace

void save_checkpoint(const std::string& directory, const LoopState& loop, const StepRunner& runner,
                     const RunSettings& settings, std::uint64_t keep, const Fetch& fetch) {
  make_directory(directory);
  char name[64];
  std::snprintf(name, sizeof name, "step-%08llu.npz", static_cast<unsigned long long>(loop.step));
  write((fs::path(directory) / name).string(), loop, runner, settings, fetch);
  collect_unfinished(directory);
  const auto all = checkpoints_in(directory);
  std::error_code failed;
  for (std::size_t i = std::max<std::uint64_t>(keep, 1); i < all.size(); ++i) fs::remove(all[i].second, failed);
}

void save_best(const std::string& directory, const LoopState& loop, const StepRunner& runner,
               const RunSettings& settings, const Fetch& fetch) {
  make_directory(directory);
  write((fs::path(directory) / kBest).string(), loop, runner, settings, fetch);
}

std::optional<LoopState> load_checkpoint(const std::string& directory, StepRunner& runner, const RunSettings& settings,
                                         bool forced, std::vector<std::string>& notes) {
  for (const auto& [step, path] : checkpoints_in(directory)) {
    Arrays arrays;
    LoopState loop;
    try {
      arrays = formats::npy::read_npz(map_file(path));
      if (arrays.size() < 2) throw Error(Code::bad_training_data, "it holds no run");
      loop = loop_of(arrays[0].second);
    } catch (const Error& error) {
      if (error.exit_code() == 5) throw;  // a limit: the file may be sound
      notes.push_back("checkpoint '" + path + "' is damaged and passed over: " + error.message());
      continue;
    }
    const RunSettings then = settings_in(arrays[1].second.data.text());
    const std::string changed = differences(then, settings);
    if (!changed.empty() && !forced)
      throw Error(Code::bad_usage, "the checkpoint was made with other settings:" + changed)
          .in_file(path)
          .hint("give the same settings, or --resume-force to go on with these");
    if (const std::string was = setting(then, kLength), is = setting(settings, kLength); was != is)
      notes.push_back("the run was meant to take " + was + " and now takes " + is +
                      "; a schedule of the learning rate follows the new length");
    const std::vector<Array> state = state_in(arrays, runner, path);
    for (std::size_t i = 0; i < state.size(); ++i)
      if (state[i]) runner.set_state(runner.state_names()[i], state[i]);
    return loop;
  }
  return std::nullopt;
}

std::optional<std::vector<Array>> load_best(const std::string& directory, const StepRunner& runner,
                                            std::vector<std::string>& notes) {
  const std::string path = (fs::path(directory) / kBest).string();
  std::error_code none;
  if (!fs::exists(path, none)) return std::nullopt;
  try {
    return state_in(formats::npy::read_npz(map_file(path)), runner, path);
  } catch (const Error& error) {
    if (error.exit_code() == 5) throw;
    notes.push_back("'" + path + "' is damaged and passed over: " + error.message());
    return std::nullopt;
  }
}

}  // namespace ingot::train
