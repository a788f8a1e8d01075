// Every real TFLite file: read, written, read again.
#include <map>

#include "ingot/formats/tflite/flexbuffer.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"
#include "tests/formats/tflite/sample.h"
#include "tests/support/files.h"
#include "tflite_generated.h"

namespace ingot::formats::tflite {
namespace {

namespace fs = std::filesystem;

/// Files that are not sound, and why.
const std::map<std::string, Code> kRefused = {
    {"0_subgraphs.bin", Code::bad_reference},         // a model without a graph
    {"test_model_broken.bin", Code::unknown_format},  // lacks the format's mark
};

class TfliteCorpus : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<fs::path> shared = test::shared_dir();
    if (!shared || !fs::is_directory(*shared / "corpus/tflite"))
      GTEST_SKIP() << "no corpus of TFLite files: set INGOT_SHARED to the directory that has corpus/tflite";
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(*shared / "corpus/tflite"))
      if (entry.is_regular_file()) files_.push_back(entry.path());
    std::ranges::sort(files_);
    ASSERT_GE(files_.size(), 170U);
  }

  static Bytes load(const fs::path& path) { return Bytes::own(test::read_text(path)); }

  fs::path find(std::string_view name) const {
    const auto found = std::ranges::find(files_, name, [](const fs::path& path) { return path.filename().string(); });
    return found == files_.end() ? fs::path() : *found;
  }

  template <class Work> void for_each_sound(Work&& work) {
    for (const fs::path& path : files_) {
      if (kRefused.contains(path.filename().string())) continue;
      SCOPED_TRACE(path.string());
      const Bytes file = load(path);
      work(file, read(file));
    }
  }

  std::vector<fs::path> files_;
};

bool verifies(std::string_view file) {
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  return schema::VerifyModelBuffer(verifier);
}

TEST_F(TfliteCorpus, IsReadOrRefusedForTheRightReason) {
  std::size_t operators = 0;
  for (const fs::path& path : files_) {
    SCOPED_TRACE(path.string());
    const auto refused = kRefused.find(path.filename().string());
    const Error error = error_of([&] {
      const Model model = read(load(path));
      for (const SubGraph& graph : model.subgraphs) operators += graph.operators.size();
    });
    EXPECT_EQ(error.code(), refused == kRefused.end() ? Code::internal : refused->second) << error.what();
  }
  std::cout << files_.size() << " files, " << operators << " operators\n";
}

TEST_F(TfliteCorpus, IsRecognised) {
  for (const fs::path& path : files_)
    EXPECT_EQ(looks_like_tflite(load(path)), path.filename() != "test_model_broken.bin") << path;
}

TEST_F(TfliteCorpus, WrittenAndReadAgainIsTheSameModel) {
  for_each_sound([](const Bytes&, Model model) {
    model.unread.clear();  // what is not read cannot be written
    const std::string written = to_bytes(model);
    EXPECT_TRUE(verifies(written));
    EXPECT_TRUE(read(Bytes::own(written)) == model);
    EXPECT_EQ(to_bytes(read(Bytes::own(written))), written);
  });
}

TEST_F(TfliteCorpus, WithItsConstantsBehindTheFlatbufferIsTheSameModel) {
  for_each_sound([](const Bytes&, Model model) {
    model.unread.clear();
    const std::string written = to_bytes(model, {.largest_flatbuffer = 0});
    EXPECT_TRUE(verifies(written));
    EXPECT_TRUE(read(Bytes::own(written)) == model);
  });
}

TEST_F(TfliteCorpus, ConstantsAreViewsIntoTheFile) {
  for_each_sound([](const Bytes& file, const Model& model) {
    for (const Bytes& buffer : model.buffers) {
      if (buffer.empty()) continue;
      EXPECT_GE(buffer.data(), file.data());
      EXPECT_LE(buffer.data() + buffer.size(), file.data() + file.size());
    }
  });
}

