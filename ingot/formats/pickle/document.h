#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/formats/pickle/value.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::pickle {

/// Owns all values of a document; they stay where they are.
class Arena {
 public:
  /// The budget, which must outlive this, is charged as long as this lives.
  explicit Arena(Budget& budget);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  Value& make(Kind kind);
  Value& make_integer(std::int64_t value);
  Value& make_real(double value);
  Value& make_text(std::string text, Kind kind = Kind::text);
  /// The text lies in bytes that are kept.
  Value& make_view(std::string_view text, Kind kind = Kind::text);
  /// The same value for the same symbol.
  Value& make_global(std::string_view module, std::string_view name);
  Value& make_object(Ref callable, Ref args);
  Ref none();
  Ref boolean(bool value);
  /// Charges what a list grew by, from so many entries on.
  void grew(std::size_t before, std::size_t after);

  void keep(Bytes source) { sources_.push_back(std::move(source)); }
  void mark_called(Ref callable);
  const std::deque<Symbol>& symbols() const { return symbols_; }
  /// How large the files are that the values come from.
  std::uint64_t source_size() const;
  /// The bytes of a view, without a copy where they lie in a kept source.
  Bytes bytes_of(std::string_view view) const;

 private:
  void charge(std::uint64_t bytes);

  Budget& budget_;
  std::uint64_t charged_ = 0, uncharged_ = 0;
  std::deque<Value> values_;
  std::deque<std::string> texts_;
  std::deque<Symbol> symbols_;
  std::unordered_map<std::string, Value*> globals_;
  std::vector<Bytes> sources_;
  Value* small_[258] = {};  // -1 .. 255 and none
  Ref none_ = nullptr, true_ = nullptr, false_ = nullptr;
};

/// One pickle, read.
struct Document {
  std::shared_ptr<Arena> arena{};
  Ref root = nullptr;
  int protocol = 0;
  std::size_t end = 0;  // where it ends in the stream: others may follow

  const std::deque<Symbol>& symbols() const { return arena->symbols(); }
};

struct ReadOptions {
  Budget* budget = nullptr;        // null: none; the document must not outlive it
  std::size_t offset = 0;          // where the pickle begins in the stream
  std::vector<Bytes> buffers{};    // what protocol 5 keeps outside, in order
  std::shared_ptr<Arena> arena{};  // of a document read before from the same stream; null: a new one
};

/// Reads one pickle of protocol 0 to 5, or a joblib file with its arrays inside. Builds values and executes nothing.
/// Throws Error(Code::bad_pickle) for what is damaged.
Document read(const Bytes& stream, const ReadOptions& options = {});

/// Whether the bytes begin as pickles do: of protocols 2 to 5 that is all but sure, of older ones a guess.
bool looks_like_pickle(const Bytes& file);
bool looks_like_old_pickle(const Bytes& file);

}  // namespace ingot::formats::pickle
