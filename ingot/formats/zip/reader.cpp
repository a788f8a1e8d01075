// Zip archives on the way in: every size and place is checked before it is believed.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/byte_reader.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/sink.h"
#include "ingot/formats/zip/archive.h"
#include "ingot/formats/zip/records.h"

namespace ingot::formats::zip {
namespace {

constexpr std::uint64_t kMaxRatio = 1032;  // what deflate can reach

[[noreturn]] void refuse(const std::string& why) { throw Error(Code::bad_archive, "the archive is refused: " + why); }

struct Directory {
  std::uint64_t offset = 0, size = 0, count = 0;
};

/// What stands at [offset, offset + size) of the file.
ByteReader reader_at(const Bytes& file, std::uint64_t offset, std::uint64_t size, const char* what) {
  const auto end = checked_add(offset, size);
  if (!end || *end > file.size()) refuse(fmt::format("its {} lies beyond the end of the file", what));
  return ByteReader(file.span().subspan(offset, size), offset);
}

/// The end record stands last, before a comment that it tells the length of.
std::uint64_t find_end(const Bytes& file) {
  if (file.size() < kEndSize) refuse("it is too short");
  const std::uint64_t last = file.size() - kEndSize;
  const std::uint64_t first = last > kFull16 ? last - kFull16 : 0;
  for (std::uint64_t at = last + 1; at-- > first;) {
    ByteReader r = reader_at(file, at, kEndSize, "end record");
    if (r.u32() != kEnd) continue;
    r.skip(16);
    if (r.u16() == file.size() - at - kEndSize) return at;
  }
  refuse("it has no end record");
}

Directory find_directory(const Bytes& file) {
  const std::uint64_t end = find_end(file);
  ByteReader r = reader_at(file, end, kEndSize, "end record");
  r.skip(4);
  const std::uint16_t disk = r.u16(), directory_disk = r.u16(), count_here = r.u16(), count = r.u16();
  const std::uint32_t size = r.u32(), offset = r.u32();
  Directory d{offset, size, count};
  const bool may_be_64 = count == kFull16 || size == kFull32 || offset == kFull32;
  std::uint64_t limit = end;
  if (may_be_64 && end >= kLocator64Size) {
    ByteReader locator = reader_at(file, end - kLocator64Size, kLocator64Size, "zip64 locator");
    if (locator.u32() == kLocator64) {
      locator.skip(4);
      const std::uint64_t at = locator.u64();
      ByteReader end64 = reader_at(file, at, kEnd64Size, "zip64 end record");
      if (end64.u32() != kEnd64) refuse("its zip64 end record is damaged");
      end64.skip(8 + 2 + 2);
      if (end64.u32() != 0 || end64.u32() != 0) refuse("it is split over several files");
      const std::uint64_t here = end64.u64();
      d.count = end64.u64();
      d.size = end64.u64();
      d.offset = end64.u64();
      if (here != d.count) refuse("it is split over several files");
      limit = at;
    }
  } else if (disk != 0 || directory_disk != 0 || count_here != count) {
    refuse("it is split over several files");
  }
  const auto directory_end = checked_add(d.offset, d.size);
  if (!directory_end || *directory_end > limit) refuse("its directory lies beyond the end of the file");
  if (d.count > d.size / kCentralSize) refuse("its directory is too short for its number of members");
  return d;
}

/// Replaces sizes and offset that did not fit 32 bits by those of the zip64 field.
void read_zip64(std::span<const std::byte> extra, Member& m, std::uint64_t& header) {
  ByteReader fields(extra);
  while (fields.remaining() >= 4) {
    const std::uint16_t id = fields.u16(), size = fields.u16();
    ByteReader field(fields.bytes(size));
    if (id != kZip64Field) continue;
    if (m.size == kFull32) m.size = field.u64();
    if (m.stored_size == kFull32) m.stored_size = field.u64();
    if (header == kFull32) header = field.u64();
    return;
  }
}

struct Entry {
  Member member;
  std::uint64_t header = 0;
  std::uint16_t flags = 0;
};

Entry read_entry(ByteReader& r) {
  Entry e;
  if (r.u32() != kCentral) refuse("its directory is damaged");
  r.skip(4);
  e.flags = r.u16();
  const std::uint16_t method = r.u16();
  r.skip(4);
  Member& m = e.member;
  m.crc = r.u32();
  m.stored_size = r.u32();
  m.size = r.u32();
  const std::uint16_t name_size = r.u16(), extra_size = r.u16(), comment_size = r.u16(), disk = r.u16();
  r.skip(2 + 4);
  e.header = r.u32();
  const auto name = r.bytes(name_size);
  m.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  read_zip64(r.bytes(extra_size), m, e.header);
  r.skip(comment_size);
  if (disk != 0 && disk != kFull16) refuse("it is split over several files");
  if (e.flags & (kEncrypted | kStrongEncryption | kMaskedHeaders)) refuse("it is encrypted");
  if (method != 0 && method != 8) refuse(fmt::format("'{}' is compressed by method {}, not deflate", m.name, method));
  m.is_deflated = method == 8;
  if (!m.is_deflated && m.size != m.stored_size) refuse(fmt::format("the sizes of '{}' contradict each other", m.name));
  if (m.is_deflated && m.size / kMaxRatio > m.stored_size)
    refuse(fmt::format("'{}' claims {} bytes from {}, more than deflate can give", m.name, m.size, m.stored_size));
  return e;
}

/// The member's own header must agree with the directory; returns where the member begins.
void find_data(const Bytes& file, Entry& e) {
  ByteReader r = reader_at(file, e.header, kLocalSize, "member");
  if (r.u32() != kLocal) refuse(fmt::format("the header of '{}' is damaged", e.member.name));
  r.skip(2);
  const std::uint16_t flags = r.u16();
  const std::uint16_t method = r.u16();
  r.skip(4 + 4);
  const std::uint32_t stored = r.u32(), size = r.u32();
  const std::uint16_t name_size = r.u16(), extra_size = r.u16();
  const std::uint64_t name_at = e.header + kLocalSize;
  ByteReader rest = reader_at(file, name_at, std::uint64_t{name_size} + extra_size, "member");
  const auto name = rest.bytes(name_size);
  const bool sizes_agree = (flags & kDescriptorFollows) || ((stored == kFull32 || stored == e.member.stored_size) &&
                                                            (size == kFull32 || size == e.member.size));
  if (std::string_view(reinterpret_cast<const char*>(name.data()), name.size()) != e.member.name || !sizes_agree ||
      (method == 8) != e.member.is_deflated || (flags & kEncrypted))
    refuse(fmt::format("the header of '{}' contradicts the directory", e.member.name));
  e.member.offset = name_at + name_size + extra_size;
  (void)reader_at(file, e.member.offset, e.member.stored_size, "member");
}

void refuse_overlaps(const std::vector<Entry>& entries, const Directory& directory) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;  // header to end of data
  for (const Entry& e : entries) ranges.emplace_back(e.header, e.member.offset + e.member.stored_size);
  ranges.emplace_back(directory.offset, directory.offset + directory.size);
  std::ranges::sort(ranges);
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second) refuse("its members overlap");
}

