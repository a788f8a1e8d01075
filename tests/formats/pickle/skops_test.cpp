// skops files become the documents that pickles of the same objects are.
#include "ingot/formats/pickle/skops.h"

#include <gtest/gtest.h>

#include "ingot/base/error.h"
#include "ingot/base/sink.h"
#include "ingot/formats/npy/npy.h"
#include "ingot/formats/pickle/numpy.h"
#include "ingot/formats/zip/archive.h"

namespace ingot::formats::pickle {
namespace {

Bytes archive(const std::string& schema) {
  const double numbers[] = {1.5, -2};
  npy::NpyArray array;
  array.dtype = DType::f64;
  array.dims = {2};
  array.data = Bytes::copy(std::as_bytes(std::span(numbers)));
  StringSink sink;
  zip::write({{"1.npy", Bytes::own(npy::to_bytes(array))}, {"schema.json", Bytes::own(schema)}}, sink);
  return Bytes::own(sink.text());
}

std::string plain(const std::string& text) {
  return R"({"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": ")" + text + R"("})";
}

/// An instance of m.C whose state is a dict of these entries.
std::string instance(const std::string& entries) {
  return R"({"__class__": "C", "__module__": "m", "__loader__": "ObjectNode", "content":
    {"__class__": "dict", "__module__": "builtins", "__loader__": "DictNode", "content": {)" +
         entries + R"(}, "key_types": {"__loader__": "ListNode", "content": []}}})";
}

TEST(Skops, IsKnownByItsSchema) {
  EXPECT_TRUE(looks_like_skops(archive("{}")));
  StringSink sink;
  zip::write({{"other.json", Bytes::own(std::string("{}"))}}, sink);
  EXPECT_FALSE(looks_like_skops(Bytes::own(sink.text())));
  EXPECT_FALSE(looks_like_skops(Bytes::own(std::string("PK"))));
}

TEST(Skops, InstancesHaveTheirAttributes) {
  const Document document = read_skops(archive(
      instance(R"("a": )" + plain("0.5") + R"(, "n": )" + plain("null") + R"(, "t": )" + plain(R"(\"word\")") +
               R"(, "x": {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode", "type": "numpy",
          "file": "1.npy"}, "s": {"__class__": "float64", "__module__": "numpy", "__loader__": "NdArrayNode",
          "type": "json", "content": [)" +
               plain("3") + R"(], "shape": {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode",
          "content": [)" +
               plain("1") + "]}}")));
  const Value& root = *document.root;
  EXPECT_EQ(kind_text(root), "m.C");
  EXPECT_EQ(number_of(document, *attribute(root, "a")), 0.5);
  EXPECT_TRUE(attribute(root, "n")->is_none());
  EXPECT_EQ(text_of(document, *attribute(root, "t")), "word");
  const auto array = read_array(document, *attribute(root, "x"));
  ASSERT_TRUE(array);
  EXPECT_EQ(to_doubles(document, *array), (std::vector<double>{1.5, -2}));
  const auto objects = read_array(document, *attribute(root, "s"));
  ASSERT_TRUE(objects);
  EXPECT_EQ(to_doubles(document, *objects), std::vector<double>{3});
}

TEST(Skops, DamagedFilesAreRefused) {
  const std::string array = R"({"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode", "type":
    "numpy", "file": "none.npy"})";
  std::string nested = plain("1");
  for (int i = 0; i < 300; ++i)
    nested = R"({"__loader__": "ListNode", "__class__": "list", "content": [)" + nested + "]}";
  for (const std::string& schema : {std::string("{"), array, nested, plain("{")})
    EXPECT_THROW((void)read_skops(archive(schema)), Error);
}

}  // namespace
}  // namespace ingot::formats::pickle
