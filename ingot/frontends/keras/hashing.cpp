// Hashing of categories: FarmHash's Fingerprint64 of a number's digits, as TensorFlow computes it, in integers.
#include "ingot/frontends/keras/encoding.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

constexpr std::uint64_t kFirst = 0xc3a5c85c97cb3127, kSecond = 0xb492b66fbe98f273, kThird = 0x9ae16a3b2f90404f;
constexpr std::int64_t kDigits = 19, kLongest = 20;  // of a 64-bit number, and with its sign

/// Arithmetic modulo 2^64.
class Bits {
 public:
  explicit Bits(GraphBuilder& b) : b_(b) {}

  IrValue* number(std::uint64_t value) { return b_.constant(Tensor::of<std::uint64_t>({}, {value})); }
  IrValue* list(const std::vector<std::uint64_t>& values) {
    return b_.constant(Tensor::of<std::uint64_t>({static_cast<std::int64_t>(values.size())}, values));
  }
  IrValue* add(IrValue* x, IrValue* y) { return b_.add(x, y); }
  IrValue* add(IrValue* x, std::uint64_t y) { return b_.add(x, number(y)); }
  IrValue* mul(IrValue* x, IrValue* y) { return b_.mul(x, y); }
  IrValue* mul(IrValue* x, std::uint64_t y) { return b_.mul(x, number(y)); }
  IrValue* exclusive(IrValue* x, IrValue* y) { return b_.op("BitwiseXor", {x, y}); }
  IrValue* right(IrValue* x, std::uint64_t by) { return b_.op("BitShift", {x, number(by)}, {{"direction", "RIGHT"}}); }
  IrValue* left(IrValue* x, std::uint64_t by) { return b_.op("BitShift", {x, number(by)}, {{"direction", "LEFT"}}); }
  IrValue* rotated(IrValue* x, std::uint64_t by) { return b_.op("BitwiseOr", {right(x, by), left(x, 64 - by)}); }
  IrValue* mixed(IrValue* x) { return exclusive(x, right(x, 47)); }

  /// HashLen16 of FarmHash.
  IrValue* pair(IrValue* u, IrValue* v, IrValue* factor) {
    IrValue* a = mixed(mul(exclusive(u, v), factor));
    return mul(mixed(mul(exclusive(v, a), factor)), factor);
  }

 private:
  GraphBuilder& b_;
};

/// The text of each number, its characters along a new last axis: from its beginning, and up to its end.
struct Written {
  IrValue *head, *tail;  // uint64 [..., 20]
  IrValue* length;       // uint64
};

Written written(GraphBuilder& b, IrValue* x) {
  Bits bits(b);
  std::vector<std::uint64_t> powers;
  std::uint64_t power = 1;
  for (std::int64_t i = 0; i < kDigits; ++i, power *= 10) powers.insert(powers.begin(), power);
  IrValue* is_negative = b.unsqueeze(b.op("Less", {x, b.index(0)}), {-1});
  IrValue* size = b.unsqueeze(b.cast(b.op("Abs", {x}), DType::u64), {-1});
  IrValue* digits = b.op("Mod", {b.div(size, bits.list(powers)), bits.number(10)});
  digits = bits.add(digits, '0');
  IrValue* is_long = b.op("GreaterOrEqual", {size, bits.list({powers.begin(), powers.end() - 1})});
  IrValue* count = b.add(b.reduce_sum(b.cast(is_long, DType::i64), {-1}), b.index(1));
  IrValue* length = b.add(count, b.cast(is_negative, DType::i64));  // [..., 1]
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < kLongest; ++i) numbers.push_back(i);
  IrValue* place = b.ints(numbers);
  IrValue* from = b.op("Clip", {b.add(b.sub(place, length), b.index(kDigits)), b.index(0), b.index(kDigits - 1)});
  IrValue* minus = bits.number('-');
  const auto with_sign = [&](IrValue* text, IrValue* at) {
    return b.where(b.op("And", {is_negative, b.op("Equal", {place, at})}), minus, text);
  };
  IrValue* head = with_sign(b.op("GatherElements", {digits, from}, {{"axis", -1}}), b.index(0));
  IrValue* first = b.op("Slice", {digits, b.ints({0}), b.ints({1}), b.ints({-1})});
  IrValue* tail = with_sign(b.concat({first, digits}, -1), b.sub(b.index(kLongest), length));
  return {head, tail, b.cast(b.squeeze(length, {-1}), DType::u64)};
}

/// Bytes as one number, the first the least.
IrValue* fetched(GraphBuilder& b, IrValue* text, std::int64_t begin, std::int64_t count) {
  std::vector<std::uint64_t> weights;
  for (std::int64_t i = 0; i < count; ++i) weights.push_back(std::uint64_t{1} << (8 * i));
  IrValue* part = b.op("Slice", {text, b.ints({begin}), b.ints({begin + count}), b.ints({-1})});
  return b.reduce_sum(b.mul(part, Bits(b).list(weights)), {-1}, false);
}