struct Inflater {
  z_stream stream = {};
  Inflater() {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Error(Code::out_of_memory, "no memory to decompress");
  }
  Inflater(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }
};

uInt piece(std::uint64_t bytes) { return static_cast<uInt>(std::min<std::uint64_t>(bytes, 1u << 30)); }

void inflate_all(std::span<const std::byte> from, std::span<std::byte> to, const std::string& name, Budget* budget) {
  Inflater inflater;
  z_stream& z = inflater.stream;
  std::size_t read = 0, written = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (budget) budget->poll();
    const uInt in = piece(from.size() - read), out = std::min<uInt>(piece(to.size() - written), 1u << 22);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data() + read));
    z.avail_in = in;
    z.next_out = reinterpret_cast<Bytef*>(to.data() + written);
    z.avail_out = out;
    state = ::inflate(&z, Z_NO_FLUSH);
    read += in - z.avail_in;
    written += out - z.avail_out;
    if (state == Z_OK && in == z.avail_in && out == z.avail_out) break;  // no progress: the end is missing
  }
  if (state != Z_STREAM_END || written != to.size() || read != from.size())
    refuse(fmt::format("the data of '{}' is damaged", name));
}

/// What is mapped need not stay in memory for it.
std::uint32_t crc_of(const Bytes& bytes) {
  constexpr std::size_t kPiece = std::size_t{16} << 20;
  uLong crc = ::crc32(0, nullptr, 0);
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const Bytes part = bytes.slice(at, std::min(kPiece, bytes.size() - at));
    crc = ::crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    if (bytes.size() > kPiece) drop_pages(part);
  }
  return static_cast<std::uint32_t>(crc);
}

