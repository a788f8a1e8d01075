// Writing files: external data, own input, leftovers, full disks.
#include "ingot/onnx/writer.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <random>

#include "ingot/base/error.h"
#include "ingot/ir/equal.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/text.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot::onnx {
namespace {

namespace fs = std::filesystem;

Model weights(float value, std::int64_t count = 4096) {
  Model made = parse_text("<ir_version: 8, opset_import: [\"\" : 17]> g (float[N] x) => (y) {}");
  made.graph->add_initializer("small", Tensor::ints({7}));
  made.graph->add_initializer("a",
                              Tensor::of<float>({count}, std::vector<float>(static_cast<std::size_t>(count), value)));
  made.graph->add_initializer("b", Tensor::of<float>({1024}, std::vector<float>(1024, value + 1)));
  return made;
}

std::vector<std::string> files_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST(Write, ExternalDataStandsAlignedInOneFileBesideTheModel) {
  const test::TempDir dir;
  const Model model = weights(1);
  write(model, dir / "m.onnx", {.external_data = true});
  const auto files = files_in(dir.path());
  ASSERT_EQ(files.size(), 2u);
  EXPECT_THAT(files[1], testing::MatchesRegex("m.onnx-[0-9a-f]+\\.data"));
  EXPECT_EQ(fs::file_size(dir / files[1]), 4096u * 4 + 4096);
  EXPECT_TRUE(equal(model, read(dir / "m.onnx")));
  EXPECT_LT(fs::file_size(dir / "m.onnx"), 1000u);
}

TEST(Write, TheThresholdDecidesWhatStaysInside) {
  const test::TempDir dir;
  write(weights(1), dir / "m.onnx", {.external_data = true, .external_threshold = 10000});
  EXPECT_EQ(fs::file_size(dir / files_in(dir.path())[1]), 4096u * 4);
  write(weights(1), dir / "n.onnx", {.external_data = true, .external_threshold = 1 << 20});
  EXPECT_EQ(files_in(dir.path()).size(), 3u);  // n.onnx has no data file
}

TEST(Write, DataOfEarlierVersionsIsCollected) {
  const test::TempDir dir;
  test::write_text(dir / "m.onnx-mine.data", "not ours");
  write(weights(1), dir / "m.onnx", {.external_data = true});
  write(weights(2), dir / "m.onnx", {.external_data = true});
  EXPECT_EQ(files_in(dir.path()).size(), 3u);
  EXPECT_TRUE(equal(weights(2), read(dir / "m.onnx")));
  write(weights(3), dir / "m.onnx");
  EXPECT_EQ(files_in(dir.path()), (std::vector<std::string>{"m.onnx", "m.onnx-mine.data"}));
}

TEST(Write, AModelMayReplaceTheFileItIsReadFrom) {
  const test::TempDir dir;
  write(weights(1), dir / "m.onnx");
  Model model = read(dir / "m.onnx");
  model.producer_name = "changed";
  write(model, dir / "m.onnx");
  EXPECT_EQ(read(dir / "m.onnx").producer_name, "changed");
  EXPECT_TRUE(equal(model, read(dir / "m.onnx")));
  write(model, dir / "m.onnx", {.external_data = true});
  const Model external = read(dir / "m.onnx");
  write(external, dir / "m.onnx", {.external_data = true});
  write(external, dir / "m.onnx");
  EXPECT_TRUE(equal(model, read(dir / "m.onnx")));
  EXPECT_EQ(files_in(dir.path()), (std::vector<std::string>{"m.onnx"}));
}

TEST(Write, TheSameModelGivesTheSameFiles) {
  const test::TempDir one, two;
  for (const test::TempDir* dir : {&one, &two}) write(weights(1), *dir / "m.onnx", {.external_data = true});
  EXPECT_EQ(files_in(one.path()), files_in(two.path()));
  EXPECT_EQ(test::read_text(one / "m.onnx"), test::read_text(two / "m.onnx"));
}

TEST(Write, AFullDiskLeavesTheOldModelAndSaysSo) {
  const test::TempDir dir;
  write(weights(1), dir / "m.onnx");
  // The limit on the size of files stands in for a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  for (const bool external : {false, true}) {
    const rlimit small{.rlim_cur = 8192, .rlim_max = old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    Code code = Code::answer_is_no;
    try {
      write(weights(2, 1 << 20), dir / "m.onnx", {.external_data = external});
    } catch (const Error& error) {
      code = error.code();
    }
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
    EXPECT_EQ(code, Code::cannot_write);
    EXPECT_TRUE(equal(weights(1), read(dir / "m.onnx")));
    EXPECT_EQ(files_in(dir.path()), (std::vector<std::string>{"m.onnx"}));
  }
  if (!fs::exists("/dev/full")) return;
  // A real full device: the directory of a file system is not at hand, but the code is the same for ENOSPC.
  EXPECT_EQ(system_error(Code::cannot_write, "cannot write", "f", ENOSPC).code(), Code::disk_full);
}

TEST(Write, AKillAtAnyMomentLeavesTheOldModelOrTheNewOne) {
  const test::TempDir dir;
  const Model models[] = {weights(1, 1 << 16), weights(2, 1 << 16)};
  write(models[0], dir / "m.onnx", {.external_data = true});
  std::minstd_rand random(7);
  int seen[2] = {};
  for (int kill = 0; kill < 60; ++kill) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      // With and without external data, over and over, until the end.
      for (auto i = static_cast<std::size_t>(kill);; ++i)
        write(models[i % 2], dir / "m.onnx", {.external_data = i % 3 != 0});
    }
    ::usleep(static_cast<useconds_t>(random() % 40'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const Model left = read(dir / "m.onnx");
    const bool is_first = equal(left, models[0]), is_second = equal(left, models[1]);
    EXPECT_TRUE(is_first || is_second) << "after kill " << kill;
    ++seen[is_second];
  }
  std::cout << "left the first model " << seen[0] << " times, the second " << seen[1] << " times\n";
  EXPECT_GT(seen[0], 0);
  EXPECT_GT(seen[1], 0);
  // The next run collects what the killed ones left.
  write(models[0], dir / "m.onnx");
  EXPECT_EQ(files_in(dir.path()), (std::vector<std::string>{"m.onnx"}));
}

TEST(Write, FunctionsWithInitializersAreRefused) {
  Model model = weights(1);
  model.functions.push_back(std::make_unique<Function>());
  model.functions[0]->body->add_initializer("w", Tensor::scalar(1.0f));
  EXPECT_REFUSED(Code::bad_function, to_bytes(model));
}

}  // namespace
}  // namespace ingot::onnx