IrValue* fingerprint(GraphBuilder& b, IrValue* x) {
  Bits bits(b);
  const auto [head, tail, length] = written(b, x);
  IrValue* factor = bits.add(bits.mul(length, 2), kThird);
  // Up to 3 characters.
  IrValue* first = fetched(b, head, 0, 1);
  IrValue* middle = b.where(b.op("Equal", {length, bits.number(1)}), first, fetched(b, head, 1, 1));
  IrValue* y = bits.add(first, bits.left(middle, 8));
  IrValue* z = bits.add(length, bits.left(fetched(b, tail, kLongest - 1, 1), 2));
  IrValue* small = bits.mul(bits.mixed(bits.exclusive(bits.mul(y, kThird), bits.mul(z, kFirst))), kThird);
  // Up to 7.
  IrValue* some =
      bits.pair(bits.add(length, bits.left(fetched(b, head, 0, 4), 3)), fetched(b, tail, kLongest - 4, 4), factor);
  // Up to 16.
  IrValue* begin = bits.add(fetched(b, head, 0, 8), kThird);
  IrValue* end = fetched(b, tail, kLongest - 8, 8);
  IrValue* more = bits.pair(bits.add(bits.mul(bits.rotated(end, 37), factor), begin),
                            bits.mul(bits.add(bits.rotated(begin, 25), end), factor), factor);
  // Up to 32.
  IrValue* a = bits.mul(fetched(b, head, 0, 8), kSecond);
  IrValue* next = fetched(b, head, 8, 8);
  IrValue* c = bits.mul(end, factor);
  IrValue* d = bits.mul(fetched(b, tail, kLongest - 16, 8), kThird);
  IrValue* u = bits.add(bits.add(bits.rotated(bits.add(a, next), 43), bits.rotated(c, 30)), d);
  IrValue* v = bits.add(bits.add(a, bits.rotated(bits.add(next, kThird), 18)), c);
  IrValue* many = bits.pair(u, v, factor);
  const auto is_below = [&](std::uint64_t count) { return b.op("Less", {length, bits.number(count)}); };
  return b.where(is_below(4), small, b.where(is_below(8), some, b.where(is_below(17), more, many)));
}

IrValue* into_bins(GraphBuilder& b, IrValue* hash, std::int64_t bins) {
  return b.cast(b.op("Mod", {hash, Bits(b).number(static_cast<std::uint64_t>(bins))}), DType::i64);
}

IrValue* in_categories(Call& call, IrValue* index, std::int64_t bins) {
  return encoded(call, index, bins, call.text("output_mode", "int"), nullptr);
}

/// The key of a strong hash: two numbers, or one for both; empty: the hash is not strong.
Ints salt_of(const Call& call) {
  const Config salt = call.at("salt");
  if (const auto one = salt.as_int()) return {*one, *one};
  Ints key;
  for (const Config& entry : salt.entries()) key.push_back(entry.as_int().value_or(0));
  call.require(key.empty() || key.size() == 2, "its salt is not two numbers");
  return key;
}

/// ONNX has no hashes of texts: those of TensorFlow are operators of the domain 'ingot'.
IrValue* hashed_texts(Call& call, IrValue* x, std::int64_t bins, const Ints& salt) {
  Attrs attrs{{"num_buckets", bins}};
  if (!salt.empty()) attrs.emplace_back("key", salt);
  const char* op = salt.empty() ? "StringToHashBucketFast" : "StringToHashBucketStrong";
  IrValue* y = call.b.node(op, "ingot", {x}, attrs, 1)->output();
  y->type = Type::tensor(DType::i64, x->type.shape);
  call.import.notes.add(std::string("texts are hashed by the operator ") + op + " of the domain 'ingot'");
  return y;
}

}  // namespace

void hashing(Call& call) {
  GraphBuilder& b = call.b;
  const std::int64_t all = call.integer("num_bins");
  call.require(all > 0 && all < (std::int64_t{1} << 31), "it has no bins");
  IrValue* x = call.in();
  const Config masked = call.at("mask_value");
  const bool has_mask = !masked.is_null() && all > 1;
  const std::int64_t bins = has_mask ? all - 1 : all;
  IrValue *index = nullptr, *is_masked = nullptr;
  const Ints salt = salt_of(call);
  if (x->type.elem == DType::string) {
    if (has_mask) is_masked = b.op("Equal", {x, b.constant(Tensor::of_strings({}, {std::string(masked.text())}))});
    index = hashed_texts(call, x, bins, salt);
  } else {
    x = b.cast(x, DType::i64);
    if (has_mask) is_masked = b.op("Equal", {x, b.index(masked.as_int().value_or(0))});
    index =
        salt.empty() ? into_bins(b, fingerprint(b, x), bins) : hashed_texts(call, b.cast(x, DType::string), bins, salt);
  }
  if (has_mask) index = b.where(is_masked, b.index(0), b.add(index, b.index(1)));
  call.set(in_categories(call, index, all));
}

void hashed_crossing(Call& call) {
  constexpr std::uint64_t kKey = 0xDECAFCAFFE, kFactor = 0xc6a4a7935bd1e995;
  GraphBuilder& b = call.b;
  Bits bits(b);
  const std::int64_t bins = call.integer("num_bins");
  call.require(bins > 0 && bins < (std::int64_t{1} << 31), "it has no bins");
  call.require(call.inputs.size() > 1, "it crosses two inputs or more");
  IrValue* hash = bits.number(kKey);
  for (const Flow& flow : call.inputs) {
    if (flow.value->type.elem == DType::string)
      call.refuse("the hash of a text needs its bytes, which no operator of ONNX gives",
                  "look the texts up (StringLookup), and cross the numbers");
    IrValue* feature = b.cast(b.cast(flow.value, DType::i64), DType::u64);
    IrValue* mixed = bits.mul(bits.mixed(bits.mul(feature, kFactor)), kFactor);
    IrValue* sum = bits.mul(bits.exclusive(bits.exclusive(hash, bits.number(kFactor)), mixed), kFactor);
    hash = bits.mixed(bits.mul(bits.mixed(sum), kFactor));
  }
  call.set(in_categories(call, into_bins(b, hash, bins), bins));
}

}  // namespace ingot::frontends::keras
