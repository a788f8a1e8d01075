// FLAC: blocks of samples, predicted from those before them, and Rice codes of what the prediction missed.
#include <algorithm>
#include <bit>
#include <string>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/audio/audio.h"

namespace ingot::formats::audio {
namespace {

[[noreturn]] void refuse_flac(const std::string& why) { throw Error(Code::bad_field_value, "the FLAC stream " + why); }

/// The stream ends within a frame: what came before it counts.
struct CutShort {};

class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> data) : data_(data) {}

  bool at_end() const { return bit_ / 8 >= data_.size(); }
  void seek(std::size_t byte) { bit_ = 8 * byte; }
  std::size_t byte() const { return bit_ / 8; }
  void align() { bit_ = (bit_ + 7) / 8 * 8; }

  std::uint64_t bits(unsigned count) {
    if (bit_ + count > 8 * data_.size()) throw CutShort();
    std::uint64_t value = 0;
    while (count) {
      const unsigned left = 8 - bit_ % 8, taken = std::min(left, count);
      const auto byte = std::to_integer<unsigned>(data_[bit_ / 8]);
      value = value << taken | (byte >> (left - taken) & ((1U << taken) - 1));
      bit_ += taken;
      count -= taken;
    }
    return value;
  }
  std::int64_t signed_bits(unsigned count) {
    if (count == 0) return 0;
    return static_cast<std::int64_t>(bits(count) << (64 - count)) >> (64 - count);
  }
  /// How many zeros stand before the next one.
  std::uint64_t zeros() {
    std::uint64_t count = 0;
    while (bit_ < 8 * data_.size()) {
      const unsigned left = 8 - bit_ % 8;
      const unsigned rest = std::to_integer<unsigned>(data_[bit_ / 8]) & ((1U << left) - 1);
      if (rest) {
        const unsigned skipped = left - static_cast<unsigned>(std::bit_width(rest));
        bit_ += skipped + 1;
        return count + skipped;
      }
      count += left;
      bit_ += left;
    }
    throw CutShort();
  }

 private:
  std::span<const std::byte> data_;
  std::size_t bit_ = 0;
};

struct Stream {
  std::int64_t rate = 0;
  unsigned channels = 0, bits = 0;
};

struct Frame {
  std::size_t size = 0;     // samples of a channel
  unsigned assignment = 0;  // below 8: channels less one; 8 to 10: one of two is a difference
  unsigned bits = 0;
};

using Samples = std::vector<std::int64_t>;

void read_residual(BitReader& in, std::size_t order, Samples& out) {
  const auto method = in.bits(2);
  if (method > 1) refuse_flac("uses a coding that does not exist");
  const unsigned parameter_bits = method == 0 ? 4 : 5, escape = method == 0 ? 15 : 31;
  const auto partitions = std::size_t{1} << in.bits(4);
  if (out.size() % partitions || out.size() / partitions < order) refuse_flac("has partitions that do not fit");
  std::size_t at = order;
  for (std::size_t p = 0; p < partitions; ++p) {
    const std::size_t end = (p + 1) * (out.size() / partitions);
    const auto parameter = static_cast<unsigned>(in.bits(parameter_bits));
    const unsigned raw = parameter == escape ? static_cast<unsigned>(in.bits(5)) : 0;
    for (; at < end; ++at) {
      if (parameter == escape) {
        out[at] = in.signed_bits(raw);
        continue;
      }
      const std::uint64_t folded = in.zeros() << parameter | in.bits(parameter);
      out[at] = static_cast<std::int64_t>(folded >> 1) ^ -static_cast<std::int64_t>(folded & 1);
    }
  }
}

/// Wraps around: a damaged stream may ask for sums beyond 64 bits.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Each sample is what was missed plus a weighted sum of those before it, the nearest first.
void predict(Samples& x, std::span<const std::int64_t> weights, unsigned shift) {
  for (std::size_t i = weights.size(); i < x.size(); ++i) {
    std::int64_t predicted = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) predicted = sum(predicted, product(weights[k], x[i - 1 - k]));
    x[i] = sum(x[i], predicted >> shift);
  }
}

void read_predicted(BitReader& in, std::size_t order, unsigned bits, bool is_fixed, Samples& out) {
  if (order > out.size()) refuse_flac("predicts from more samples than there are");
  for (std::size_t i = 0; i < order; ++i) out[i] = in.signed_bits(bits);
  static constexpr std::int64_t kFixed[5][4] = {{}, {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}};
  if (is_fixed) {
    read_residual(in, order, out);
    return predict(out, std::span(kFixed[order]).first(order), 0);
  }
  const auto precision = static_cast<unsigned>(in.bits(4)) + 1;
  const std::int64_t shift = in.signed_bits(5);
  if (precision == 16 || shift < 0) refuse_flac("has weights of a kind that does not exist");
  std::vector<std::int64_t> weights(order);
  for (std::int64_t& w : weights) w = in.signed_bits(precision);
  read_residual(in, order, out);
  predict(out, weights, static_cast<unsigned>(shift));
}

