// MP3 by libmpg123: the samples of every frame, as the encoder's delay and padding left them.
#include <mpg123.h>

#include <algorithm>
#include <memory>
#include <string>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/audio/audio.h"

namespace ingot::formats::audio {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(Code::bad_field_value, "the sound " + what); }

using Handle = std::unique_ptr<mpg123_handle, decltype(&mpg123_delete)>;

Handle open(std::span<const std::byte> data) {
  static const int kReady = mpg123_init();
  Handle handle(kReady == MPG123_OK ? mpg123_new(nullptr, nullptr) : nullptr, mpg123_delete);
  if (!handle) refuse("cannot be decoded: libmpg123 does not start");
  // A frame with notes about the file is a silent one to who does not ask; no frame is skipped or cut.
  constexpr long kAdded = MPG123_FORCE_FLOAT | MPG123_IGNORE_INFOFRAME | MPG123_QUIET;
  mpg123_param(handle.get(), MPG123_ADD_FLAGS, kAdded, 0);
  mpg123_param(handle.get(), MPG123_REMOVE_FLAGS, MPG123_GAPLESS, 0);
  if (mpg123_open_feed(handle.get()) != MPG123_OK ||
      mpg123_feed(handle.get(), reinterpret_cast<const unsigned char*>(data.data()), data.size()) != MPG123_OK)
    refuse("cannot be decoded: " + std::string(mpg123_strerror(handle.get())));
  return handle;
}

/// Memory of samples that grow frame by frame.
class Charge {
 public:
  explicit Charge(Budget& budget) : budget_(budget) {}
  ~Charge() { budget_.release_memory(charged_); }
  Charge(const Charge&) = delete;
  void grow_to(std::size_t bytes) {
    if (bytes <= charged_) return;
    budget_.charge_memory(bytes - charged_);
    charged_ = bytes;
  }

 private:
  Budget& budget_;
  std::size_t charged_ = 0;
};

}  // namespace

Sound decode_mp3(std::span<const std::byte> data, Budget& budget) {
  const Handle handle = open(data);
  Sound sound;
  Charge charge(budget);
  for (;;) {
    off_t frame = 0;
    unsigned char* bytes = nullptr;
    std::size_t size = 0;
    const int answer = mpg123_decode_frame(handle.get(), &frame, &bytes, &size);
    if (answer == MPG123_NEW_FORMAT) {
      long rate = 0;
      int channels = 0, encoding = 0;
      mpg123_getformat(handle.get(), &rate, &channels, &encoding);
      if (encoding != MPG123_ENC_FLOAT_32) refuse("gives no floats");
      if (sound.channels != 0 && (sound.rate != rate || sound.channels != channels))
        refuse("changes its rate or channels on the way");
      sound.rate = rate;
      sound.channels = channels;
      continue;
    }
    if (answer != MPG123_OK) break;  // the end, or what cannot be decoded any more
    budget.poll();
    const std::size_t count = size / sizeof(float), before = sound.samples.size();
    charge.grow_to((before + count) * sizeof(float));
    sound.samples.resize(before + count);
    std::copy_n(bytes, count * sizeof(float), reinterpret_cast<unsigned char*>(sound.samples.data() + before));
  }
  if (sound.samples.empty()) refuse("has no frame of MP3");
  return sound;
}

}  // namespace ingot::formats::audio
