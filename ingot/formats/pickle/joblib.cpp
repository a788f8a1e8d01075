// joblib: arrays behind their descriptions, and files in the wrapping of a compressor.
#include "ingot/formats/pickle/joblib.h"

#include <bzlib.h>
#include <fmt/format.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>

#include <charconv>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/pickle/numpy.h"

namespace ingot::formats::pickle {
namespace {

enum class Compressor { none, zlib, bz2, lzma, lz4, old_zlib };

Compressor compressor_of(const Bytes& file) {
  using namespace std::literals;
  const std::string_view text = file.text();
  if (text.starts_with("ZF")) return Compressor::old_zlib;
  if (text.starts_with("BZh")) return Compressor::bz2;
  if (text.starts_with("\xfd\x37zXZ"sv) || text.starts_with("\x5d\0"sv)) return Compressor::lzma;
  if (text.starts_with("\x04\x22\x4d\x18"sv)) return Compressor::lz4;
  if (text.starts_with("\x1f\x8b"sv)) return Compressor::zlib;
  // The first two bytes of zlib's are a multiple of 31.
  if (text.size() > 2 && text[0] == '\x78' && (0x7800 + static_cast<unsigned char>(text[1])) % 31 == 0)
    return Compressor::zlib;
  return Compressor::none;
}

[[noreturn]] void damaged() { throw Error(Code::bad_archive, "the compressed data of the file is damaged"); }

/// What comes out, charged to the budget as it grows and as long as it lives.
class Output {
 public:
  /// `most`: how much is wanted, if not all.
  Output(Budget& budget, std::size_t most) : budget_(budget), most_(most), held_(std::make_shared<Held>(budget)) {}

  bool has_enough(std::size_t used) const { return size_ + used >= most_; }

  /// Room for the next piece; `used` says how much of the last one was.
  std::span<std::byte> next(std::size_t used) {
    size_ += used;
    budget_.poll();
    if (size_ + kStep > held_->bytes.size()) {
      const std::size_t wanted = std::max(size_ + kStep, held_->bytes.size() + held_->bytes.size() / 2);
      budget_.charge_memory(wanted - held_->bytes.size());
      held_->charged = wanted;
      held_->bytes.resize(wanted);
    }
    return std::span(held_->bytes).subspan(size_);
  }
  Bytes finish(std::size_t used) {
    size_ += used;
    return Bytes(held_, held_->bytes.data(), size_);
  }

 private:
  static constexpr std::size_t kStep = 1 << 20;
  struct Held {
    explicit Held(Budget& b) : budget(b) {}
    Held(const Held&) = delete;
    ~Held() { budget.release_memory(charged); }
    Budget& budget;
    std::uint64_t charged = 0;
    std::vector<std::byte> bytes;
  };
  Budget& budget_;
  std::size_t most_;
  std::shared_ptr<Held> held_;
  std::size_t size_ = 0;
};

unsigned piece(std::size_t size) { return static_cast<unsigned>(std::min<std::size_t>(size, 1u << 30)); }

Bytes from_zlib(std::span<const std::byte> from, Output out) {
  z_stream z{};
  if (inflateInit2(&z, MAX_WBITS + 32) != Z_OK) throw Error(Code::out_of_memory, "no memory to decompress");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&z, inflateEnd);
  std::size_t used = 0;
  for (int state = Z_OK; state != Z_STREAM_END && !out.has_enough(used);) {
    if (z.avail_in == 0) {
      z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
      z.avail_in = piece(from.size());
      from = from.subspan(z.avail_in);
    }
    const auto room = out.next(used);
    const unsigned size = piece(room.size());
    z.next_out = reinterpret_cast<Bytef*>(room.data());
    z.avail_out = size;
    state = ::inflate(&z, Z_NO_FLUSH);
    used = size - z.avail_out;
    if (state != Z_OK && state != Z_STREAM_END) damaged();
    if (state == Z_OK && used == 0 && z.avail_in == 0 && from.empty()) damaged();
  }
  return out.finish(used);
}

Bytes from_bz2(std::span<const std::byte> from, Output out) {
  bz_stream z{};
  if (BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK) throw Error(Code::out_of_memory, "no memory to decompress");
  const std::unique_ptr<bz_stream, int (*)(bz_stream*)> guard(&z, BZ2_bzDecompressEnd);
  std::size_t used = 0;
  for (int state = BZ_OK; state != BZ_STREAM_END && !out.has_enough(used);) {
    if (z.avail_in == 0) {
      z.next_in = reinterpret_cast<char*>(const_cast<std::byte*>(from.data()));
      z.avail_in = piece(from.size());
      from = from.subspan(z.avail_in);
    }
    const auto room = out.next(used);
    const unsigned size = piece(room.size());
    z.next_out = reinterpret_cast<char*>(room.data());
    z.avail_out = size;
    state = BZ2_bzDecompress(&z);
    used = size - z.avail_out;
    if (state != BZ_OK && state != BZ_STREAM_END) damaged();
    if (state == BZ_OK && used == 0 && z.avail_in == 0 && from.empty()) damaged();
  }
  return out.finish(used);
}

Bytes from_lzma(std::span<const std::byte> from, Output out) {
  lzma_stream z = LZMA_STREAM_INIT;
  if (lzma_auto_decoder(&z, std::uint64_t{1} << 30, 0) != LZMA_OK)
    throw Error(Code::out_of_memory, "no memory to decompress");
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> guard(&z, lzma_end);
  z.next_in = reinterpret_cast<const std::uint8_t*>(from.data());
  z.avail_in = from.size();
  std::size_t used = 0;
  for (lzma_ret state = LZMA_OK; state != LZMA_STREAM_END && !out.has_enough(used);) {
    const auto room = out.next(used);
    z.next_out = reinterpret_cast<std::uint8_t*>(room.data());
    z.avail_out = room.size();
    state = lzma_code(&z, LZMA_FINISH);
    used = room.size() - z.avail_out;
    if (state != LZMA_OK && state != LZMA_STREAM_END) damaged();
  }
  return out.finish(used);
}

Bytes from_lz4(std::span<const std::byte> from, Output out) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
    throw Error(Code::out_of_memory, "no memory to decompress");
  const std::unique_ptr<LZ4F_dctx, LZ4F_errorCode_t (*)(LZ4F_dctx*)> guard(context, LZ4F_freeDecompressionContext);
  std::size_t used = 0;
  for (std::size_t hint = 1; hint != 0 && !out.has_enough(used);) {
    const auto room = out.next(used);
    std::size_t made = room.size(), taken = from.size();
    hint = LZ4F_decompress(context, room.data(), &made, from.data(), &taken, nullptr);
    if (LZ4F_isError(hint) || (made == 0 && taken == 0 && hint != 0)) damaged();
    from = from.subspan(taken);
    used = made;
  }
  return out.finish(used);
}

}  // namespace

