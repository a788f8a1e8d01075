// Zip archives on the way out: members stored as they are, zip64 where sizes need it.
#include <zlib.h>

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/sink.h"
#include "ingot/formats/zip/archive.h"
#include "ingot/formats/zip/records.h"

namespace ingot::formats::zip {
namespace {

constexpr std::uint16_t kPlainVersion = 20, kZip64Version = 45;
constexpr std::uint16_t kFirstDate = 0x21;  // 1 January 1980, the first that the format knows

class Record {
 public:
  Record& u16(std::uint64_t v) { return put(v, 2); }
  Record& u32(std::uint64_t v) { return put(v, 4); }
  Record& u64(std::uint64_t v) { return put(v, 8); }
  Record& text(std::string_view t) {
    bytes_ += t;
    return *this;
  }
  std::size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& put(std::uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(v >> (8 * i) & 0xff);
    return *this;
  }
  std::string bytes_;
};

std::uint64_t clipped(std::uint64_t v) { return std::min<std::uint64_t>(v, kFull32); }

/// Piece by piece: what is mapped need not be in memory all at once.
template <class Use> void for_pieces(const Bytes& bytes, const Use& use) {
  constexpr std::size_t kPiece = std::size_t{16} << 20;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const Bytes piece = bytes.slice(at, std::min(kPiece, bytes.size() - at));
    use(piece.span());
    if (bytes.size() > kPiece) drop_pages(piece);
  }
}

std::uint32_t crc_of(const Bytes& bytes) {
  uLong crc = ::crc32(0, nullptr, 0);
  for_pieces(bytes, [&](std::span<const std::byte> piece) {
    crc = ::crc32(crc, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(piece.size()));
  });
  return static_cast<std::uint32_t>(crc);
}

/// What the local header and the directory share.
Record head(const std::string& name, std::uint32_t crc, std::uint64_t size, std::size_t extra) {
  Record r;
  r.u16(size >= kFull32 || extra ? kZip64Version : kPlainVersion).u16(kUtf8).u16(0).u16(0).u16(kFirstDate);
  r.u32(crc).u32(clipped(size)).u32(clipped(size)).u16(name.size()).u16(extra);
  return r;
}

}  // namespace

void write(const std::vector<std::pair<std::string, Bytes>>& members, Sink& sink) {
  std::uint64_t position = 0;
  const auto put = [&](const Record& r) {
    sink.write(bytes_of(r.bytes()));
    position += r.size();
  };
  Record directory;
  for (const auto& [name, content] : members) {
    if (name.size() >= kFull16) throw Error(Code::bad_name, "a name is too long for an archive");
    const std::uint32_t crc = crc_of(content);
    const std::uint64_t size = content.size(), start = position;
    Record local_extra, central_extra;
    if (size >= kFull32) local_extra.u16(kZip64Field).u16(16).u64(size).u64(size);
    if (size >= kFull32 || start >= kFull32) {
      Record fields;
      if (size >= kFull32) fields.u64(size).u64(size);
      if (start >= kFull32) fields.u64(start);
      central_extra.u16(kZip64Field).u16(fields.size()).text(fields.bytes());
    }
    Record local;
    local.u32(kLocal).text(head(name, crc, size, local_extra.size()).bytes()).text(name).text(local_extra.bytes());
    put(local);
    for_pieces(content, [&](std::span<const std::byte> piece) { sink.write(piece); });
    position += size;
    directory.u32(kCentral).u16(kZip64Version).text(head(name, crc, size, central_extra.size()).bytes());
    directory.u16(0).u16(0).u16(0).u32(0).u32(clipped(start)).text(name).text(central_extra.bytes());
  }
  const std::uint64_t start = position, count = members.size();
  put(directory);
  if (start >= kFull32 || directory.size() >= kFull32 || count >= kFull16) {
    Record end64;
    end64.u32(kEnd64).u64(kEnd64Size - 12).u16(kZip64Version).u16(kZip64Version).u32(0).u32(0);
    end64.u64(count).u64(count).u64(directory.size()).u64(start);
    end64.u32(kLocator64).u32(0).u64(position).u32(1);
    put(end64);
  }
  Record end;
  const std::uint64_t short_count = std::min<std::uint64_t>(count, kFull16);
  end.u32(kEnd).u16(0).u16(0).u16(short_count).u16(short_count);
  end.u32(clipped(directory.size())).u32(clipped(start)).u16(0);
  put(end);
}

}  // namespace ingot::formats::zip