TEST_F(TfliteCorpus, HasNoUnknownOperatorsTypesOrOptions) {
  for_each_sound([](const Bytes&, const Model& model) {
    for (const SubGraph& graph : model.subgraphs) {
      for (const Tensor& tensor : graph.tensors) EXPECT_NE(name(tensor.type), "");
      for (const Operator& op : graph.operators) {
        EXPECT_NE(name(op.code.builtin), "");
        EXPECT_FALSE(op.options.is_unknown());
      }
    }
  });
}

TEST_F(TfliteCorpus, MobilenetHasItsOptionsAndItsLabels) {
  const Model model = read(load(find("mobilenet_v1_0.25_128_quant.tflite")));
  const Operator& first = model.subgraphs[0].operators[0];
  EXPECT_EQ(describe(first.code), "CONV_2D");
  EXPECT_EQ(first.options.table_name(), "Conv2DOptions");
  EXPECT_EQ(first.options.get_int("stride_w"), 2);
  EXPECT_EQ(first.options.get_int("stride_h"), 2);
  EXPECT_EQ(first.options.get_int("dilation_w_factor"), 1);
  EXPECT_EQ(first.options.get_enum<Padding>("padding"), Padding::SAME);
  EXPECT_EQ(first.options.get_enum<ActivationFunctionType>("fused_activation_function"), ActivationFunctionType::RELU6);
  const Operator& last = model.subgraphs[0].operators.back();
  EXPECT_EQ(describe(last.code), "SOFTMAX");
  EXPECT_EQ(last.options.get_float("beta"), 1.0F);
  EXPECT_TRUE(model.associated_files.text().starts_with("PK"));
}

TEST_F(TfliteCorpus, BlockwiseQuantizationNamesItsScales) {
  const Model model = read(load(find("qwen_fc_blockwise_quantized.tflite")));
  std::size_t blockwise = 0;
  for (const Tensor& tensor : model.subgraphs[0].tensors)
    if (tensor.quantization)
      if (const auto* details = std::get_if<BlockwiseQuantization>(&tensor.quantization->details)) {
        ++blockwise;
        EXPECT_EQ(model.subgraphs[0].tensors[static_cast<std::size_t>(details->scales)].type, TensorType::FLOAT16);
      }
  EXPECT_EQ(blockwise, 1U);
}

TEST_F(TfliteCorpus, SparseWeightsAreSound) {
  const Model model = read(load(find("face_detection_full_range_sparse.tflite")));
  std::size_t sparse = 0;
  for (const Tensor& tensor : model.subgraphs[0].tensors) sparse += tensor.sparsity.has_value();
  EXPECT_EQ(sparse, 46U);  // one for each DENSIFY
}

TEST_F(TfliteCorpus, CustomOptionsAreReadByName) {
  const Model model = read(load(find("MTKEXT_CONV_2D.tflite")));
  for (const Operator& op : model.subgraphs[0].operators) {
    if (op.code.custom != "MTKEXT_CONV_2D") continue;
    const FlexValue options = read_flexbuffer(op.custom_options);
    ASSERT_NE(options.find("stride_w"), nullptr);
    EXPECT_EQ(options.find("stride_w")->integer(), 2);
    EXPECT_EQ(options.find("dilation_w_factor")->integer(), 3);
    EXPECT_EQ(options.find("no_such"), nullptr);
    return;
  }
  FAIL() << "no such operator";
}

TEST_F(TfliteCorpus, WhileNamesItsSubgraphs) {
  const Model model = read(load(find("multi_subgraphs_while.bin")));
  std::size_t loops = 0;
  for (const SubGraph& graph : model.subgraphs)
    for (const Operator& op : graph.operators) {
      if (op.code.builtin != BuiltinOperator::WHILE) continue;
      ++loops;
      EXPECT_NE(op.options.get_int("cond_subgraph_index"), op.options.get_int("body_subgraph_index"));
    }
  EXPECT_GT(loops, 0U);
}

TEST_F(TfliteCorpus, DataThatNothingRefersToIsReported) {
  EXPECT_THAT(read(load(find("simple_add_op.sm8750.tflite"))).unread,
              ::testing::ElementsAre(::testing::HasSubstr("bytes behind the model")));
}

}  // namespace
}  // namespace ingot::formats::tflite
