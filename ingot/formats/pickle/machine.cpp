// The pickle machine: a stack, marks and a memo. Calls become data; nothing is imported, nothing is called.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <unordered_map>

#include "ingot/base/budget.h"
#include "ingot/base/byte_reader.h"
#include "ingot/base/error.h"
#include "ingot/formats/pickle/document.h"
#include "ingot/formats/pickle/joblib.h"
#include "ingot/formats/pickle/literals.h"

namespace ingot::formats::pickle {
namespace {

constexpr int kNewestProtocol = 5;
constexpr int kMostNested = 8;  // pickles inside a joblib file

class Machine {
 public:
  Machine(const Bytes& stream, const ReadOptions& options, Arena& arena, int depth)
      : stream_(stream), options_(options), arena_(arena), depth_(depth), in_(stream.span()) {
    in_.seek(options.offset);
  }

  Document run();

  using Step = void (Machine::*)(std::uint8_t);
  static const std::array<Step, 256> kSteps;

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Code::bad_pickle, fmt::format("the pickle {} (at byte {})", why, at_));
  }

  // The stack.
  void push(Ref value) { stack_.push_back(const_cast<Value*>(value)); }  // shared constants are never changed
  Value& top() {
    if (stack_.size() <= floor()) refuse("takes from an empty stack");
    return *stack_.back();
  }
  Value& pop() {
    Value& value = top();
    stack_.pop_back();
    return value;
  }
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  /// What lies above the last mark, which goes.
  std::vector<Ref> since_mark() {
    if (marks_.empty()) refuse("asks for a mark that it did not set");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Ref> values(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    arena_.grew(0, values.size());
    return values;
  }
  void append(std::vector<Ref>& to, std::span<const Ref> values) {
    arena_.grew(to.size(), to.size() + values.size());
    to.insert(to.end(), values.begin(), values.end());
  }

  // Text and numbers.
  std::string_view line() {
    const std::string_view rest = stream_.text().substr(in_.position());
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) refuse("ends within a line");
    in_.skip(end + 1);
    return rest.substr(0, end);
  }
  std::string_view view(std::uint64_t count) {
    const auto bytes = in_.bytes(count);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  template <class T> T number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) refuse("holds a number that is none");
    return value;
  }
  std::uint64_t size(std::uint64_t bytes) {
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(in_.u8()) << (8 * i);
    return value;
  }

  // One function per kind of opcode.
  void nothing(std::uint8_t) {}
  void unknown(std::uint8_t op) { refuse(fmt::format("holds the opcode {:#04x}, which means nothing", op)); }
  void proto(std::uint8_t);
  void frame(std::uint8_t) { in_.skip(8); }
  void stop(std::uint8_t) { is_done_ = true; }
  void mark(std::uint8_t);
  void push_none(std::uint8_t) { push(arena_.none()); }
  void push_bool(std::uint8_t op) { push(arena_.boolean(op == 0x88)); }
  void int_line(std::uint8_t);
  void long_line(std::uint8_t);
  void small_int(std::uint8_t op);
  void long_bytes(std::uint8_t op);
  void float_line(std::uint8_t);
  void float_bytes(std::uint8_t);
  void string_line(std::uint8_t);
  void unicode_line(std::uint8_t);
  void counted_text(std::uint8_t op);
  void buffer(std::uint8_t);
  void empty(std::uint8_t op);
  void appends(std::uint8_t op);
  void set_items(std::uint8_t op);
  void add_items(std::uint8_t);
  void gather(std::uint8_t op);
  void short_tuple(std::uint8_t op);
  void drop(std::uint8_t) { drop_top(); }
  void pop_mark(std::uint8_t) { since_mark(); }
  void dup(std::uint8_t) { push(&top()); }
  void put(std::uint8_t op);
  void get(std::uint8_t op);
  void global(std::uint8_t);
  void stack_global(std::uint8_t);
  void reduce(std::uint8_t);
  void new_object(std::uint8_t op);
  void instance(std::uint8_t op);
  void build(std::uint8_t);
  void persistent(std::uint8_t op);
  void extension(std::uint8_t) {
    throw Error(Code::unsupported_feature, "the pickle names classes by numbers of Python's extension registry")
        .hint("pickle it again where no such numbers are registered");
  }

  void drop_top() {
    // POP also takes a mark.
    if (!marks_.empty() && stack_.size() == marks_.back())
      marks_.pop_back();
    else
      pop();
  }
  void push_object(Ref callable, Ref args, Ref kwargs = nullptr) {
    Value& made = arena_.make_object(callable, args);
    made.object->kwargs = kwargs;
    push(&made);
  }
  Ref tuple(std::vector<Ref> items) {
    Value& made = arena_.make(Kind::tuple);
    made.items = std::move(items);
    return &made;
  }
  void read_payload(Value& wrapper);

  const Bytes& stream_;
  const ReadOptions& options_;
  Arena& arena_;
  int depth_;
  ByteReader in_;
  std::size_t at_ = 0, next_buffer_ = 0;
  bool is_done_ = false;
  int protocol_ = 0;
  std::vector<Value*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Value*> memo_;
};