bool is_joblib_array(const Value& instance) {
  const Symbol* type = class_of(instance);
  return type && type->name == "NumpyArrayWrapper" && type->module.ends_with("numpy_pickle");
}

JoblibArray describe_joblib_array(const Value& instance) {
  const Ref shape = attribute(instance, "shape"), dtype = attribute(instance, "dtype");
  if (!shape || !dtype || !shape->is_sequence()) throw Error(Code::bad_pickle, "an array of joblib lacks its shape");
  const Dtype type = read_dtype(*dtype);
  JoblibArray array;
  array.is_objects = type.kind == 'O';
  array.is_padded = attribute(instance, "numpy_array_alignment_bytes") != nullptr;
  std::vector<std::int64_t> dims;
  for (const Ref dim : shape->items) dims.push_back(dim->is(Kind::integer) ? dim->integer : -1);
  const auto count = element_count(dims);
  const auto bytes = count ? checked_mul<std::uint64_t>(*count, type.size) : std::nullopt;
  if (!bytes) throw Error(Code::bad_pickle, "an array of joblib has a shape that is none");
  array.bytes = *bytes;
  return array;
}

namespace {

Bytes decompressed_up_to(const Bytes& file, Budget* budget, std::size_t most) {
  Output out(budget ? *budget : Budget::unlimited(), most);
  switch (compressor_of(file)) {
    case Compressor::zlib:
      return from_zlib(file.span(), std::move(out));
    case Compressor::bz2:
      return from_bz2(file.span(), std::move(out));
    case Compressor::lzma:
      return from_lzma(file.span(), std::move(out));
    case Compressor::lz4:
      return from_lz4(file.span(), std::move(out));
    case Compressor::old_zlib: {  // "ZF", the length in 19 or 21 characters, then zlib
      const std::size_t begin = file.text().find('\x78', 2);
      if (begin == std::string_view::npos || begin > 32) damaged();
      return from_zlib(file.span().subspan(begin), std::move(out));
    }
    case Compressor::none:
      return file;
  }
  return file;
}

}  // namespace

bool looks_like_compressed_pickle(const Bytes& file) try {
  return compressor_of(file) != Compressor::none && looks_like_pickle(decompressed_up_to(file, nullptr, 1));
} catch (const Error&) {
  return false;
}

Bytes decompressed(const Bytes& file, Budget* budget) {
  return decompressed_up_to(file, budget, std::numeric_limits<std::size_t>::max());
}

}  // namespace ingot::formats::pickle
