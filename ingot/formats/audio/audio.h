#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ingot {
class Budget;
}

namespace ingot::formats::audio {

/// Samples from -1 to 1, those of one moment beside each other.
struct Sound {
  std::int64_t rate = 0;  // moments in a second
  std::int64_t channels = 0;
  std::vector<float> samples;
};

enum class Format { unknown, wav, flac, mp3 };

/// Told by the first bytes.
Format recognise(std::span<const std::byte> data);

/// WAV (integers of 8 to 32 bits, floats), FLAC or MP3. Memory is charged to the budget. Throws Error(bad_field_value) for
/// what is damaged or of another format; of a stream that is cut short it gives what is there.
Sound decode(std::span<const std::byte> data, Format format, Budget& budget);

Sound decode_flac(std::span<const std::byte> data, Budget& budget);
Sound decode_mp3(std::span<const std::byte> data, Budget& budget);

}  // namespace ingot::formats::audio
