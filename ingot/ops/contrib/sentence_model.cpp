// The rules by which BlingFire cuts texts into sentences.
#include "ingot/ops/contrib/sentence_model.h"

#include <algorithm>

#include "ingot/base/error.h"

namespace ingot::ops {
namespace {

// Symbols that are no characters.
constexpr std::uint32_t kAny = 0, kBegin = 1, kEnd = 2, kOther = 3;
// States behind a symbol that are none.
constexpr std::int64_t kNone = -1, kDead = -2;
// Kinds of states.
constexpr std::uint64_t kEmpty = 0, kRanges = 1, kSingle = 2, kListed = 4, kTable = 6;
constexpr std::uint64_t kMostBlocks = 256;
constexpr std::int64_t kMostDepth = 32;

[[noreturn]] void refuse_model(const char* why) {
  throw Error(Code::bad_attribute, "the model of sentences is not understood: " + std::string(why));
}

}  // namespace

std::uint64_t SentenceModel::little(std::uint64_t at, std::uint64_t size) const {
  if (at > bytes_.size() || size > bytes_.size() - at) refuse_model("it ends too early");
  std::uint64_t value = 0;
  for (std::uint64_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + i]);
  return value;
}

std::int64_t SentenceModel::little_signed(std::uint64_t at, std::uint64_t size) const {
  const auto unused = static_cast<int>(64 - 8 * size);
  return static_cast<std::int64_t>(little(at, size) << unused) >> unused;
}

std::uint64_t SentenceModel::big(std::uint64_t at, std::uint64_t size) const {
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < size; ++i) value = value << 8 | little(at + i, 1);
  return value;
}

/// How many of sorted numbers are not above a value.
std::uint64_t SentenceModel::count_up_to(std::uint64_t value, std::uint64_t at, std::uint64_t count,
                                         std::uint64_t size) const {
  std::uint64_t least = 0;
  while (least < count) {
    const std::uint64_t middle = least + (count - least) / 2;
    if (little(at + middle * size, size) <= value)
      least = middle + 1;
    else
      count = middle;
  }
  return least;
}

SentenceModel::Lists SentenceModel::lists(std::uint64_t block) const {
  Lists made;
  made.keys = little(block, 4) + 1;
  made.place_size = little(block + 4, 4);
  if (made.place_size < 1 || made.place_size > 4) refuse_model("its lists are damaged");
  made.places = block + 8;
  made.values = block + (8 + made.keys * made.place_size + 3) / 4 * 4;
  made.value_size = little(made.values, 4);
  if (made.value_size != 1 && made.value_size != 2 && made.value_size != 4) refuse_model("its lists are damaged");
  return made;
}

/// Empty if there is none.
std::vector<std::int64_t> SentenceModel::list(const Lists& lists, std::int64_t key) const {
  std::vector<std::int64_t> made;
  if (key < 0 || static_cast<std::uint64_t>(key) >= lists.keys) return made;
  const std::uint64_t place = big(lists.places + static_cast<std::uint64_t>(key) * lists.place_size, lists.place_size);
  if (place == 0) return made;
  std::uint64_t at = lists.values + place - 1;
  const std::int64_t count = little_signed(at, lists.value_size);
  for (std::int64_t i = 0; i < count; ++i) made.push_back(little_signed(at += lists.value_size, lists.value_size));
  return made;
}

void SentenceModel::read_automaton(std::uint64_t block) {
  automaton_ = block;
  next_size_ = little(block, 4);
  if (next_size_ < 1 || next_size_ > 4) next_size_ = 3;
  const std::uint64_t alphabet = little(block + 8, 4);  // two numbers for a range; the highest bit: classes follow
  std::uint64_t at = block + 12 + 4 * (alphabet & 0x7FFFFFFF);
  if ((alphabet & 0x80000000) != 0) {
    const std::uint64_t size = little(at, 4);
    class_size_ = little(at + 4, 4);
    class_count_ = little(at + 8, 4);
    if (class_size_ < 1 || class_size_ > 4 || class_count_ == 0) refuse_model("its classes of characters are damaged");
    classes_ = at + 12;
    at += 4 + size;
  }
  initial_ = static_cast<std::int64_t>(at - block);
}

