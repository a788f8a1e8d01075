// Files of each family of formats with parts that are missing, wrong or too large, through what every command does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/hostile/commands.h"
#include "tests/hostile/mutants.h"
#include "tests/support/files.h"
#include "tests/support/survival.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

using Mutate = std::string (*)(const std::string& file, std::uint64_t seed);

/// Where the files of a family are, which of them are its models, and how they are changed.
struct Family {
  const char* name;
  std::vector<const char*> folders;  // of the shared directory
  std::vector<const char*> endings;  // of the names of models
  Mutate mutate;
  bool has_companions;              // other files stand beside the model
  const char* archive = nullptr;    // of the shared directory: further models, for long runs
  std::uintmax_t largest = 60'000;  // a mutant should be tried in milliseconds
};

constexpr std::uint64_t kLongRun = 1000;  // mutants from which on unpacking an archive is worth its time

std::vector<fs::path> models_of(const Family& family, const std::vector<fs::path>& roots) {
  std::vector<fs::path> paths;
  for (const fs::path& root : roots) {
    if (!fs::exists(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string name = entry.path().filename().string();
      const bool fits = std::ranges::any_of(family.endings, [&](const char* end) { return name.ends_with(end); });
      if (fits && entry.is_regular_file() && entry.file_size() > 0 && entry.file_size() <= family.largest)
        paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A place for one model's mutants, with the files that the model names beside it.
struct Stage {
  fs::path directory, model;

  Stage(const fs::path& source, bool has_companions) {
    directory = fs::path("/dev/shm") / ("ingot-hostile-" + std::to_string(::getpid()));
    if (!fs::exists("/dev/shm")) directory = fs::temp_directory_path() / directory.filename();
    fs::remove_all(directory);
    fs::create_directories(directory / "out");
    if (has_companions) fs::copy(source.parent_path(), directory, fs::copy_options::recursive);
    model = directory / source.filename();
    fs::remove(model);
  }
  ~Stage() { fs::remove_all(directory); }
  Stage(const Stage&) = delete;
};

/// Tries all mutants of a file; those that killed the process are named, and the rest is tried all the same.
std::vector<std::string> deaths_of(const fs::path& source, const Family& family, std::uint64_t first,
                                   std::uint64_t count) {
  const std::string file = contents(source);
  const Stage stage(source, family.has_companions);
  std::vector<std::string> deaths;
  for (std::uint64_t next = first; next < first + count;) {
    std::uint64_t* const at = &next;
    const std::string death = death_of([&](const Say& say) {
      bound_process();
      for (std::uint64_t seed = *at; seed < first + count; ++seed) {
        const std::string name = "seed " + std::to_string(seed) + " ";
        say(name + "mutate");
        restart_clock();
        const std::string mutant = family.mutate(file, seed);
        if (mutant.empty()) continue;
        std::ofstream(stage.model, std::ios::binary) << mutant;
        try_commands(stage.model.string(), (stage.directory / "out").string(), seed,
                     [&](const std::string& text) { say(name + text); });
      }
    });
    if (death.empty()) break;
    deaths.push_back(source.string() + ": " + death);
    if (const char* kept = std::getenv("INGOT_KEEP_MUTANTS"))
      fs::copy_file(stage.model, fs::path(kept) / (std::to_string(next) + "-" + stage.model.filename().string()),
                    fs::copy_options::overwrite_existing);
    const std::size_t place = death.find("seed ");
    next = place == std::string::npos ? first + count : std::stoull(death.substr(place + 5)) + 1;
  }
  return deaths;
}

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// INGOT_MUTANTS: how many in all; INGOT_FIRST_SEED: where they begin; INGOT_TEST_ONLY: files whose path has this;
/// INGOT_KEEP_MUTANTS: a directory for those that killed.
void expect_survival(const Family& family) {
  if (!shared_dir()) GTEST_SKIP() << "the files are not here: no shared directory";
  const std::uint64_t wanted = number_of("INGOT_MUTANTS", 60), first = number_of("INGOT_FIRST_SEED", 0);
  std::vector<fs::path> roots;
  for (const char* folder : family.folders) roots.push_back(*shared_dir() / folder);
  const TempDir unpacked;
  if (family.archive && wanted >= kLongRun && fs::exists(*shared_dir() / family.archive)) {
    const std::string unpack =
        "tar xf '" + (*shared_dir() / family.archive).string() + "' -C '" + unpacked.path().string() + "'";
    ASSERT_EQ(std::system(unpack.c_str()), 0) << unpack;
    roots.push_back(unpacked.path());
  }
  std::vector<fs::path> paths = models_of(family, roots);
  if (const char* only = std::getenv("INGOT_TEST_ONLY"))
    std::erase_if(paths, [&](const fs::path& p) { return p.string().find(only) == std::string::npos; });
  ASSERT_FALSE(paths.empty());
  const std::uint64_t each = std::max<std::uint64_t>(1, (wanted + paths.size() - 1) / paths.size());
  const std::size_t every = std::max<std::size_t>(1, paths.size() * each / wanted);
  std::uint64_t tried = 0;
  std::size_t died = 0;
  for (std::size_t i = 0; i < paths.size(); i += every) {
    // Other seeds for each file: a small sample shall meet all kinds of changes.
    for (const std::string& death : deaths_of(paths[i], family, first + i * 1000, each)) {
      ADD_FAILURE() << death;
      ++died;
    }
    tried += each;
  }
  std::printf("%s: %llu mutants of %zu files, %zu deaths\n", family.name, static_cast<unsigned long long>(tried),
              paths.size(), died);
}

TEST(Hostile, OnnxFiles) {
  expect_survival({"ONNX", {"onnx-backend-tests/node", "corpus/onnx"}, {".onnx"}, mutated_message, false});
}

TEST(Hostile, TfliteFiles) { expect_survival({"TFLite", {"corpus/tflite"}, {".tflite"}, mutated_tflite, false}); }

TEST(Hostile, TensorflowGraphs) {
  expect_survival({"TensorFlow",
                   {"corpus/frozen_pb"},
                   {".pb"},
                   mutated_message,
                   false,
                   "corpus/frozen_pb/dl4j_tf_graphs/public.tar.xz"});
}

TEST(Hostile, SavedModels) {
  expect_survival({"SavedModel", {"corpus/savedmodel"}, {"saved_model.pb"}, mutated_message, true});
}

TEST(Hostile, TensorflowJsModels) { expect_survival({"TF.js", {"corpus/tfjs"}, {".json"}, mutated_json, true}); }

TEST(Hostile, KerasArchives) {
  expect_survival({"Keras", {"corpus/keras"}, {".keras"}, mutated_archive, false, nullptr, 400'000});
}

TEST(Hostile, KerasHdf5) {
  expect_survival({"HDF5", {"corpus/keras"}, {".h5", ".hdf5"}, mutated_bytes, false, nullptr, 400'000});
}

TEST(Hostile, Pickles) {
  expect_survival(
      {"pickle", {"corpus/sklearn", "corpus/boosting"}, {".pkl", ".joblib", ".pickle"}, mutated_pickle, false});
}

TEST(Hostile, BoostingJson) { expect_survival({"boosting JSON", {"corpus/boosting"}, {".json"}, mutated_json, false}); }

TEST(Hostile, BoostingText) {
  expect_survival({"boosting text", {"corpus/boosting"}, {".txt", ".model", ".ubj", ".bst"}, mutated_text, false});
}

TEST(Hostile, BoostingBinary) {
  expect_survival({"boosting binary", {"corpus/boosting"}, {".model", ".ubj", ".bst", ".cbm"}, mutated_bytes, false});
}

TEST(Hostile, TorchArchives) {
  expect_survival(
      {"PyTorch", {"corpus/torch"}, {".pt", ".pth", ".pt1", ".ptl", ".jit"}, mutated_archive, false, nullptr, 400'000});
}

TEST(Hostile, Safetensors) {
  expect_survival({"safetensors", {"corpus/torch"}, {".safetensors"}, mutated_bytes, false, nullptr, 4'000'000});
}

}  // namespace
}  // namespace ingot::test
