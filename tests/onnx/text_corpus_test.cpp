// Every model of the shared corpora as text and back.
#include "ingot/ir/equal.h"
#include "ingot/onnx/text.h"
#include "ingot/onnx/writer.h"
#include "tests/onnx/corpus.h"

namespace ingot::onnx {
namespace {

TEST(TextCorpus, ParsingWhatWasPrintedGivesTheSameBytes) {
  test::for_each_shared_model([](const std::string& name, const Model& model) {
    const std::string text = to_text(model);
    try {
      const Model again = parse_text(text);
      std::string difference;
      EXPECT_TRUE(equal(model, again, &difference)) << name << ": " << difference;
      EXPECT_TRUE(to_bytes(model) == to_bytes(again)) << name;
      EXPECT_TRUE(text == to_text(again)) << name;
    } catch (const Error& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
  });
}

TEST(TextCorpus, ListedElementsAreAsExactAsBytes) {
  test::for_each_shared_model([](const std::string& name, const Model& model) {
    try {
      EXPECT_TRUE(to_bytes(model) == to_bytes(parse_text(to_text(model, {.max_listed = 1 << 16})))) << name;
    } catch (const Error& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
  });
}

}  // namespace
}  // namespace ingot::onnx
