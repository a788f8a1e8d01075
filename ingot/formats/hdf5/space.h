#pragma once
#include <string>

#include "ingot/base/byte_reader.h"
#include "ingot/base/bytes.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::hdf5 {

[[noreturn]] void refuse(const std::string& what);

/// A number of `width` bytes, at most eight.
std::uint64_t read_number(ByteReader& in, unsigned width);
/// How many bytes numbers up to `limit` take, as HDF5 counts them.
unsigned width_of(std::uint64_t limit);

/// The file as its addresses see it, and what reading it may cost: a small file whose parts refer to the same bytes
/// again and again is refused.
class Space {
 public:
  Space(Bytes file, Budget* budget);

  /// Bytes at an address.
  ByteReader reader(std::uint64_t address, std::uint64_t size) const;
  /// All from an address to the end of the file, for structures that tell their size themselves; not counted.
  ByteReader reader(std::uint64_t address) const;
  Bytes slice(std::uint64_t address, std::uint64_t size) const;
  /// A structure whose last four bytes are the checksum of those before.
  ByteReader checked_reader(std::uint64_t address, std::uint64_t size, const char* signature) const;

  std::uint64_t offset(ByteReader& in) const { return read_number(in, offset_size_); }
  std::uint64_t length(ByteReader& in) const { return read_number(in, length_size_); }
  bool is_undefined(std::uint64_t address) const;

  /// What is copied out of the file, where it may be named many times.
  void count(std::uint64_t bytes) const;

  unsigned offset_size() const { return offset_size_; }
  unsigned length_size() const { return length_size_; }
  void set_sizes(unsigned offset_size, unsigned length_size);
  void set_base(std::uint64_t base);
  Budget* budget() const { return budget_; }
  std::uint64_t size() const { return file_.size(); }

 private:
  Bytes file_;
  Budget* budget_;
  unsigned offset_size_ = 8, length_size_ = 8;
  mutable std::uint64_t done_ = 0;
};

/// Reads the four letters that most structures begin with.
void expect_signature(ByteReader& in, const char* signature);

}  // namespace ingot::formats::hdf5
