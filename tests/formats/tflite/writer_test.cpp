// What the writer promises about its bytes: alignment, sameness, size, and nothing lost.
#include "ingot/formats/tflite/writer.h"

#include <sys/mman.h>

#include "ingot/formats/tflite/reader.h"
#include "tests/formats/tflite/sample.h"
#include "tflite_generated.h"

namespace ingot::formats::tflite {
namespace {

Model reread(const Model& model, const WriteOptions& options = {}) {
  return read(Bytes::own(to_bytes(model, options)));
}

TEST(TfliteWriter, NothingIsLost) {
  EXPECT_TRUE(reread(full_model()) == full_model());
  EXPECT_TRUE(reread(full_model(), {.largest_flatbuffer = 0}) == full_model());
}

TEST(TfliteWriter, LongChainsOfSmallOperatorsAreRead) {
  constexpr std::int32_t kLength = 300'000;
  Model m;
  SubGraph& graph = m.subgraphs.emplace_back();
  for (std::int32_t i = 0; i <= kLength; ++i) graph.tensors.emplace_back().name = "v" + std::to_string(i);
  graph.inputs = {0};
  graph.outputs = {kLength};
  for (std::int32_t i = 0; i < kLength; ++i) {
    Operator& op = graph.operators.emplace_back();
    op.code.builtin = BuiltinOperator::RELU;
    op.inputs = {i};
    op.outputs = {i + 1};
  }
  EXPECT_EQ(reread(m).subgraphs[0].operators.size(), graph.operators.size());
}

TEST(TfliteWriter, TheSameModelGivesTheSameBytes) {
  EXPECT_EQ(to_bytes(full_model()), to_bytes(full_model()));
  EXPECT_EQ(to_bytes(reread(full_model())), to_bytes(full_model()));
}

TEST(TfliteWriter, ConstantsLieOnMultiplesOfSixteen) {
  for (const std::uint64_t largest : {UINT64_MAX, std::uint64_t{0}}) {
    const Bytes file = Bytes::own(to_bytes(full_model(), {.largest_flatbuffer = largest}));
    const Model model = read(file);
    for (const Bytes& buffer : model.buffers) EXPECT_TRUE(buffer.empty() || (buffer.data() - file.data()) % 16 == 0);
  }
}

TEST(TfliteWriter, ListsThatRuntimesInsistOnAreThereEvenIfEmpty) {
  Model m;
  m.subgraphs.emplace_back();
  const std::string file = to_bytes(m);
  const schema::Model* root = schema::GetModel(file.data());
  EXPECT_NE(root->operator_codes(), nullptr);
  EXPECT_NE(root->buffers(), nullptr);
  EXPECT_NE(root->subgraphs()->Get(0)->tensors(), nullptr);
  EXPECT_NE(root->subgraphs()->Get(0)->operators(), nullptr);
  EXPECT_NE(root->subgraphs()->Get(0)->inputs(), nullptr);
  EXPECT_NE(root->subgraphs()->Get(0)->outputs(), nullptr);
}

TEST(TfliteWriter, EmptyListsAndTextsOfOptionsStaySet) {
  Model m = sample_model();
  Operator& op = m.subgraphs[0].operators[0];
  op.code.builtin = BuiltinOperator::RESHAPE;
  for (const bool set : {false, true}) {
    op.options = Options(op.code.builtin);
    if (set) op.options.set("new_shape", std::vector<std::int64_t>{});
    EXPECT_EQ(reread(m).subgraphs[0].operators[0].options.has("new_shape"), set);
  }
}

TEST(TfliteWriter, RefusesWhatDoesNotFitOrIsNotSound) {
  Model m = sample_model();
  m.subgraphs[0].tensors[0].shape = {std::int64_t{1} << 40};
  EXPECT_EQ(error_of([&] { to_bytes(m); }).code(), Code::overflow);
  m = sample_model();
  m.subgraphs[0].operators[0].inputs[0] = 77;
  EXPECT_EQ(error_of([&] { to_bytes(m); }).code(), Code::bad_reference);
  m = sample_model();
  m.subgraphs[0].operators[0].options = Options::unknown(true, 99);
  EXPECT_EQ(error_of([&] { to_bytes(m); }).code(), Code::not_writable);
}

/// An archive with one empty member "a" of which only the parts that matter are filled in.
std::string archive(std::uint32_t shift) {
  const auto le = [](std::uint64_t value, int size) {
    std::string text;
    for (int i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  const std::string member = "PK\3\4" + std::string(22, '\0') + le(1, 2) + le(0, 2) + "a";
  const std::string entry = "PK\1\2" + std::string(24, '\0') + le(1, 2) + std::string(12, '\0') + le(shift, 4) + "a";
  const std::string end =
      "PK\5\6" + std::string(8, '\0') + le(entry.size(), 4) + le(shift + member.size(), 4) + le(0, 2);
  return member + entry + end;
}

TEST(TfliteWriter, TheArchiveBehindAModelIsKept) {
  const std::string model = to_bytes(sample_model());
  for (const std::uint32_t shift : {std::uint32_t{0}, static_cast<std::uint32_t>(model.size())}) {
    const Model m = read(Bytes::own(model + archive(shift)));
    EXPECT_EQ(m.associated_files.text(), archive(shift));
    EXPECT_TRUE(m.unread.empty());
    EXPECT_TRUE(reread(m) == m);
  }
  std::string damaged = archive(0);
  damaged[damaged.size() - 8] = 100;  // the directory would begin before the file
  EXPECT_TRUE(read(Bytes::own(model + damaged)).associated_files.empty());
  EXPECT_EQ(read(Bytes::own(model + damaged)).unread.size(), 1U);
}

/// Memory that reads as zeros and costs nothing until it is written.
Bytes zeros(std::size_t size, std::byte** begin = nullptr) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (begin) *begin = static_cast<std::byte*>(memory);
  std::shared_ptr<const void> owner(memory, [size](const void* m) { munmap(const_cast<void*>(m), size); });
  return {owner, static_cast<const std::byte*>(memory), size};
}

/// A file in memory in which only the ends of large pieces are stored: the middle is zeros anyway.
class SparseSink final : public Sink {
 public:
  explicit SparseSink(std::byte* memory) : memory_(memory) {}
  void write(std::span<const std::byte> bytes) override {
    constexpr std::size_t kEnds = 1 << 16;
    const std::size_t ends = std::min(bytes.size(), kEnds);
    std::ranges::copy(bytes.first(ends), memory_ + size_);
    std::ranges::copy(bytes.last(ends), memory_ + size_ + bytes.size() - ends);
    size_ += bytes.size();
  }
  std::uint64_t size() const { return size_; }

 private:
  std::byte* memory_;
  std::uint64_t size_ = 0;
};

TEST(TfliteWriter, ModelsBeyondTwoGigabytesAreWrittenAndRead) {
  constexpr std::uint64_t kPart = 900'000'000;
  Model m = sample_model();
  for (unsigned i = 0; i < 6; ++i) {
    std::byte* begin = nullptr;
    m.buffers.push_back(zeros(kPart, &begin));
    begin[0] = begin[kPart - 1] = std::byte(i + 1);
    Tensor& tensor = m.subgraphs[0].tensors.emplace_back();
    tensor.shape = {900, 1'000'000};
    tensor.type = TensorType::INT8;
    tensor.buffer = 4 + i;
  }
  m.subgraphs[0].operators[0].custom_options = zeros(100'000);
  std::byte* memory = nullptr;
  const Bytes file = zeros(std::size_t{6} << 30, &memory);
  SparseSink sink(memory);
  write(m, sink);
  EXPECT_GT(sink.size(), 6 * kPart);
  const Bytes written = file.slice(0, sink.size());
  const Model back = read(written);
  ASSERT_EQ(back.buffers.size(), m.buffers.size());
  for (unsigned i = 0; i < 6; ++i) {
    const Bytes& buffer = back.buffers[4 + i];
    ASSERT_EQ(buffer.size(), kPart);
    EXPECT_EQ((buffer.data() - written.data()) % 16, 0);
    EXPECT_EQ(buffer.data()[0], std::byte(i + 1));
    EXPECT_EQ(buffer.data()[kPart - 1], std::byte(i + 1));
  }
  EXPECT_EQ(back.subgraphs[0].operators[0].custom_options.size(), 100'000U);
  EXPECT_TRUE(back.subgraphs[0] == m.subgraphs[0]);
}

}  // namespace
}  // namespace ingot::formats::tflite
