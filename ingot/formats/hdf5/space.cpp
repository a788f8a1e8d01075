// Addresses, numbers of stated widths, and how much may be read.
#include "ingot/formats/hdf5/space.h"

#include <fmt/format.h>

#include <bit>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/hdf5/checksum.h"

namespace ingot::formats::hdf5 {
namespace {

// An honest file is read about once; its heaps and trees a few times.
constexpr std::uint64_t kMostReads = 64, kMostReadsExtra = 1 << 20;

}  // namespace

void refuse(const std::string& what) { throw Error(Code::bad_hdf5, "the HDF5 file is damaged: " + what); }

std::uint64_t read_number(ByteReader& in, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i) value |= std::uint64_t{in.u8()} << (8 * i);
  return value;
}

unsigned width_of(std::uint64_t limit) { return limit ? static_cast<unsigned>(std::bit_width(limit) - 1) / 8 + 1 : 1; }

Space::Space(Bytes file, Budget* budget) : file_(std::move(file)), budget_(budget) {}

void Space::count(std::uint64_t bytes) const {
  done_ += bytes + 1;
  if (done_ > file_.size() * kMostReads + kMostReadsExtra) refuse("its parts refer to the same bytes over and over");
  if (budget_) budget_->poll();
}

ByteReader Space::reader(std::uint64_t address, std::uint64_t size) const {
  const auto end = checked_add(address, size);
  if (!end || *end > file_.size()) refuse(fmt::format("{} bytes at {} lie beyond its end", size, address));
  count(size);
  const auto at = static_cast<std::size_t>(address);
  return ByteReader(file_.span().subspan(at, static_cast<std::size_t>(size)), at);
}

ByteReader Space::reader(std::uint64_t address) const {
  if (address > file_.size()) refuse(fmt::format("address {} lies beyond its end", address));
  count(16);
  return ByteReader(file_.span().subspan(static_cast<std::size_t>(address)), static_cast<std::size_t>(address));
}

Bytes Space::slice(std::uint64_t address, std::uint64_t size) const {
  const auto end = checked_add(address, size);
  if (!end || *end > file_.size()) refuse(fmt::format("{} bytes at {} lie beyond its end", size, address));
  return file_.slice(static_cast<std::size_t>(address), static_cast<std::size_t>(size));
}

ByteReader Space::checked_reader(std::uint64_t address, std::uint64_t size, const char* signature) const {
  if (size < 8) refuse("a structure is too short");
  ByteReader in = reader(address, size);
  ByteReader body = in;
  const auto content = body.bytes(size - 4);
  if (body.u32() != metadata_checksum(content))
    throw Error(Code::checksum_mismatch, fmt::format("the checksum of the HDF5 structure at {} is wrong", address));
  ByteReader checked(content, in.offset());
  expect_signature(checked, signature);
  return checked;
}

bool Space::is_undefined(std::uint64_t address) const {
  return address == (offset_size_ >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * offset_size_)) - 1);
}

void Space::set_sizes(unsigned offset_size, unsigned length_size) {
  const auto is_usual = [](unsigned size) { return size == 2 || size == 4 || size == 8; };
  if (!is_usual(offset_size) || !is_usual(length_size)) refuse("its addresses have an unusual size");
  offset_size_ = offset_size;
  length_size_ = length_size;
}

void Space::set_base(std::uint64_t base) {
  if (base > file_.size()) refuse("its base lies beyond its end");
  file_ = file_.slice(static_cast<std::size_t>(base), file_.size() - static_cast<std::size_t>(base));
}

void expect_signature(ByteReader& in, const char* signature) {
  const auto found = in.bytes(4);
  for (std::size_t i = 0; i < 4; ++i)
    if (static_cast<char>(found[i]) != signature[i])
      refuse(fmt::format("there is no {} before byte {}", signature, in.offset()));
}

}  // namespace ingot::formats::hdf5
