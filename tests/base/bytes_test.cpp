#include "ingot/base/bytes.h"

#include "ingot/base/error.h"

namespace ingot {
namespace {

TEST(Bytes, DefaultIsEmpty) {
  EXPECT_TRUE(Bytes().empty());
  EXPECT_EQ(Bytes().text(), "");
  EXPECT_TRUE(Bytes().slice(0, 0).empty());
}

TEST(Bytes, OwnDoesNotMoveHeapContent) {
  std::vector<std::byte> content(100);
  const std::byte* before = content.data();
  EXPECT_EQ(Bytes::own(std::move(content)).data(), before);
}

TEST(Bytes, OwnShortStringStaysValidWhenCopied) {
  Bytes copy;
  {
    const Bytes original = Bytes::own(std::string("short"));
    copy = original;
  }
  EXPECT_EQ(copy.text(), "short");
}

TEST(Bytes, SliceKeepsTheOwnerAlive) {
  auto owner = std::make_shared<const std::string>("hello world");
  const std::weak_ptr<const std::string> watch = owner;
  Bytes slice = Bytes(owner, reinterpret_cast<const std::byte*>(owner->data()), owner->size()).slice(6, 5);
  owner.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(slice.text(), "world");
  slice = Bytes();
  EXPECT_TRUE(watch.expired());
}

TEST(Bytes, CopyIsIndependent) {
  std::string text = "abc";
  const Bytes bytes = Bytes::copy(bytes_of(text));
  text[0] = 'x';
  EXPECT_EQ(bytes.text(), "abc");
}

TEST(Bytes, SliceOutsideIsRefused) {
  const Bytes bytes = Bytes::own(std::string("0123456789"));
  EXPECT_EQ(bytes.slice(10, 0).size(), 0u);
  EXPECT_EQ(bytes.slice(0, 10).text(), "0123456789");
  for (const auto& [offset, size] :
       {std::pair<std::size_t, std::size_t>{0, 11}, {11, 0}, {5, 6}, {1, SIZE_MAX}, {SIZE_MAX, 1}}) {
    try {
      (void)bytes.slice(offset, size);
      ADD_FAILURE() << offset << "+" << size << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::out_of_bounds);
    }
  }
}

}  // namespace
}  // namespace ingot