void read_channel(BitReader& in, unsigned bits, Samples& out) {
  if (in.bits(1)) refuse_flac("is damaged: a channel begins wrong");
  const auto kind = static_cast<unsigned>(in.bits(6));
  unsigned wasted = 0;
  if (in.bits(1)) wasted = static_cast<unsigned>(std::min<std::uint64_t>(in.zeros(), 64)) + 1;
  if (wasted >= bits) refuse_flac("wastes more bits than samples have");
  bits -= wasted;
  if (kind == 0)
    std::ranges::fill(out, in.signed_bits(bits));
  else if (kind == 1)
    for (std::int64_t& x : out) x = in.signed_bits(bits);
  else if (kind >= 8 && kind <= 12)
    read_predicted(in, kind - 8, bits, true, out);
  else if (kind >= 32)
    read_predicted(in, kind - 31, bits, false, out);
  else
    refuse_flac("has a channel of a kind that does not exist");
  for (std::int64_t& x : out) x = product(x, std::int64_t{1} << wasted);
}

Frame read_header(BitReader& in, const Stream& stream) {
  if (in.bits(15) != 0x7FFC) refuse_flac("is damaged: a frame begins wrong");
  in.bits(1);
  const auto size_code = static_cast<unsigned>(in.bits(4)), rate_code = static_cast<unsigned>(in.bits(4));
  Frame f;
  f.assignment = static_cast<unsigned>(in.bits(4));
  const auto bits_code = static_cast<unsigned>(in.bits(3));
  in.bits(1);
  const auto lead = static_cast<unsigned char>(in.bits(8));  // the frame's number, as UTF-8 writes it
  for (int more = std::countl_one(lead) - 1; more > 0; --more) in.bits(8);
  if (size_code == 0) refuse_flac("has a frame without size");
  if (size_code == 1) f.size = 192;
  if (size_code >= 2 && size_code <= 5) f.size = std::size_t{576} << (size_code - 2);
  if (size_code == 6 || size_code == 7) f.size = in.bits(size_code == 6 ? 8 : 16) + 1;
  if (size_code >= 8) f.size = std::size_t{256} << (size_code - 8);
  if (rate_code == 12) in.bits(8);
  if (rate_code == 13 || rate_code == 14) in.bits(16);
  constexpr unsigned kBits[] = {0, 8, 12, 0, 16, 20, 24, 32};
  f.bits = bits_code == 0 ? stream.bits : kBits[bits_code];
  if (f.bits == 0 || f.assignment > 10) refuse_flac("has a frame of a kind that does not exist");
  const unsigned channels = f.assignment < 8 ? f.assignment + 1 : 2;
  if (channels != stream.channels) refuse_flac("changes its number of channels");
  in.bits(8);  // checksum of the header
  return f;
}

void read_frame(BitReader& in, const Stream& stream, Sound& sound) {
  const Frame f = read_header(in, stream);
  std::vector<Samples> channels(stream.channels, Samples(f.size));
  for (unsigned c = 0; c < stream.channels; ++c) {
    const bool is_difference =
        (f.assignment == 8 && c == 1) || (f.assignment == 9 && c == 0) || (f.assignment == 10 && c == 1);
    read_channel(in, f.bits + (is_difference ? 1 : 0), channels[c]);
  }
  in.align();
  in.bits(16);  // checksum of the frame
  for (std::size_t i = 0; f.assignment >= 8 && i < f.size; ++i) {
    std::int64_t &a = channels[0][i], &b = channels[1][i];
    if (f.assignment == 8) b = sum(a, -b);
    if (f.assignment == 9) a = sum(a, b);
    if (f.assignment == 10) {
      const std::int64_t middle = sum(product(a, 2), b & 1), side = b;
      a = sum(middle, side) >> 1;
      b = sum(middle, -side) >> 1;
    }
  }
  const double scale = 1.0 / static_cast<double>(std::int64_t{1} << (f.bits - 1));
  for (std::size_t i = 0; i < f.size; ++i)
    for (const Samples& channel : channels)
      sound.samples.push_back(static_cast<float>(static_cast<double>(channel[i]) * scale));
}

/// Skips all that describes the stream but its first block.
Stream read_description(BitReader& in) {
  Stream stream;
  for (bool is_last = false; !is_last;) {
    is_last = in.bits(1) != 0;
    const auto kind = in.bits(7);
    const std::size_t size = in.bits(24), begin = in.byte();
    if (kind == 0) {
      in.bits(16 + 16);
      in.bits(24 + 24);
      stream.rate = static_cast<std::int64_t>(in.bits(20));
      stream.channels = static_cast<unsigned>(in.bits(3)) + 1;
      stream.bits = static_cast<unsigned>(in.bits(5)) + 1;
    }
    in.seek(begin + size);
  }
  if (stream.rate == 0 || stream.bits < 4) refuse_flac("does not say its rate");
  return stream;
}

}  // namespace

Sound decode_flac(std::span<const std::byte> data, Budget& budget) {
  constexpr std::size_t kMostSamples = std::size_t{1} << 28;
  BitReader in(data);
  Sound sound;
  std::uint64_t charged = 0;
  try {
    if (in.bits(32) != 0x664C6143) refuse_flac("does not begin with its name");
    const Stream stream = read_description(in);
    sound.rate = stream.rate;
    sound.channels = stream.channels;
    while (!in.at_end()) {
      budget.poll();
      const std::size_t before = sound.samples.capacity();
      if (sound.samples.size() > kMostSamples) refuse_flac("has more samples than anybody hears");
      read_frame(in, stream, sound);
      const std::uint64_t grown = (sound.samples.capacity() - before) * sizeof(float);
      budget.charge_memory(grown);
      charged += grown;
    }
  } catch (const CutShort&) {
    if (sound.channels == 0) refuse_flac("is cut short");
  }
  budget.release_memory(charged);
  return sound;
}

}  // namespace ingot::formats::audio
