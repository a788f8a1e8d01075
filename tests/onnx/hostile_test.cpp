// Files made to do harm: each class of attack on ONNX readers is refused with its code, wherever a tensor may stand.
#include <sys/stat.h>

#include <filesystem>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/onnx/reader.h"
#include "ingot/onnx/writer.h"
#include "tests/onnx/messages.h"
#include "tests/support/files.h"

namespace ingot::onnx {
namespace {

using test::attribute;
using test::external_tensor;
using test::graph;
using test::message;
using test::Message;
using test::node;
using test::raw_tensor;
using test::Writer;
using Entries = std::vector<std::pair<std::string, std::string>>;

Code code_of_reading(const Message& bytes, const std::string& directory = {}, const ReadOptions& options = {}) {
  try {
    (void)read(Bytes::own(bytes), directory, options);
  } catch (const Error& error) {
    return error.code();
  }
  return Code::answer_is_no;  // it was read
}

constexpr Code kRead = Code::answer_is_no;

/// A directory with what an attacker may find or put beside a model.
class ExternalData : public testing::Test {
 protected:
  ExternalData() {
    namespace fs = std::filesystem;
    fs::create_directories(dir_ / "model/sub");
    test::write_text(dir_ / "outside.bin", std::string(16, 's'));
    test::write_text(dir_ / "model/ok.bin", std::string(16, '\1'));
    test::write_text(dir_ / "model/sub/ok.bin", std::string(32, '\2'));
    fs::create_symlink("ok.bin", dir_ / "model/link.bin");
    fs::create_symlink("../outside.bin", dir_ / "model/out.bin");
    fs::create_directory_symlink("..", dir_ / "model/up");
    fs::create_hard_link(dir_ / "outside.bin", dir_ / "model/hard.bin");
    EXPECT_EQ(::mkfifo((dir_ / "model/fifo").c_str(), 0600), 0);
  }

  /// The same code in every place where a tensor may stand.
  void expect_everywhere(const Entries& entries, Code expected, const ReadOptions& options = {}) {
    for (const auto& [place, bytes] : test::models_with_tensor(external_tensor(entries)))
      EXPECT_EQ(code_name(code_of_reading(bytes, dir_ / "model", options)), code_name(expected))
          << place << " with " << testing::PrintToString(entries);
  }

