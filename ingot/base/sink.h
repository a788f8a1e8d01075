#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ingot {

/// Where a writer's bytes go, in order: a file, a string.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;

 protected:
  Sink() = default;
  Sink(const Sink&) = default;
  Sink& operator=(const Sink&) = default;
};

/// Collects the bytes in memory.
class StringSink final : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override {
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Zeros from `position` up to the next multiple of `boundary`; none for a boundary of 0.
void write_padding(Sink& sink, std::uint64_t position, std::size_t boundary);

}  // namespace ingot
