// Test data files: tensors, sequences, maps and optionals.
#include "ingot/onnx/data.h"

#include <filesystem>
#include <iostream>

#include "ingot/base/error.h"
#include "ingot/onnx/text.h"
#include "tests/onnx/corpus.h"
#include "tests/onnx/messages.h"
#include "tests/support/files.h"

namespace ingot::onnx {
namespace {

using test::message;
using test::Writer;

Code code_of_reading(const std::string& bytes, const Type& type) {
  try {
    (void)read_data(Bytes::own(bytes), type);
  } catch (const Error& error) {
    return error.code();
  }
  return Code::answer_is_no;
}

TEST(Data, AllFilesOfTheBackendTestsComeBackAsTheyWere) {
  namespace fs = std::filesystem;
  std::map<std::string, int> kinds;
  test::for_each_shared_model([&](const std::string& name, const Model& model) {
    const fs::path directory = (*test::shared_dir() / name).parent_path() / "test_data_set_0";
    if (!name.starts_with("onnx-backend-tests") || !fs::exists(directory)) return;
    const auto check = [&](const std::string& file, const Value& value) {
      if (!fs::exists(directory / file)) return;
      const Data data = read_data((directory / file).string(), value.type);
      ++kinds[value.type ? value.type.schema_name().substr(0, 3) : "?"];
      const DType stated = value.type.is_tensor() ? value.type.elem : DType::undefined;
      EXPECT_EQ(data.tensor.dtype(), stated) << name << '/' << file;
      const std::string bytes = data_to_bytes(data);
      EXPECT_TRUE(data == read_data(Bytes::own(bytes), value.type)) << name << '/' << file;
    };
    for (std::size_t i = 0; i < model.graph->inputs().size(); ++i)
      check("input_" + std::to_string(i) + ".pb", *model.graph->inputs()[i]);
    for (std::size_t i = 0; i < model.graph->output_count(); ++i)
      check("output_" + std::to_string(i) + ".pb", *model.graph->output(i));
  });
  if (!test::shared_dir()) return;
  for (const auto& [kind, count] : kinds) std::cout << count << " of " << kind << "...\n";
  EXPECT_GT(kinds["ten"], 4000);
  EXPECT_GT(kinds["seq"], 20);
  EXPECT_GT(kinds["opt"], 5);
}

TEST(Data, NestedValuesComeBackAsTheyWere) {
  Data tensor{.kind = Data::Kind::tensor, .name = "t", .tensor = Tensor::of<float>({2}, {1, 2})};
  Data map{.kind = Data::Kind::map,
           .items = {tensor, tensor},
           .item_kind = Data::Kind::tensor,
           .key_type = DType::string,
           .string_keys = {"a", "b"}};
  Data numbered{.kind = Data::Kind::map,
                .items = {tensor},
                .item_kind = Data::Kind::tensor,
                .key_type = DType::i64,
                .keys = {-7}};
  Data maps{.kind = Data::Kind::sequence, .items = {map, numbered}, .item_kind = Data::Kind::map};
  Data some{.kind = Data::Kind::optional, .name = "o", .items = {maps}, .item_kind = Data::Kind::sequence};
  const Type type = Type::optional(Type::sequence(Type::map(DType::string, Type::tensor(DType::f32))));
  EXPECT_TRUE(read_data(Bytes::own(data_to_bytes(some)), type) == some);
  Data none{.kind = Data::Kind::optional, .item_kind = Data::Kind::sequence};
  EXPECT_TRUE(read_data(Bytes::own(data_to_bytes(none)), type) == none);

  const test::TempDir dir;
  write_data(some, dir / "input_0.pb");
  EXPECT_TRUE(read_data(dir / "input_0.pb", type) == some);
}

TEST(Data, ItemsOfAnotherKindThanStatedAreRefused) {
  const std::string mixed = message([](Writer& w) {
    w.int32(SequenceField::elem_type, 1);
    w.message(SequenceField::tensor_values, [&] { w.int32(TensorField::data_type, 8); });
    w.message(SequenceField::sequence_values, [] {});
  });
  EXPECT_EQ(code_of_reading(mixed, Type::sequence({})), Code::tensor_size_mismatch);
  const std::string other = message([](Writer& w) {
    w.int32(SequenceField::elem_type, 1);
    w.message(SequenceField::sequence_values, [] {});
  });
  EXPECT_EQ(code_of_reading(other, Type::sequence({})), Code::conflicting_data);
  EXPECT_EQ(code_of_reading(message([](Writer& w) { w.int32(SequenceField::elem_type, 6); }), Type::sequence({})),
            Code::bad_field_value);
}

TEST(Data, MapsNeedOneKeyForEachValue) {
  const std::string short_of_keys = message([](Writer& w) {
    w.int32(MapField::key_type, 7);
    w.message(MapField::values, [&] { w.message(SequenceField::sequence_values, [] {}); });
  });
  EXPECT_EQ(code_of_reading(short_of_keys, Type::map(DType::i64, {})), Code::conflicting_data);
}

TEST(Data, DeepNestingIsRefused) {
  std::string inner;
  for (int i = 0; i < 1000; ++i) inner = message([&](Writer& w) { w.string(SequenceField::sequence_values, inner); });
  EXPECT_EQ(code_of_reading(inner, Type::sequence({})), Code::too_deep);
}

}  // namespace
}  // namespace ingot::onnx
