// Files that no sound writer makes: damaged, cut short, or built to mislead.
#include <random>

#include "ingot/base/budget.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"
#include "tests/formats/tflite/sample.h"
#include "tests/support/files.h"
#include "tflite_generated.h"

namespace ingot::formats::tflite {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

Code code_of(std::string file) {
  return error_of([&] { read(Bytes::own(std::move(file))); }).code();
}

/// A file whose one operator, tensor and buffer are what the makers return.
struct Raw {
  std::uint32_t version = 3;
  std::function<Offset<schema::Operator>(FlatBufferBuilder&)> op{};
  std::function<Offset<schema::Tensor>(FlatBufferBuilder&)> tensor{};
  std::function<Offset<schema::Buffer>(FlatBufferBuilder&)> buffer{};
  std::int8_t old_code = 0;
  std::int32_t new_code = 0;

  std::string file() const {
    FlatBufferBuilder b;
    std::vector<Offset<schema::Operator>> ops;
    std::vector<Offset<schema::Tensor>> tensors;
    std::vector<Offset<schema::Buffer>> buffers = {schema::CreateBuffer(b)};
    if (op) ops.push_back(op(b));
    if (tensor) tensors.push_back(tensor(b));
    if (buffer) buffers.push_back(buffer(b));
    const auto code = schema::CreateOperatorCode(b, old_code, 0, 1, static_cast<schema::BuiltinOperator>(new_code));
    const auto graph = schema::CreateSubGraphDirect(b, &tensors, nullptr, nullptr, &ops);
    const std::vector<Offset<schema::OperatorCode>> codes = {code};
    const std::vector<Offset<schema::SubGraph>> graphs = {graph};
    b.Finish(schema::CreateModelDirect(b, version, &codes, &graphs, nullptr, &buffers), schema::ModelIdentifier());
    return {reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()};
  }
};

TEST(TfliteHostile, OtherFilesAreNotTflite) {
  EXPECT_EQ(code_of(""), Code::unknown_format);
  EXPECT_EQ(code_of("TFL3"), Code::unknown_format);
  EXPECT_EQ(code_of("\x08\x07\x12\x04onnx"), Code::unknown_format);
  EXPECT_EQ(code_of(std::string("\x1c\0\0\0TFL3", 8)), Code::bad_flatbuffer);
  EXPECT_EQ(code_of(Raw{.version = 2}.file()), Code::unsupported_format_version);
}

TEST(TfliteHostile, EveryCutIsRefused) {
  const std::string file = to_bytes(sample_model());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Error error = error_of([&] { read(Bytes::own(file.substr(0, size))); });
    EXPECT_EQ(error.exit_code(), 3) << size << ": " << error.what();
  }
}

TEST(TfliteHostile, OperatorCodesMustExist) {
  const auto with_index = [](std::uint32_t index) {
    return Raw{.op = [=](FlatBufferBuilder& b) { return schema::CreateOperator(b, index); }}.file();
  };
  EXPECT_EQ(code_of(with_index(0)), Code::internal);
  EXPECT_EQ(code_of(with_index(1)), Code::bad_reference);
  EXPECT_EQ(code_of(with_index(UINT32_MAX)), Code::bad_reference);
}

TEST(TfliteHostile, OperatorCodesAreTheLargerOfBothFields) {
  const auto builtin = [](int old_code, int new_code) {
    const Raw raw{.op = [](FlatBufferBuilder& b) { return schema::CreateOperator(b, 0); },
                  .old_code = static_cast<std::int8_t>(old_code),
                  .new_code = new_code};
    return static_cast<int>(read(Bytes::own(raw.file())).subgraphs[0].operators[0].code.builtin);
  };
  EXPECT_EQ(builtin(14, 0), 14);  // files older than the newer field
  EXPECT_EQ(builtin(14, 14), 14);
  EXPECT_EQ(builtin(127, 150), 150);
  EXPECT_EQ(builtin(127, 5000), 5000);  // newer than Ingot: kept
  const auto code = [](int old_code, int new_code) {
    return code_of(Raw{.op = [](FlatBufferBuilder& b) { return schema::CreateOperator(b, 0); },
                       .old_code = static_cast<std::int8_t>(old_code),
                       .new_code = new_code}
                       .file());
  };
  EXPECT_EQ(code(127, 0), Code::bad_reference);
  EXPECT_EQ(code(-1, 0), Code::bad_reference);
  EXPECT_EQ(code(0, -5), Code::bad_reference);
}