Document Machine::run() {
  while (!is_done_) {
    at_ = in_.position();
    if (in_.at_end()) refuse("ends before it is complete");
    const std::uint8_t op = in_.u8();
    (this->*kSteps[op])(op);
  }
  if (!marks_.empty()) refuse("ends with a mark that nothing takes");
  Document document;
  document.root = &pop();
  document.protocol = protocol_;
  document.end = in_.position();
  return document;
}

void Machine::proto(std::uint8_t) {
  protocol_ = in_.u8();
  if (protocol_ > kNewestProtocol)
    throw Error(Code::unsupported_format_version, fmt::format("the pickle has protocol {}", protocol_))
        .hint("pickle it with protocol 5 or lower");
}

void Machine::mark(std::uint8_t) {
  arena_.grew(0, 1);
  marks_.push_back(stack_.size());
}

void Machine::int_line(std::uint8_t) {
  const std::string_view text = line();
  if (text == "00" || text == "01") return push(arena_.boolean(text == "01"));
  push(&arena_.make_integer(number<std::int64_t>(text)));
}

void Machine::long_line(std::uint8_t) {
  std::string_view text = line();
  if (text.ends_with('L')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return push(&arena_.make_view(text, Kind::big_integer));
  if (error != std::errc() || end != text.data() + text.size()) refuse("holds a number that is none");
  push(&arena_.make_integer(value));
}

void Machine::small_int(std::uint8_t op) {
  push(&arena_.make_integer(op == 'J' ? in_.i32() : op == 'K' ? in_.u8() : in_.u16()));
}

void Machine::long_bytes(std::uint8_t op) {
  const std::int64_t count = op == 0x8a ? in_.u8() : in_.i32();
  if (count < 0) refuse("holds a number of negative length");
  const std::string_view bytes = view(static_cast<std::uint64_t>(count));
  if (count > 8) return push(&arena_.make_view(bytes, Kind::big_integer));
  std::uint64_t bits = count > 0 && (bytes.back() & 0x80) ? ~std::uint64_t{0} : 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  push(&arena_.make_integer(std::bit_cast<std::int64_t>(bits)));
}

void Machine::float_line(std::uint8_t) { push(&arena_.make_real(number<double>(line()))); }

void Machine::float_bytes(std::uint8_t) {
  push(&arena_.make_real(std::bit_cast<double>(__builtin_bswap64(in_.u64()))));
}

void Machine::string_line(std::uint8_t) {
  auto text = unquoted(line());
  if (!text) refuse("holds a string without its quotes");
  push(&arena_.make_text(std::move(*text), Kind::bytes));
}

void Machine::unicode_line(std::uint8_t) {
  auto text = raw_unicode(line());
  if (!text) refuse("holds a damaged escape");
  push(&arena_.make_text(std::move(*text)));
}

void Machine::counted_text(std::uint8_t op) {
  std::uint64_t count = 0;
  switch (op) {
    case 'U':
    case 'C':
    case 0x8c:
      count = size(1);
      break;
    case 'T':
    case 'X':
    case 'B':
      count = size(4);
      break;
    default:
      count = size(8);
  }
  const bool is_text = op == 'X' || op == 0x8c || op == 0x8d;
  push(&arena_.make_view(view(count), is_text ? Kind::text : Kind::bytes));
}

void Machine::buffer(std::uint8_t) {
  if (next_buffer_ >= options_.buffers.size())
    throw Error(Code::unsupported_feature, "the pickle keeps its data outside, in buffers that are not in the file")
        .hint("pickle it without buffer_callback");
  const Bytes& data = options_.buffers[next_buffer_++];
  arena_.keep(data);
  push(&arena_.make_view(data.text(), Kind::bytes));
}

void Machine::empty(std::uint8_t op) {
  push(&arena_.make(op == ']' ? Kind::list : op == ')' ? Kind::tuple : op == '}' ? Kind::dict : Kind::set));
}

void Machine::appends(std::uint8_t op) {
  std::vector<Ref> values;
  if (op == 'e')
    values = since_mark();
  else
    values = {&pop()};
  Value& list = top();
  if (list.is(Kind::list))
    append(list.items, values);
  else if (list.is(Kind::object))
    append(list.object->items, values);
  else
    refuse("appends to what is no list");
}

void Machine::set_items(std::uint8_t op) {
  std::vector<Ref> values;
  if (op == 'u') {
    values = since_mark();
  } else {
    Value& value = pop();
    values = {&pop(), &value};
  }
  if (values.size() % 2 != 0) refuse("gives a dict a key without a value");
  Value& dict = top();
  if (dict.is(Kind::dict))
    append(dict.items, values);
  else if (dict.is(Kind::object))
    append(dict.object->entries, values);
  else
    refuse("sets entries of what is no dict");
}

void Machine::add_items(std::uint8_t) {
  const std::vector<Ref> values = since_mark();
  Value& set = top();
  if (!set.is(Kind::set)) refuse("adds to what is no set");
  append(set.items, values);
}

void Machine::gather(std::uint8_t op) {
  std::vector<Ref> values = since_mark();
  if (op == 'd' && values.size() % 2 != 0) refuse("gives a dict a key without a value");
  Value& made = arena_.make(op == 'l'   ? Kind::list
                            : op == 'd' ? Kind::dict
                            : op == 't' ? Kind::tuple
                                        : Kind::frozen_set);
  made.items = std::move(values);
  push(&made);
}

void Machine::short_tuple(std::uint8_t op) {
  std::vector<Ref> items(static_cast<std::size_t>(op - 0x84));
  for (std::size_t i = items.size(); i-- > 0;) items[i] = &pop();
  arena_.grew(0, items.size());
  push(tuple(std::move(items)));
}

void Machine::put(std::uint8_t op) {
  const std::uint64_t place = op == 'p'   ? number<std::uint64_t>(line())
                              : op == 'q' ? in_.u8()
                              : op == 'r' ? in_.u32()
                                          : memo_.size();
  Value& value = top();
  if (memo_.insert_or_assign(place, &value).second) arena_.grew(0, 2);
}

void Machine::get(std::uint8_t op) {
  const std::uint64_t place = op == 'g' ? number<std::uint64_t>(line()) : op == 'h' ? in_.u8() : in_.u32();
  const auto known = memo_.find(place);
  if (known == memo_.end()) refuse("asks for a value that it did not keep");
  arena_.grew(0, 1);
  push(known->second);
}

void Machine::global(std::uint8_t) {
  const std::string_view module = line();
  push(&arena_.make_global(module, line()));
}

void Machine::stack_global(std::uint8_t) {
  const Value& name = pop();
  const Value& module = pop();
  if (!name.is_text() || !module.is_text()) refuse("names a class by what is no text");
  push(&arena_.make_global(module.text, name.text));
}

void Machine::reduce(std::uint8_t) {
  const Value& args = pop();
  const Value& callable = pop();
  if (!args.is(Kind::tuple)) refuse("calls with arguments that are no tuple");
  push_object(&callable, &args);
}

void Machine::new_object(std::uint8_t op) {
  const Value* kwargs = op == 0x92 ? &pop() : nullptr;
  const Value& args = pop();
  const Value& made = pop();
  if (!args.is(Kind::tuple)) refuse("makes an instance with arguments that are no tuple");
  push_object(&made, &args, kwargs);
}

void Machine::instance(std::uint8_t op) {
  if (op == 'i') {
    const std::string_view module = line();
    const Ref made = &arena_.make_global(module, line());
    return push_object(made, tuple(since_mark()));
  }
  std::vector<Ref> values = since_mark();
  if (values.empty()) refuse("makes an instance of nothing");
  const Ref made = values.front();
  values.erase(values.begin());
  push_object(made, tuple(std::move(values)));
}

void Machine::build(std::uint8_t) {
  const Value& state = pop();
  Value& made = top();
  if (!made.is(Kind::object)) refuse("gives a state to what is no object");
  arena_.grew(made.object->states.size(), made.object->states.size() + 1);
  made.object->states.push_back(&state);
  if (is_joblib_array(made)) read_payload(made);
}

void Machine::persistent(std::uint8_t op) {
  const Ref id = op == 'P' ? &arena_.make_view(line()) : &pop();
  Value& made = arena_.make(Kind::persistent);
  made.items = {id};
  push(&made);
}

/// joblib writes the data of an array right behind its description; that of objects as a pickle of its own.
void Machine::read_payload(Value& wrapper) {
  const JoblibArray array = describe_joblib_array(wrapper);
  if (array.is_objects) {
    if (depth_ >= kMostNested) refuse("nests arrays of objects too deeply");
    ReadOptions nested = options_;
    nested.offset = in_.position();
    const Document inner = Machine(stream_, nested, arena_, depth_ + 1).run();
    wrapper.object->nested = inner.root;
    in_.seek(inner.end);
    return;
  }
  if (array.is_padded) in_.skip(in_.u8());
  const std::size_t begin = in_.position();
  in_.skip(array.bytes);
  wrapper.object->payload = stream_.slice(begin, static_cast<std::size_t>(array.bytes));
}

constinit const std::array<Machine::Step, 256> Machine::kSteps = [] {
  std::array<Step, 256> steps{};
  steps.fill(&Machine::unknown);
  const auto set = [&](std::initializer_list<int> ops, Step step) {
    for (const int op : ops) steps[static_cast<std::size_t>(op)] = step;
  };
  set({0x80}, &Machine::proto);
  set({0x95}, &Machine::frame);
  set({'.'}, &Machine::stop);
  set({'('}, &Machine::mark);
  set({'N'}, &Machine::push_none);
  set({0x88, 0x89}, &Machine::push_bool);
  set({'I'}, &Machine::int_line);
  set({'L'}, &Machine::long_line);
  set({'J', 'K', 'M'}, &Machine::small_int);
  set({0x8a, 0x8b}, &Machine::long_bytes);
  set({'F'}, &Machine::float_line);
  set({'G'}, &Machine::float_bytes);
  set({'S'}, &Machine::string_line);
  set({'V'}, &Machine::unicode_line);
  set({'T', 'U', 'X', 0x8c, 0x8d, 'B', 'C', 0x8e, 0x96}, &Machine::counted_text);
  set({0x97}, &Machine::buffer);
  set({0x98}, &Machine::nothing);  // the buffer on top is read-only: here everything is
  set({']', ')', '}', 0x8f}, &Machine::empty);
  set({'a', 'e'}, &Machine::appends);
  set({'s', 'u'}, &Machine::set_items);
  set({0x90}, &Machine::add_items);
  set({'l', 'd', 't', 0x91}, &Machine::gather);
  set({0x85, 0x86, 0x87}, &Machine::short_tuple);
  set({'0'}, &Machine::drop);
  set({'1'}, &Machine::pop_mark);
  set({'2'}, &Machine::dup);
  set({'p', 'q', 'r', 0x94}, &Machine::put);
  set({'g', 'h', 'j'}, &Machine::get);
  set({'c'}, &Machine::global);
  set({0x93}, &Machine::stack_global);
  set({'R'}, &Machine::reduce);
  set({0x81, 0x92}, &Machine::new_object);
  set({'i', 'o'}, &Machine::instance);
  set({'b'}, &Machine::build);
  set({'P', 'Q'}, &Machine::persistent);
  set({0x82, 0x83, 0x84}, &Machine::extension);
  return steps;
}();

}  // namespace

Document read(const Bytes& stream, const ReadOptions& options) {
  const auto arena =
      options.arena ? options.arena : std::make_shared<Arena>(options.budget ? *options.budget : Budget::unlimited());
  arena->keep(stream);
  Document document = Machine(stream, options, *arena, 0).run();
  document.arena = arena;
  return document;
}

bool looks_like_pickle(const Bytes& file) {
  const std::string_view text = file.text();
  return text.size() >= 3 && static_cast<unsigned char>(text[0]) == 0x80 && text[1] >= 2 && text[1] <= kNewestProtocol;
}

bool looks_like_old_pickle(const Bytes& file) {
  const std::string_view text = file.text();
  if (text.size() < 3 || !text.ends_with('.')) return false;
  return text.starts_with("(d") || text.starts_with("(l") || text.starts_with("ccopy_reg\n_reconstructor\n") ||
         text.starts_with("(i") || text.starts_with('}') || text.starts_with(']') ||
         (text[0] == 'c' && text.substr(0, 512).find('\n') != std::string_view::npos);
}

}  // namespace ingot::formats::pickle
