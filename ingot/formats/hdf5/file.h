#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/base/dtype.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::hdf5 {

/// What a dataset or an attribute holds, little-endian and in C order.
struct Array {
  DType dtype = DType::undefined;  // undefined: raw bytes, which HDF5 calls opaque
  std::uint64_t item_bytes = 0;    // of one element; of raw bytes that is all that is known
  std::vector<std::int64_t> dims;
  Bytes data;                        // not for strings
  std::vector<std::string> strings;  // without what pads them
};

struct ObjectData;
class Space;

/// A group or a dataset of a file; valid as long as the file is.
class Object {
 public:
  bool is_group() const;
  bool is_dataset() const;
  /// Names of a group's members, in the file's order.
  std::vector<std::string> members() const;
  /// Null: there is none of that name.
  const Object* member(std::string_view name) const;
  /// Nothing: there is no such attribute.
  std::unique_ptr<Array> attribute(std::string_view name) const;
  /// Of a dataset. What is stored as it is stays where it is: in the file.
  Array read() const;

 private:
  friend class File;
  friend struct Objects;
  Object(struct Objects& all, std::unique_ptr<ObjectData> data);

 public:
  ~Object();

 private:
  struct Objects& all_;
  std::unique_ptr<ObjectData> data_;
};

/// An HDF5 file, read only and in place: superblocks 0 to 3, old and new groups, attributes, and datasets that are
/// compact, contiguous or chunked (deflate, shuffle, fletcher32). Whatever leads to other files (external links and
/// storage, virtual datasets), committed types and other filters are refused. Objects are read when they are asked for;
/// not to be shared between threads.
class File {
 public:
  /// The budget, if there is one, must outlive the file and what was read from it.
  explicit File(Bytes contents, Budget* budget = nullptr);
  File(File&&) noexcept;
  ~File();

  const Object& root() const;
  /// By the names from the root, "a/b"; null: there is none.
  const Object* find(std::string_view path) const;

 private:
  std::unique_ptr<struct Objects> objects_;
};

/// The object below another by a path of names; null: there is none.
const Object* find(const Object& from, std::string_view path);

/// Whether the file begins with HDF5's signature.
bool looks_like_hdf5(const Bytes& file);

}  // namespace ingot::formats::hdf5