void SentenceModel::read_settings(const std::vector<std::uint64_t>& blocks) {
  enum Setting {
    kAutomaton = 2,
    kMapMode = 16,
    kIgnoresCase = 22,
    kActions = 25,
    kKind = 26,
    kDepth = 38,
    kLongest = 69
  };
  constexpr std::int64_t kWords = 19, kPacked = 1, kOneAction = 3;
  constexpr std::int64_t kTags[] = {39, 43, 44, 45, 42, 51, 52, 53};  // names of what is found, which nobody asks for
  const std::vector<std::int64_t> settings = list(lists(blocks.at(0)), kWords);
  const auto block = [&](std::int64_t number) {
    if (number < 0 || number >= std::ssize(blocks)) refuse_model("a block is missing");
    return blocks[static_cast<std::size_t>(number)];
  };
  bool has_automaton = false, has_actions = false;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (settings[i] == kIgnoresCase) {
      ignores_case_ = true;
      continue;
    }
    if (i + 1 == settings.size()) refuse_model("a setting has no value");
    const std::int64_t value = settings[i + 1];
    switch (settings[i++]) {
      case kAutomaton:
        read_automaton(block(value)), has_automaton = true;
        break;
      case kActions:
        actions_ = lists(block(value)), has_actions = true;
        break;
      case kDepth:
        depth_ = value;
        break;
      case kLongest:
        longest_ = value;
        break;
      case kMapMode:
        if (value != kPacked) refuse_model("its lists are packed in another way");
        break;
      case kKind:
        if (value != kOneAction) refuse_model("its states have several actions");
        break;
      default:
        if (std::ranges::find(kTags, settings[i - 1]) == std::end(kTags)) refuse_model("it has an unknown setting");
    }
  }
  if (!has_automaton || !has_actions) refuse_model("it has no rules for sentences");
  if (depth_ > kMostDepth) refuse_model("its rules nest too deeply");
}

SentenceModel::SentenceModel(std::string bytes) : bytes_(std::move(bytes)) {
  const std::uint64_t count = little(0, 4);
  if (count == 0 || count > kMostBlocks) refuse_model("it begins otherwise");
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t i = 0; i < count; ++i) blocks.push_back(little(4 + 4 * i, 4));
  read_settings(blocks);
  functions_ = step(initial_, kEnd);
}

std::int64_t SentenceModel::class_of(std::uint32_t symbol) const {
  if (class_count_ == 0) return symbol;
  const std::uint64_t k = count_up_to(symbol, classes_, class_count_, 4);
  if (k == 0) return kNone;
  const std::uint64_t range = classes_ + 4 * class_count_ + 8 * (k - 1);  // its end, and where its classes stand
  if (symbol > little(range, 4)) return kNone;
  const std::uint64_t place = symbol - little(classes_ + 4 * (k - 1), 4);
  return static_cast<std::int64_t>(
             big(classes_ + 12 * class_count_ + little(range + 4, 4) + place * class_size_, class_size_)) -
         1;
}

SentenceModel::State SentenceModel::state(std::int64_t at) const {
  State s;
  std::uint64_t place = automaton_ + static_cast<std::uint64_t>(at);
  const std::uint64_t about = little(place++, 1);
  s.is_final = (about & 0x80) != 0;
  s.action_size = about >> 5 & 3;
  if (s.action_size == 3) s.action_size = 4;
  s.size = (about >> 3 & 3) + 1;
  if (s.size == 3) refuse_model("a state is damaged");
  s.kind = about & 7;
  s.first = s.end = place;
  if (s.kind == kEmpty) return s;
  if (s.kind == kSingle) {
    s.end += s.size;
  } else if (s.kind == kTable) {
    s.base = little(place, s.size);
    const std::uint64_t most = little(place + s.size, s.size);
    if (most < s.base) refuse_model("a state is damaged");
    s.count = most - s.base + 1;
    s.next = place + 2 * s.size;
    s.end = s.next + s.count * next_size_;
  } else if (s.kind == kListed || s.kind == kRanges) {
    s.count = little(place, s.size) + 1;
    s.first = place + s.size;
    s.last = s.kind == kListed ? s.first : s.first + s.count * s.size;
    s.next = s.last + s.count * s.size;
    s.end = s.next + s.count * next_size_;
  } else {
    refuse_model("a state is of an unknown kind");
  }
  return s;
}