TEST(TfliteHostile, DataBehindTheFlatbufferMustBeInTheFile) {
  const auto with_buffer = [](std::uint64_t offset, std::uint64_t size) {
    return code_of(
        Raw{.buffer = [=](FlatBufferBuilder& b) { return schema::CreateBuffer(b, 0, offset, size); }}.file());
  };
  EXPECT_EQ(with_buffer(0, 1000), Code::internal);  // offsets up to 1 mean: not there
  EXPECT_EQ(with_buffer(1, 1000), Code::internal);
  EXPECT_EQ(with_buffer(2, 16), Code::internal);
  EXPECT_EQ(with_buffer(2, 100000), Code::bad_reference);
  EXPECT_EQ(with_buffer(100000, 0), Code::bad_reference);
  EXPECT_EQ(with_buffer(UINT64_MAX, 2), Code::bad_reference);
  EXPECT_EQ(with_buffer(2, UINT64_MAX), Code::bad_reference);
  const auto with_options = [](std::uint64_t offset, std::uint64_t size) {
    return code_of(Raw{.op = [=](FlatBufferBuilder& b) {
                     schema::OperatorBuilder op(b);
                     op.add_large_custom_options_offset(offset);
                     op.add_large_custom_options_size(size);
                     return op.Finish();
                   }}.file());
  };
  EXPECT_EQ(with_options(2, 16), Code::internal);
  EXPECT_EQ(with_options(2, UINT64_MAX - 1), Code::bad_reference);
}

TEST(TfliteHostile, ShapesMustBeSound) {
  const auto with_shape = [](std::vector<std::int32_t> shape) {
    return code_of(Raw{.tensor = [=](FlatBufferBuilder& b) { return schema::CreateTensorDirect(b, &shape); }}.file());
  };
  EXPECT_EQ(with_shape({1, 224, 224, 3}), Code::internal);
  EXPECT_EQ(with_shape({-1, 3}), Code::internal);
  EXPECT_EQ(with_shape({INT32_MIN}), Code::bad_tensor);
  EXPECT_EQ(with_shape({INT32_MAX, INT32_MAX, INT32_MAX}), Code::bad_tensor);
}

TEST(TfliteHostile, LongsMayLieAnywhere) {
  // The verifier asks only for the length of a list to be aligned, to four bytes.
  std::string file = Raw{.tensor = [](FlatBufferBuilder& b) {
                       const std::vector<std::int64_t> zero_points = {0x1122334455667788, 7};
                       return schema::CreateTensor(
                           b, 0, schema::TensorType::INT8, 0, 0,
                           schema::CreateQuantizationParametersDirect(b, nullptr, nullptr, nullptr, &zero_points));
                     }}.file();
  const schema::Model* model = schema::GetModel(file.data());
  auto* quantization =
      reinterpret_cast<const flatbuffers::Table*>(model->subgraphs()->Get(0)->tensors()->Get(0)->quantization());
  auto* field = const_cast<std::uint8_t*>(quantization->GetAddressOf(schema::QuantizationParameters::VT_ZERO_POINT));
  ASSERT_NE(field, nullptr);
  // A list of its own behind the file, on every multiple of four.
  for (const std::size_t shift : {0, 4, 8, 12}) {
    std::string longer = file + std::string(shift, '\0');
    const std::size_t field_at = static_cast<std::size_t>(reinterpret_cast<char*>(field) - file.data());
    const auto distance = static_cast<std::uint32_t>(longer.size() - field_at);
    std::memcpy(longer.data() + field_at, &distance, sizeof distance);
    longer += std::string("\1\0\0\0\x2a\0\0\0\0\0\0\0\0\0\0\0", 16);
    const Model read_back = read(Bytes::own(longer));
    EXPECT_THAT(read_back.subgraphs[0].tensors[0].quantization->zero_point, ::testing::ElementsAre(42));
  }
}

