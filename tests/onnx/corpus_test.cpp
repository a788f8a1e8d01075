// Every model of the shared corpora, read, written and read again.
#include "tests/onnx/corpus.h"

#include "ingot/base/mapped_file.h"
#include "ingot/ir/equal.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/writer.h"
#include "tests/support/files.h"

namespace ingot::onnx {
namespace {

TEST(Corpus, ReadingWhatWasWrittenGivesTheSameModel) {
  test::for_each_shared_model([](const std::string& name, const Model& model) {
    check_invariants(model);
    const std::string once = to_bytes(model);
    const Model again = read(Bytes::own(once), "");
    std::string difference;
    EXPECT_TRUE(equal(model, again, &difference)) << name << ": " << difference;
    EXPECT_TRUE(once == to_bytes(again)) << name << ": the second writing differs from the first";
  });
}

TEST(Corpus, ExternalDataGivesTheSameModel) {
  constexpr int kEvery = 16;  // each takes several waits for the disk
  const test::TempDir dir;
  int count = 0;
  test::for_each_shared_model([&](const std::string& name, const Model& model) {
    if (model.graph->initializers().empty() || ++count % kEvery != 0) return;
    write(model, dir / "m.onnx", {.external_data = true, .external_threshold = 64});
    std::string difference;
    EXPECT_TRUE(equal(model, read(dir / "m.onnx"), &difference)) << name << ": " << difference;
  });
  if (IsSkipped()) return;
  EXPECT_GT(count, 500);
}

TEST(Corpus, CopiesEqualTheirOriginals) {
  test::for_each_shared_model([](const std::string& name, const Model& model) {
    std::string difference;
    EXPECT_TRUE(equal(model, model.clone(), &difference)) << name << ": " << difference;
  });
}

TEST(Corpus, ModelsLookLikeModels) {
  test::for_each_shared_model([](const std::string& name, const Model&) {
    EXPECT_TRUE(looks_like_onnx(map_file((*test::shared_dir() / name).string()))) << name;
  });
}

TEST(Corpus, OtherFormatsDoNotLookLikeModels) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the shared models are not there: set INGOT_SHARED";
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*shared / "corpus")) {
    const std::string kind = entry.path().extension();
    if (entry.path().string().find("ort_csharp_testdata") != std::string::npos) continue;  // models ending in .pb
    if (!entry.is_regular_file() || (kind != ".pb" && kind != ".tflite" && kind != ".json" && kind != ".npy")) continue;
    ++count;
    EXPECT_FALSE(looks_like_onnx(map_file(entry.path().string()))) << entry.path();
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace ingot::onnx