/// kNone: there is no way; kDead: there is one that leads nowhere.
std::int64_t SentenceModel::step(std::int64_t from, std::uint32_t symbol) const {
  if (from < 0) return kNone;
  const std::int64_t found = class_of(symbol);
  if (found < 0) return kNone;
  const auto wanted = static_cast<std::uint64_t>(found);
  const State s = state(from);
  std::uint64_t k = 0;
  if (s.kind == kEmpty) return kNone;
  if (s.kind == kSingle)
    return little(s.first, s.size) == wanted ? static_cast<std::int64_t>(s.end + s.action_size - automaton_) : kNone;
  if (s.kind == kTable) {
    if (wanted < s.base || wanted - s.base >= s.count) return kNone;
    k = wanted - s.base;
  } else {
    k = count_up_to(wanted, s.first, s.count, s.size);
    if (k-- == 0) return kNone;
    const std::uint64_t last = little(s.last + k * s.size, s.size);
    if (s.kind == kListed ? last != wanted : last < wanted) return kNone;
  }
  const std::uint64_t next = big(s.next + k * next_size_, next_size_);
  if (next == (std::uint64_t{1} << 8 * next_size_) - 1) return kDead;
  return next == 0 && s.kind == kTable ? kNone : static_cast<std::int64_t>(next);
}

std::int64_t SentenceModel::step_or_any(std::int64_t from, std::uint32_t symbol) const {
  const std::int64_t to = step(from, symbol);
  return to == kNone ? step(from, kAny) : to;
}

/// -1: it has none.
std::int64_t SentenceModel::action(std::int64_t at) const {
  const State s = state(at);
  return s.action_size == 0 ? -1 : little_signed(s.end, s.action_size);
}

/// The longest match that begins at a place; -1 is before the first character.
SentenceModel::Match SentenceModel::match(std::int64_t initial, std::u32string_view text, std::ptrdiff_t from,
                                          Pace& pace) const {
  Match best;
  const auto is_final = [&](std::int64_t at) { return at >= 0 && state(at).is_final; };
  const std::ptrdiff_t bound = std::min<std::ptrdiff_t>(std::ssize(text), from + longest_);
  std::int64_t at = initial;
  std::ptrdiff_t i = from;
  if (from < 0) {
    at = step_or_any(at, kBegin);
    if (at == kNone) return best;
    i = 0;
  }
  for (; i < bound; ++i) {
    pace.step(1);
    const std::int64_t to = step_or_any(at, std::max<std::uint32_t>(text[static_cast<std::size_t>(i)], kOther));
    if (to == kNone) break;
    if (is_final(to)) best = {to, i};
    at = to;
  }
  if (i == std::ssize(text))
    if (const std::int64_t to = step_or_any(at, kEnd); is_final(to)) best = {to, i};
  return best;
}

struct SentenceModel::Search {
  Pace& pace;
  std::size_t most;
  std::vector<std::ptrdiff_t> ends;
};

void SentenceModel::search(Search& s, std::int64_t initial, std::u32string_view text, std::ptrdiff_t offset,
                           std::int64_t depth, bool is_once) const {
  if (depth > depth_ || text.empty()) return;
  const std::ptrdiff_t size = std::ssize(text);
  for (std::ptrdiff_t from = -1; from < size; ++from) {
    s.pace.step(1);
    const Match found = match(initial, text, from, s.pace);
    if (found.end < 0) continue;
    // What stands before and behind the piece, its name (0: it is none), and rules that go on within it.
    const std::vector<std::int64_t> rule = list(actions_, action(found.state));
    if (rule.size() < 3) refuse_model("a match has no action");
    const auto within = [&](std::int64_t place) { return std::clamp<std::ptrdiff_t>(place, 0, size - 1); };
    const std::ptrdiff_t last = within(found.end - rule[1]);
    std::ptrdiff_t first = within(from + rule[0]);
    if (rule[2] != 0) {
      if (s.ends.size() >= s.most) return;
      s.ends.push_back(last + offset);
    }
    const std::size_t begin = rule[2] != 0 ? 4 : 3;
    for (std::size_t i = begin; i < rule.size() && first <= last; ++i) {
      const std::int64_t function = rule[i];
      if (function < 0) refuse_model("an action is damaged");
      const std::size_t before = s.ends.size();
      search(s, function == 0 ? initial_ : step(functions_, static_cast<std::uint32_t>(function)),
             text.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)), offset + first,
             depth + 1, function != 0 && rule.size() - begin > 1);
      if (s.ends.size() > before) first = s.ends.back() + 1 - offset;
    }
    if (is_once) return;
    from = std::max<std::ptrdiff_t>(from, found.end - rule[1]);
  }
}

std::vector<std::ptrdiff_t> SentenceModel::ends(std::u32string_view text, Pace& pace) const {
  Search s{pace, text.size(), {}};
  search(s, initial_, text, 0, 1, false);
  return std::move(s.ends);
}

}  // namespace ingot::ops