  test::TempDir dir_;
};

TEST_F(ExternalData, IsReadFromTheModelsDirectoryInEveryPlace) {
  expect_everywhere({{"location", "ok.bin"}}, kRead);
  expect_everywhere({{"location", "sub/ok.bin"}, {"offset", "16"}, {"length", "16"}, {"checksum", "?"}}, kRead);
}

TEST_F(ExternalData, WithoutALengthMayStandInALargerFile) {
  expect_everywhere({{"location", "sub/ok.bin"}}, kRead);
  expect_everywhere({{"location", "sub/ok.bin"}, {"offset", "4"}}, kRead);
  expect_everywhere({{"location", "sub/ok.bin"}, {"offset", "20"}}, Code::tensor_size_mismatch);
}

TEST_F(ExternalData, PathsThatAreNotPlainAndRelativeAreRefused) {
  expect_everywhere({{"location", "../outside.bin"}}, Code::outside_model_directory);
  expect_everywhere({{"location", "sub/../../outside.bin"}}, Code::outside_model_directory);
  expect_everywhere({{"location", dir_ / "outside.bin"}}, Code::bad_model_path);
  expect_everywhere({{"location", "/etc/passwd"}}, Code::bad_model_path);
  expect_everywhere({{"location", std::string("ok.bin\0x", 8)}}, Code::bad_model_path);
  expect_everywhere({{"location", "..\\outside.bin"}}, Code::bad_model_path);
  expect_everywhere({{"location", ""}}, Code::bad_model_path);
}

TEST_F(ExternalData, LinksAreRefusedUnlessAllowed) {
  expect_everywhere({{"location", "link.bin"}}, Code::link_refused);
  expect_everywhere({{"location", "out.bin"}}, Code::link_refused);
  expect_everywhere({{"location", "up/outside.bin"}}, Code::link_refused);
  expect_everywhere({{"location", "hard.bin"}}, Code::link_refused);
  expect_everywhere({{"location", "link.bin"}}, kRead, {.allow_links = true});
  expect_everywhere({{"location", "hard.bin"}}, kRead, {.allow_links = true});
}

TEST_F(ExternalData, OnlyRegularFilesAreOpened) {
  expect_everywhere({{"location", "fifo"}}, Code::not_regular_file);
  expect_everywhere({{"location", "sub"}}, Code::not_regular_file);
  expect_everywhere({{"location", "missing.bin"}}, Code::cannot_open);
}

TEST_F(ExternalData, AddressesInMemoryAreRefused) {
  expect_everywhere({{"location", "*/_ORT_MEM_ADDR_/*"}, {"offset", "4096"}, {"length", "16"}},
                    Code::bad_external_data);
  expect_everywhere({{"location", "*/_ORT_NATIVE_ENDIAN_MEM_ADDR_/*"}}, Code::bad_external_data);
}

TEST_F(ExternalData, OffsetsAndLengthsMustBeNumbersInsideTheFile) {
  const auto with = [](const std::string& offset, const std::string& length) {
    return Entries{{"location", "ok.bin"}, {"offset", offset}, {"length", length}};
  };
  for (const char* bad : {"-1", "+0", " 0", "0x0", "0 ", "1e1", "", "99999999999999999999", "0.0"}) {
    expect_everywhere(with(bad, "16"), Code::bad_external_data);
    expect_everywhere(with("0", bad), Code::bad_external_data);
  }
  expect_everywhere(with("17", "0"), Code::bad_external_data);
  expect_everywhere(with("1", "16"), Code::bad_external_data);
  expect_everywhere(with("18446744073709551615", "16"), Code::bad_external_data);
  expect_everywhere(with("8", "18446744073709551615"), Code::bad_external_data);
  expect_everywhere(with("0", "8"), Code::tensor_size_mismatch);
  expect_everywhere(with("0", "1125899906842624"), Code::bad_external_data);
  expect_everywhere({{"location", "ok.bin"}, {"offset", "4"}}, Code::tensor_size_mismatch);
  expect_everywhere({{"location", "ok.bin"}, {"offset", "0"}, {"offset", "4"}}, Code::bad_external_data);
  expect_everywhere({{"offset", "0"}}, Code::bad_external_data);
}

TEST_F(ExternalData, IsRefusedForModelsFromMemory) {
  const auto models = test::models_with_tensor(external_tensor({{"location", "ok.bin"}}));
  EXPECT_EQ(code_of_reading(models[0].second), Code::bad_external_data);
}

TEST(HostileTensor, DataMustHaveExactlyTheSizeOfTypeAndShape) {
  for (const int excess : {-16, -15, -1, 1, 4, 16})
    for (const auto& [place, bytes] :
         test::models_with_tensor(raw_tensor({2, 2}, 1, std::string(static_cast<std::size_t>(16 + excess), '\0'))))
      EXPECT_EQ(code_of_reading(bytes), Code::tensor_size_mismatch) << place << " " << excess;
  for (const auto& [place, bytes] : test::models_with_tensor(raw_tensor({2, 2}, 1, std::string(16, '\0'))))
    EXPECT_EQ(code_of_reading(bytes), kRead) << place;
}

TEST(HostileTensor, ShapesThatOverflowAreRefused) {
  const std::int64_t large = std::int64_t{1} << 32;
  EXPECT_EQ(code_of_reading(test::models_with_tensor(raw_tensor({large, large}, 1, ""))[0].second), Code::bad_shape);
  EXPECT_EQ(code_of_reading(test::models_with_tensor(raw_tensor({-1}, 1, "aaaa"))[0].second), Code::bad_shape);
  EXPECT_EQ(code_of_reading(test::models_with_tensor(raw_tensor({-2, -2}, 1, std::string(16, 'a')))[0].second),
            Code::bad_shape);
  // The elements can be counted, their bytes cannot.
  EXPECT_EQ(code_of_reading(test::models_with_tensor(raw_tensor({std::int64_t{1} << 61}, 11, "a"))[0].second),
            Code::tensor_size_mismatch);
  EXPECT_EQ(code_of_reading(test::models_with_tensor(raw_tensor({0, large, large}, 1, ""))[0].second), kRead);
  EXPECT_EQ(
      code_of_reading(test::models_with_tensor(raw_tensor(std::vector<std::int64_t>(1025, 1), 1, "abcd"))[0].second),
      Code::bad_shape);
}

TEST(HostileTensor, HugeShapesWithoutDataCostNothing) {
  // A petabyte is stated; nothing is allocated for it.
  const auto models = test::models_with_tensor(raw_tensor({std::int64_t{1} << 48}, 1, "abcd"));
  EXPECT_EQ(code_of_reading(models[0].second), Code::tensor_size_mismatch);
}

TEST(HostileTensor, DataInTwoFieldsIsRefused) {
  const Message two = message([](Writer& w) {
    w.int32(TensorField::data_type, 1);
    w.fixed_float(TensorField::float_data, 1);
    w.string(TensorField::raw_data, "abcd");
  });
  for (const auto& [place, bytes] : test::models_with_tensor(two))
    EXPECT_EQ(code_of_reading(bytes), Code::conflicting_data) << place;
  const Message external = external_tensor({{"location", "ok.bin"}}, 1) +
                           message([](Writer& w) { w.string(TensorField::raw_data, "abcd"); });
  EXPECT_EQ(code_of_reading(test::models_with_tensor(external)[0].second), Code::conflicting_data);
}

TEST(HostileTensor, DataInTheFieldOfAnotherTypeIsRefused) {
  const Message floats = message([](Writer& w) {
    w.int32(TensorField::data_type, 7);
    w.fixed_float(TensorField::float_data, 1);
  });
  EXPECT_EQ(code_of_reading(test::models_with_tensor(floats)[0].second), Code::bad_field_value);
  const Message raw_string = raw_tensor({}, 8, "text");
  EXPECT_EQ(code_of_reading(test::models_with_tensor(raw_string)[0].second), Code::bad_field_value);
  const Message wide = message([](Writer& w) {
    w.int32(TensorField::data_type, 2);
    w.int64(TensorField::int32_data, 256);
  });
  EXPECT_EQ(code_of_reading(test::models_with_tensor(wide)[0].second), Code::bad_field_value);
}

TEST(HostileTensor, SegmentsAndUnknownTypesAreRefused) {
  const Message segment =
      raw_tensor({1}, 1, "abcd") + message([](Writer& w) { w.message(TensorField::segment, [&] { w.int64(1, 0); }); });
  EXPECT_EQ(code_of_reading(test::models_with_tensor(segment)[0].second), Code::unsupported_feature);
  EXPECT_EQ(code_of_reading(test::models_with_tensor(raw_tensor({1}, 27, "abcd"))[0].second), Code::bad_element_type);
  EXPECT_EQ(code_of_reading(test::models_with_tensor(raw_tensor({1}, 0, "abcd"))[0].second), Code::bad_element_type);
  EXPECT_EQ(code_of_reading(test::models_with_tensor(raw_tensor({1}, -1, "abcd"))[0].second), Code::bad_element_type);
}

Message nested_ifs(int depth) {
  Message inner = graph();
  for (int i = 0; i < depth; ++i)
    inner = graph([&](Writer& w) {
      w.string(GraphField::node, node("If", {"x"}, {"z"}, {attribute("then_branch", 5, AttributeField::g, inner)}));
    });
  return test::model(inner);
}

TEST(HostileNesting, DeepGraphsAreRefused) {
  EXPECT_EQ(code_of_reading(nested_ifs(30)), kRead);
  EXPECT_EQ(code_of_reading(nested_ifs(60)), Code::too_deep);
  EXPECT_EQ(code_of_reading(nested_ifs(3000)), Code::too_deep);
}

TEST(HostileNesting, DeepTypesAreRefused) {
  const auto model = [](int depth) {
    Message type = message([](Writer& w) { w.message(TypeField::tensor_type, [&] { w.int32(1, 1); }); });
    for (int i = 0; i < depth; ++i) {
      const Message element = message([&](Writer& w) { w.string(ContainerTypeField::elem_type, type); });
      type = message([&](Writer& w) { w.string(TypeField::sequence_type, element); });
    }
    return test::model(graph([&](Writer& w) {
      w.message(GraphField::value_info, [&] {
        w.string(ValueInfoField::name, "x");
        w.string(ValueInfoField::type, type);
      });
    }));
  };
  EXPECT_EQ(code_of_reading(model(40)), kRead);
  EXPECT_EQ(code_of_reading(model(5000)), Code::too_deep);
}

TEST(HostileNesting, DeepGroupsAreRefused) {
  const std::string begin(100000, '\x4b'), end(100000, '\x4c');  // field 9, groups
  EXPECT_EQ(code_of_reading(begin + end), Code::too_deep);
  EXPECT_EQ(code_of_reading(std::string(50, '\x4b') + std::string(50, '\x4c')), kRead);
  EXPECT_EQ(code_of_reading(std::string(50, '\x4b')), Code::unmatched_group);
}

TEST(HostileBreadth, TheBudgetLimitsEmptyNodes) {
  const Message empty_nodes = test::model(graph([](Writer& w) {
    for (int i = 0; i < 2000; ++i) w.string(GraphField::node, "");
  }));
  Budget few_nodes({.nodes = 1000});
  EXPECT_EQ(code_of_reading(empty_nodes, {}, {.budget = &few_nodes}), Code::node_limit);
  Budget little_memory({.memory = 100'000});
  EXPECT_EQ(code_of_reading(empty_nodes, {}, {.budget = &little_memory}), Code::memory_limit);
  EXPECT_EQ(little_memory.memory(), 0u);
  EXPECT_EQ(code_of_reading(empty_nodes), kRead);
}

/// A small model with something of everything.
Message rich_model() {
  const Message inner = graph([](Writer& w) { w.string(GraphField::initializer, raw_tensor({1}, 1, "abcd")); });
  return test::model(graph([&](Writer& w) {
                       w.string(GraphField::node,
                                node("If", {"x"}, {"z"}, {attribute("then_branch", 5, AttributeField::g, inner)}));
                       w.string(GraphField::initializer, raw_tensor({2, 1}, 1, "abcdefgh"));
                       w.message(GraphField::sparse_initializer, [&] {
                         w.string(SparseTensorField::values, raw_tensor({1}, 1, "abcd"));
                         w.string(SparseTensorField::indices, raw_tensor({1}, 7, std::string(8, '\0')));
                         w.int64(SparseTensorField::dims, 5);
                       });
                     }),
                     [](Writer& w) {
                       w.message(ModelField::functions, [&] {
                         w.string(FunctionField::name, "f");
                         w.string(FunctionField::input, "a");
                         w.string(FunctionField::output, "b");
                         w.string(FunctionField::node, node("Relu", {"a"}, {"b"}));
                       });
                       w.message(ModelField::training_info, [&] { w.string(TrainingField::algorithm, graph()); });
                       w.varint(1000, 7);
                     });
}

TEST(HostileBytes, EveryTruncationIsReadOrRefused) {
  const Message whole = rich_model();
  ASSERT_EQ(code_of_reading(whole), kRead);
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) refused += code_of_reading(whole.substr(0, size)) != kRead;
  EXPECT_GT(refused, static_cast<int>(whole.size() * 9 / 10));
}

TEST(HostileBytes, EveryChangeOfOneByteIsReadOrRefused) {
  const Message whole = rich_model();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int bit : {0, 1, 2, 3, 4, 5, 6, 7}) {
      Message changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      try {
        const Model model = read(Bytes::own(changed), "");
        check_invariants(model);
        (void)to_bytes(model);
      } catch (const Error& error) {
        EXPECT_NE(error.exit_code(), 70) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace ingot::onnx
