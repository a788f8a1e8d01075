// .npy files: what NumPy writes is read, what is no array is refused.
#include "ingot/formats/npy/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "ingot/base/error.h"
#include "ingot/base/sink.h"
#include "tests/support/refusal.h"

namespace ingot::formats::npy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A file of version 1 with this header and data.
Bytes file_of(const std::string& header, const std::string& data, char major = 1) {
  std::string text = "\x93NUMPY";
  text += major;
  text += '\0';
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  if (major > 1) text += std::string(2, '\0');
  return Bytes::own(text + header + data);
}

std::string dictionary(const std::string& descr, const std::string& shape, const char* fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <class T> std::vector<T> values_of(const NpyArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

std::string message_of(const Bytes& file) {
  try {
    read(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Npy, DataOfTheFileIsNotCopied) {
  const Bytes file = file_of(dictionary("<i2", "(2, 2)"), std::string("\1\0\2\0\3\0\4\0", 8));
  const NpyArray array = read(file);
  EXPECT_EQ(array.dtype, DType::i16);
  EXPECT_THAT(array.dims, ElementsAre(2, 2));
  EXPECT_THAT(values_of<std::int16_t>(array), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(array.data.data(), file.data() + file.size() - 8);
}

TEST(Npy, FortranOrderIsTurned) {
  const NpyArray array = read(file_of(dictionary("|u1", "(2, 3)", "True"), std::string("\1\4\2\5\3\6", 6)));
  EXPECT_THAT(values_of<std::uint8_t>(array), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Npy, FortranOrderOfThreeDimensionsIsTurned) {
  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) data += static_cast<char>(i * 12 + j * 4 + k);
  const NpyArray array = read(file_of(dictionary("|i1", "(2, 3, 4)", "True"), data));
  const auto values = values_of<std::int8_t>(array);
  ASSERT_EQ(values.size(), 24u);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
}

TEST(Npy, BigEndianIsTurned) {
  EXPECT_THAT(values_of<std::uint32_t>(read(file_of(dictionary(">u4", "(1,)"), std::string("\0\0\1\2", 4)))),
              ElementsAre(0x102u));
  const NpyArray complex = read(file_of(dictionary(">c8", "()"), std::string("\x3f\x80\0\0\x40\0\0\0", 8)));
  EXPECT_THAT(values_of<float>(complex), ElementsAre(1.0f, 2.0f));
}

TEST(Npy, UnicodeBecomesUtf8) {
  const std::string data("\xe9\0\0\0x\0\0\0\0\xf6\1\0\0\0\0\0", 16);
  const NpyArray array = read(file_of(dictionary("<U2", "(2,)"), data));
  EXPECT_EQ(array.dtype, DType::string);
  EXPECT_THAT(array.strings, ElementsAre("\xc3\xa9x", "\xf0\x9f\x98\x80"));
}

TEST(Npy, BytesBecomeStrings) {
  EXPECT_THAT(read(file_of(dictionary("|S3", "(2,)"), std::string("ab\0xyz", 6))).strings, ElementsAre("ab", "xyz"));
}

TEST(Npy, VersionTwoHasALongerLength) {
  EXPECT_EQ(read(file_of(dictionary("<f4", "()"), std::string(4, '\0'), 2)).dtype, DType::f32);
}

TEST(Npy, EmptyArraysAndScalarsAreArrays) {
  EXPECT_THAT(read(file_of(dictionary("<f8", "(0, 4611686018427387904)"), "")).dims,
              ElementsAre(0, 4611686018427387904));
  EXPECT_TRUE(read(file_of(dictionary("|b1", "()"), "\1")).dims.empty());
}

TEST(Npy, WhatIsWrittenIsReadAgain) {
  for (int t = 1; t < kDTypeCount; ++t) {
    NpyArray array;
    array.dtype = static_cast<DType>(t);
    array.dims = {3};
    array.item_bytes = std::max(1u, bits_of(array.dtype) / 8);
    if (array.dtype == DType::string)
      array.strings = {"", "a", "\xe2\x82\xac and more"};
    else
      array.data = Bytes::own(std::string(3 * array.item_bytes, '\1'));
    const NpyArray again = read(Bytes::own(to_bytes(array)));
    EXPECT_EQ(again.dims, array.dims);
    EXPECT_EQ(again.strings, array.strings);
    EXPECT_EQ(again.data, array.data);
    EXPECT_TRUE(again.dtype == array.dtype || again.dtype == DType::undefined);
    EXPECT_TRUE(array.dtype == DType::string || again.item_bytes == array.item_bytes);
  }
}

TEST(Npy, DataBeginsAtAMultipleOf64) {
  for (std::int64_t n = 1; n < 1'000'000'000'000; n *= 10) {
    NpyArray array{.dtype = DType::f32, .item_bytes = 4, .dims = {0, n, n}, .data = {}, .strings = {}};
    EXPECT_EQ(to_bytes(array).size() % 64, 0u);
  }
}

TEST(Npy, ObjectsAreRefusedBecauseTheyArePickles) {
  EXPECT_THAT(message_of(file_of(dictionary("|O", "(1,)"), "x")), HasSubstr("unpickled"));
  EXPECT_THAT(message_of(file_of(dictionary("|O8", "(1,)"), "x")), HasSubstr("unpickled"));
}

TEST(Npy, SizesThatDoNotFitAreRefused) {
  EXPECT_THAT(message_of(file_of(dictionary("<f4", "(2,)"), "1234567")), HasSubstr("need 8"));
  EXPECT_THAT(message_of(file_of(dictionary("<f4", "(2,)"), "123456789")), HasSubstr("need 8"));
  EXPECT_THAT(message_of(file_of(dictionary("<f4", "(9223372036854775807, 9)"), "1234")), HasSubstr("IG0710"));
  EXPECT_THAT(message_of(file_of(dictionary("<f4", "(99999999999999999999,)"), "1234")), HasSubstr("too large"));
  EXPECT_THAT(message_of(file_of(dictionary("<U0", "(1000000000000,)"), "")), HasSubstr("IG0710"));
}

TEST(Npy, HeadersThatAreNoDictionaryAreRefused) {
  for (const char* header : {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': None, 'shape': ()}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}",
                             "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} + exit()",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (1"})
    EXPECT_THAT(message_of(file_of(header, "1234")), HasSubstr("IG0710")) << header;
  EXPECT_THAT(message_of(file_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")),
              HasSubstr("several fields"));
}

TEST(Npy, CharactersThatDoNotExistAreRefused) {
  EXPECT_THAT(message_of(file_of(dictionary("<U1", "()"), std::string("\0\xd8\0\0", 4))), HasSubstr("IG0217"));
  NpyArray array{.dtype = DType::string, .item_bytes = 0, .dims = {1}, .data = {}, .strings = {"\xff"}};
  EXPECT_REFUSED(Code::bad_text_encoding, to_bytes(array));
}

TEST(Npy, EveryTruncationIsRefused) {
  NpyArray array{
      .dtype = DType::f32, .item_bytes = 4, .dims = {2}, .data = Bytes::own(std::string(8, 'x')), .strings = {}};
  const std::string whole = to_bytes(array);
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_THROW(read(Bytes::own(whole.substr(0, n))), Error) << n;
}

TEST(Npz, ArraysKeepTheirNames) {
  NpyArray a{.dtype = DType::u8, .item_bytes = 1, .dims = {2}, .data = Bytes::own(std::string("ab")), .strings = {}};
  NpyArray b{.dtype = DType::string, .item_bytes = 0, .dims = {}, .data = {}, .strings = {"text"}};
  StringSink sink;
  write_npz({{"first", a}, {"a/b", b}}, sink);
  const auto arrays = read_npz(Bytes::own(sink.take()));
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].first, "first");
  EXPECT_EQ(arrays[0].second.data.text(), "ab");
  EXPECT_EQ(arrays[1].first, "a/b");
  EXPECT_THAT(arrays[1].second.strings, ElementsAre("text"));
}

}  // namespace
}  // namespace ingot::formats::npy