[[noreturn]] void refuse_checksum(const std::string& name) {
  throw Error(Code::checksum_mismatch, fmt::format("the checksum of '{}' does not match its content", name));
}

/// Memory that is charged while it lives.
struct Charged {
  Charged(Budget* budget, std::uint64_t size) {
    if (budget) guard.emplace(*budget, size);
    bytes.resize(size);
  }
  std::optional<Budget::MemoryGuard> guard;
  std::vector<std::byte> bytes;
};

}  // namespace

Archive::Archive(Bytes file) : file_(std::move(file)) {
  const Directory directory = find_directory(file_);
  ByteReader r = reader_at(file_, directory.offset, directory.size, "directory");
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < directory.count; ++i) entries.push_back(read_entry(r));
  for (Entry& e : entries) find_data(file_, e);
  refuse_overlaps(entries, directory);
  for (Entry& e : entries) members_.push_back(std::move(e.member));
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!by_name_.emplace(members_[i].name, i).second) refuse(fmt::format("it has '{}' twice", members_[i].name));
}

const Member* Archive::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &members_[it->second];
}

Bytes Archive::read(const Member& member, Budget* budget) const {
  Bytes content = file_.slice(member.offset, member.stored_size);
  if (member.is_deflated) {
    auto memory = std::make_shared<Charged>(budget, member.size);
    inflate_all(content.span(), memory->bytes, member.name, budget);
    const std::byte* data = memory->bytes.data();
    content = Bytes(std::move(memory), data, member.size);
  }
  if (crc_of(content) != member.crc) refuse_checksum(member.name);
  return content;
}

void Archive::unpack(const Member& member, Sink& sink, Budget* budget) const {
  const Bytes content = file_.slice(member.offset, member.stored_size);
  if (!member.is_deflated) return sink.write(read(member, budget).span());
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<std::byte> out(kPiece);
  Inflater inflater;
  z_stream& z = inflater.stream;
  std::size_t read = 0;
  std::uint64_t written = 0;
  uLong crc = ::crc32(0, nullptr, 0);
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (budget) budget->poll();
    const uInt in = piece(content.size() - read);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(content.data() + read));
    z.avail_in = in;
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    state = ::inflate(&z, Z_NO_FLUSH);
    const std::size_t got = out.size() - z.avail_out;
    read += in - z.avail_in;
    written += got;
    const bool is_stuck = got == 0 && in == z.avail_in && state != Z_STREAM_END;
    if ((state != Z_OK && state != Z_STREAM_END) || written > member.size || is_stuck)
      refuse(fmt::format("the data of '{}' is damaged", member.name));
    crc = ::crc32(crc, reinterpret_cast<const Bytef*>(out.data()), static_cast<uInt>(got));
    sink.write(std::span(out).first(got));
  }
  if (written != member.size || read != content.size()) refuse(fmt::format("the data of '{}' is damaged", member.name));
  if (static_cast<std::uint32_t>(crc) != member.crc) refuse_checksum(member.name);
}

bool looks_like_zip(const Bytes& file) {
  if (file.size() < kEndSize) return false;
  const std::uint32_t signature = ByteReader(file.span()).u32();
  return signature == kLocal || signature == kEnd;
}

}  // namespace ingot::formats::zip
