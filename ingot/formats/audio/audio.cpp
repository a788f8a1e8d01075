// Sounds: which format a file has, and WAV.
#include "ingot/formats/audio/audio.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"

namespace ingot::formats::audio {
namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void refuse_sound(const std::string& why) { throw Error(Code::bad_field_value, "the sound " + why); }

bool begins(Bytes data, std::string_view with) {
  return data.size() >= with.size() && std::memcmp(data.data(), with.data(), with.size()) == 0;
}

template <class T> T number(Bytes data, std::size_t at) {
  T value{};
  std::memcpy(&value, data.data() + at, sizeof value);
  return value;
}

/// How the samples of a WAV file are written.
struct Layout {
  unsigned code = 0;  // 1: integers, 3: floats
  std::size_t bits = 0, channels = 0;
  std::int64_t rate = 0;
};

Layout layout_of(Bytes chunk) {
  if (chunk.size() < 16) refuse_sound("has a short format chunk");
  Layout f{number<std::uint16_t>(chunk, 0), number<std::uint16_t>(chunk, 14), number<std::uint16_t>(chunk, 2),
           number<std::uint32_t>(chunk, 4)};
  if (f.code == 0xFFFE && chunk.size() >= 26) f.code = number<std::uint16_t>(chunk, 24);  // the code of its sub-format
  const bool is_integer = f.code == 1 && (f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32);
  const bool is_float = f.code == 3 && (f.bits == 32 || f.bits == 64);
  if (!is_integer && !is_float)
    refuse_sound("is a WAV file of a kind that is not known: code " + std::to_string(f.code));
  if (f.channels == 0 || f.rate == 0) refuse_sound("has no channels or no rate");
  return f;
}

float sample(Bytes data, std::size_t at, const Layout& f) {
  if (f.code == 3) return f.bits == 32 ? number<float>(data, at) : static_cast<float>(number<double>(data, at));
  if (f.bits == 8) return static_cast<float>(number<std::uint8_t>(data, at)) * (2.0F / 255.0F) - 1.0F;
  std::uint32_t bits = 0;  // at the top of a word
  for (std::size_t i = 0; i < f.bits / 8; ++i)
    bits |= std::uint32_t{number<std::uint8_t>(data, at + i)} << (32 - f.bits + 8 * i);
  return static_cast<float>(static_cast<double>(static_cast<std::int32_t>(bits)) / 2147483648.0);
}

Sound decode_wav(Bytes data, Budget& budget) {
  if (!begins(data, "RIFF") || data.size() < 12 || !begins(data.subspan(8), "WAVE")) refuse_sound("is no WAV file");
  Layout f;
  for (std::size_t at = 12; at + 8 <= data.size();) {
    const std::size_t size = std::min<std::size_t>(number<std::uint32_t>(data, at + 4), data.size() - at - 8);
    const Bytes chunk = data.subspan(at + 8, size);
    if (begins(data.subspan(at), "fmt ")) f = layout_of(chunk);
    if (begins(data.subspan(at), "data")) {
      if (f.code == 0) refuse_sound("has samples before their format");
      const std::size_t width = f.bits / 8, moments = size / width / f.channels;
      budget.charge_memory(moments * f.channels * sizeof(float));
      Sound sound{f.rate, static_cast<std::int64_t>(f.channels), std::vector<float>(moments * f.channels)};
      for (std::size_t i = 0; i < sound.samples.size(); ++i) sound.samples[i] = sample(chunk, i * width, f);
      budget.release_memory(moments * f.channels * sizeof(float));
      return sound;
    }
    at += 8 + size + size % 2;
  }
  refuse_sound("has no samples");
}

}  // namespace

Format recognise(Bytes data) {
  if (begins(data, "fLaC")) return Format::flac;
  if (begins(data, "RIFF")) return Format::wav;
  const bool has_sync =
      data.size() >= 2 && data[0] == std::byte{0xFF} && (data[1] & std::byte{0xE0}) == std::byte{0xE0};
  return has_sync || begins(data, "ID3") ? Format::mp3 : Format::unknown;
}

Sound decode(Bytes data, Format format, Budget& budget) {
  if (format == Format::wav) return decode_wav(data, budget);
  if (format == Format::flac) return decode_flac(data, budget);
  if (format == Format::mp3) return decode_mp3(data, budget);
  refuse_sound("is of no format that is known");
}

}  // namespace ingot::formats::audio