TEST(TfliteHostile, OptionsNewerThanIngotAreKeptByNumberAndNotWritten) {
  const Raw raw{.op = [](FlatBufferBuilder& b) {
    const auto table = schema::CreateSoftmaxOptions(b, 1.0F).Union();
    return schema::CreateOperator(b, 0, 0, 0, static_cast<schema::BuiltinOptions>(200), table);
  }};
  const Model model = read(Bytes::own(raw.file()));
  EXPECT_TRUE(model.subgraphs[0].operators[0].options.is_unknown());
  EXPECT_EQ(error_of([&] { to_bytes(model); }).code(), Code::not_writable);
}

TEST(TfliteHostile, FieldsNewerThanIngotAreReported) {
  const Raw raw{.tensor = [](FlatBufferBuilder& b) {
    const auto begin = b.StartTable();
    b.AddElement<std::uint8_t>(static_cast<flatbuffers::voffset_t>(4 + 2 * 20), 7, 0);
    return Offset<schema::Tensor>(b.EndTable(begin));
  }};
  EXPECT_THAT(read(Bytes::own(raw.file())).unread, ::testing::ElementsAre("tensor: field 20"));
}

TEST(TfliteHostile, SharedTablesDoNotMultiplyWithoutLimit) {
  // 300 KB that describe 2.5 billion numbers: each of 50,000 tensors has the same long shape.
  FlatBufferBuilder b;
  const std::vector<std::int32_t> ones(50000, 1);
  const auto tensor = schema::CreateTensorDirect(b, &ones);
  const std::vector<Offset<schema::Tensor>> tensors(50000, tensor);
  const std::vector<Offset<schema::SubGraph>> graphs = {schema::CreateSubGraphDirect(b, &tensors)};
  b.Finish(schema::CreateModelDirect(b, 3, nullptr, &graphs), schema::ModelIdentifier());
  EXPECT_EQ(code_of({reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize()}), Code::memory_limit);
}

TEST(TfliteHostile, ReadingKeepsToItsBudget) {
  const Bytes file = Bytes::own(to_bytes(sample_model()));
  const auto code = [&](const Limits& limits) {
    Budget budget(limits);
    const Code found = error_of([&] { read(file, {.budget = &budget}); }).code();
    EXPECT_EQ(budget.memory(), 0U);
    return found;
  };
  EXPECT_EQ(code({}), Code::internal);
  EXPECT_EQ(code({.memory = 1000}), Code::memory_limit);
  EXPECT_EQ(code({.nodes = 0}), Code::node_limit);
  EXPECT_EQ(code({.time = std::chrono::milliseconds(0)}), Code::time_limit);
}

/// Flips bytes: whatever comes out is read or refused, and what is read can be written and read again.
void mutate(const std::string& good, int rounds, std::mt19937& random, std::size_t& refused) {
  for (int i = 0; i < rounds; ++i) {
    std::string bad = good;
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips) {
      const std::size_t place = random() % bad.size();
      bad[place] = random() % 2 ? static_cast<char>(random()) : static_cast<char>(bad[place] ^ (1 << random() % 8));
    }
    const Error error = error_of([&] {
      const Model model = read(Bytes::own(bad));
      const std::string written = to_bytes(model);
      ASSERT_EQ(to_bytes(read(Bytes::own(written))), written);
    });
    if (error.code() == Code::internal) {
      EXPECT_EQ(error.message(), "no error");
    } else {
      ++refused;
    }
  }
}

TEST(TfliteHostile, FlippedBytesNeverCrash) {
  std::mt19937 random(1);
  std::size_t refused = 0;
  mutate(to_bytes(sample_model()), 5000, random, refused);
  EXPECT_GT(refused, 1000U);
}

TEST(TfliteHostile, FlippedBytesOfRealFilesNeverCrash) {
  const auto shared = test::shared_dir();
  if (!shared || !std::filesystem::is_directory(*shared / "corpus/tflite"))
    GTEST_SKIP() << "no corpus of TFLite files: set INGOT_SHARED to the directory that has corpus/tflite";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*shared / "corpus/tflite"))
    if (entry.is_regular_file() && entry.file_size() < 6000) files.push_back(entry.path());
  std::ranges::sort(files);
  std::mt19937 random(2);
  std::size_t refused = 0;
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    mutate(test::read_text(path), 60, random, refused);
  }
  std::cout << files.size() << " files, " << files.size() * 60 << " mutants, " << refused << " refused\n";
  EXPECT_GT(refused, files.size() * 10);
}

}  // namespace
}  // namespace ingot::formats::tflite
