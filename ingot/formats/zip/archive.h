#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingot/base/bytes.h"

namespace ingot {
class Budget;
class Sink;
}  // namespace ingot

namespace ingot::formats::zip {

struct Member {
  std::string name;
  std::uint64_t offset = 0;  // of the data in the file
  std::uint64_t stored_size = 0, size = 0;
  std::uint32_t crc = 0;
  bool is_deflated = false;
};

/// A zip archive, zip64 too, read in place: nothing is extracted to files. Refused are archives that are encrypted,
/// split, damaged or compressed by anything but deflate, and those whose members overlap, share a name, or claim a size
/// that their data cannot have.
class Archive {
 public:
  explicit Archive(Bytes file);

  const std::vector<Member>& members() const { return members_; }
  /// Null: there is none of that name.
  const Member* find(std::string_view name) const;

  /// The content, its checksum verified. A member that is stored as it is stays where it is; another is charged to the
  /// budget as long as it lives, which the budget must outlive.
  Bytes read(const Member& member, Budget* budget = nullptr) const;
  /// Writes the content piece by piece; its checksum is verified at the end.
  void unpack(const Member& member, Sink& sink, Budget* budget = nullptr) const;

 private:
  Bytes file_;
  std::vector<Member> members_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

/// Whether the file begins as archives do.
bool looks_like_zip(const Bytes& file);

/// Writes an archive of members that are stored as they are, without times: the same members give the same bytes.
void write(const std::vector<std::pair<std::string, Bytes>>& members, Sink& sink);

}  // namespace ingot::formats::zip
