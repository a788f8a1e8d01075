// Chains of elementwise functions with several results, written over what they replace where that is allowed.
#include <algorithm>
#include <limits>
#include <map>

#include "ingot/base/threads.h"
#include "ingot/engine/element_step.h"
#include "ingot/engine/in_place.h"
#include "ingot/engine/kernels/channel_math.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {

namespace {

constexpr std::int64_t kTile = 512;
constexpr std::int64_t kGrain = 32 * kTile;

/// One or several steps as they are computed: registers are numbered as in ElementStep.
struct Operation {
  enum class Kind { step, blend, descend } kind = Kind::step;
  ElementStep step;
  std::vector<std::uint32_t> vectors, numbers;
  std::uint32_t result = 0;
};

/// Takes steps together that usual optimizers have, where nobody else reads what is between them.
class Joiner {
 public:
  Joiner(const std::vector<ElementStep>& steps, const std::vector<bool>& is_single, const Dims& made)
      : steps_(steps), is_single_(is_single), uses_(steps.size()), is_taken_(steps.size()) {
    for (const ElementStep& s : steps) {
      count(s.x);
      if (s.is_binary) count(s.y);
    }
    for (const std::int64_t r : made) count(static_cast<std::uint32_t>(r));
  }

  std::vector<Operation> join() {
    std::vector<Operation> operations;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      if (is_taken_[i]) continue;
      Operation operation;
      if (!match_blend(steps_[i], operation) && !match_descend(steps_[i], operation)) {
        operation.step = steps_[i];
        operation.vectors = {steps_[i].x};
        if (steps_[i].is_binary) operation.vectors.push_back(steps_[i].y);
      }
      operation.result = static_cast<std::uint32_t>(inputs() + i);
      operations.push_back(std::move(operation));
    }
    std::ranges::reverse(operations);
    return operations;
  }

 private:
  std::size_t inputs() const { return is_single_.size(); }
  void count(std::uint32_t r) {
    if (r >= inputs()) ++uses_[r - inputs()];
  }
  bool is_number(std::uint32_t r) const { return r < inputs() && is_single_[r]; }
  bool is_vector(std::uint32_t r) const { return !is_number(r); }

  /// The step that makes a register which is read once.
  const ElementStep* own(std::uint32_t r) const {
    return r >= inputs() && uses_[r - inputs()] == 1 ? &steps_[r - inputs()] : nullptr;
  }
  const ElementStep* own(std::uint32_t r, Binary function) const {
    const ElementStep* s = own(r);
    return s && s->is_binary && s->binary == function ? s : nullptr;
  }
  void take(std::uint32_t r) { is_taken_[r - inputs()] = true; }
  /// A vector and a number, in this order or, where that is the same, the other.
  bool split(const ElementStep& s, std::uint32_t& vector, std::uint32_t& number) const {
    vector = s.x;
    number = s.y;
    if (is_number(vector) && s.binary != Binary::divide) std::swap(vector, number);
    return is_vector(vector) && is_number(number);
  }

  bool match_blend(const ElementStep& s, Operation& operation) {
    if (!s.is_binary || s.binary != Binary::add || s.x == s.y) return false;
    const ElementStep *left = own(s.x, Binary::multiply), *right = own(s.y, Binary::multiply);
    std::uint32_t x = 0, y = 0, a = 0, b = 0;
    if (!left || !right || !split(*left, x, a) || !split(*right, y, b)) return false;
    operation.kind = Operation::Kind::blend;
    operation.vectors = {x, y};
    operation.numbers = {a, b};
    take(s.x);
    take(s.y);
    return true;
  }

  bool match_descend(const ElementStep& s, Operation& operation) {
    if (!s.is_binary || s.binary != Binary::subtract || !is_vector(s.x)) return false;
    const ElementStep* scaled = own(s.y, Binary::multiply);
    std::uint32_t ratio = 0, rate = 0, part = 0, epsilon = 0, root = 0, size = 0;
    if (!scaled || !split(*scaled, ratio, rate)) return false;
    const ElementStep* quotient = own(ratio, Binary::divide);
    const ElementStep* sum = quotient ? own(quotient->y, Binary::add) : nullptr;
    if (!sum || !is_vector(quotient->x) || !split(*sum, part, epsilon)) return false;
    const ElementStep* spread = own(part, Binary::divide);
    if (!spread || !split(*spread, root, size)) return false;
    const ElementStep* square_root = own(root);
    if (!square_root || square_root->is_binary || square_root->unary != Unary::sqrt || !is_vector(square_root->x))
      return false;
    operation.kind = Operation::Kind::descend;
    operation.vectors = {s.x, quotient->x, square_root->x};
    operation.numbers = {size, epsilon, rate};
    for (const std::uint32_t r : {s.y, ratio, quotient->y, part, root}) take(r);
    return true;
  }

  const std::vector<ElementStep>& steps_;
  const std::vector<bool>& is_single_;
  std::vector<int> uses_;
  std::vector<bool> is_taken_;
};

class UpdateNode final : public PreparedNode {
 public:
  explicit UpdateNode(const Node& node) : inputs_(node.input_count()) {
    const Dims made = node.attributes.ints_or("made", {}), over = node.attributes.ints_or("over", {});
    const Dims watched = node.attributes.ints_or("watched", {});
    for (std::size_t i = 0; i < made.size(); ++i)
      results_.push_back({static_cast<std::uint32_t>(made[i]), over[i], watched[i] != 0});
    std::vector<bool> is_single;
    for (const Value* v : node.inputs()) {
      const auto dims = v->type.shape ? static_dims(*v->type.shape) : std::nullopt;
      is_single.push_back(dims && tensor_size(*dims) == 1);
    }
    operations_ = Joiner(steps_of(node), is_single, made).join();
    assign_tiles();
  }

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    std::vector<const float*> data;
    std::vector<std::int64_t> strides;
    Dims dims;
    for (std::size_t i = 0; i < inputs_; ++i) {
      const Array& x = c.in(i);
      if (x.dtype() != DType::f32) c.fail("the inputs are not of the types that were inferred");
      data.push_back(x.data<float>().data());
      dims = i == 0 ? x.dims() : ops::broadcast_dims(c, {&dims, &x.dims()});
    }
    const std::int64_t size = tensor_size(dims);
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (c.in(i).size() != size && c.in(i).size() != 1) c.fail("the inputs are not of the types that were inferred");
      strides.push_back(c.in(i).size() == 1 ? 0 : 1);
    }
    InPlace* const leave = static_cast<FastHost&>(c.host()).in_place();
    std::vector<float*> out;
    std::vector<Array> made;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const Result& result = results_[i];
      Array y = result.over >= 0 ? c.in(static_cast<std::size_t>(result.over)) : Array();
      if (y && y.dims() == dims && leave && leave->memory.contains(y.bytes()))
        c.set(i, y);
      else
        y = make_raw(c, i, DType::f32, dims);
      out.push_back(y.mutable_data<float>().data());
      made.push_back(std::move(y));
    }
    pool.parallel_for(size, kGrain, [&](std::int64_t begin, std::int64_t end) {
      if (!compute(data, strides, begin, end, out) && leave) leave->is_finite = false;
    });
  }

 private:
  struct Result {
    std::uint32_t made;  // a register
    std::int64_t over;   // the input it replaces, or -1
    bool must_be_finite;
  };

  /// Results that are read no more give their tile to later ones.
  void assign_tiles() {
    constexpr std::size_t kEnd = std::numeric_limits<std::size_t>::max();
    std::map<std::uint32_t, std::size_t> last_read;
    for (std::size_t i = 0; i < operations_.size(); ++i)
      for (const std::uint32_t r : operations_[i].vectors) last_read[r] = i;
    for (const Result& result : results_) last_read[result.made] = kEnd;
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (free.empty()) free.push_back(tiles_++);
      tile_of_[operations_[i].result] = free.back();
      free.pop_back();
      for (std::size_t k = 0; k < i; ++k)
        if (last_read[operations_[k].result] == i) free.push_back(tile_of_.at(operations_[k].result));
    }
  }

  /// Elements [begin, end); false: a result is not finite that must be.
  bool compute(const std::vector<const float*>& data, const std::vector<std::int64_t>& strides, std::int64_t begin,
               std::int64_t end, const std::vector<float*>& out) const {
    thread_local std::vector<float> room;
    room.resize(std::max(room.size(), tiles_ * static_cast<std::size_t>(kTile)));
    bool is_finite = true;
    for (std::int64_t first = begin; first < end; first += kTile) {
      const std::int64_t n = std::min(kTile, end - first);
      const auto tile = [&](std::uint32_t r) { return room.data() + tile_of_.at(r) * kTile; };
      const auto operand = [&](std::uint32_t r) -> const float* {
        return r >= inputs_ ? tile(r) : data[r] + strides[r] * first;
      };
      const auto stride = [&](std::uint32_t r) { return r >= inputs_ ? 1 : strides[r]; };
      for (const Operation& o : operations_) {
        float* to = tile(o.result);
        const auto number = [&](std::size_t i) { return *data[o.numbers[i]]; };
        if (o.kind == Operation::Kind::blend) {
          blend(operand(o.vectors[0]), number(0), operand(o.vectors[1]), number(1), to, n);
        } else if (o.kind == Operation::Kind::descend) {
          descend({number(0), number(1), number(2)}, operand(o.vectors[0]), operand(o.vectors[1]),
                  operand(o.vectors[2]), to, n);
        } else if (o.step.is_binary) {
          apply(o.step.binary, operand(o.step.x), stride(o.step.x), operand(o.step.y), stride(o.step.y), to, n);
        } else if (stride(o.step.x) == 0) {
          float y = 0;
          apply(o.step.unary, operand(o.step.x), &y, 1, o.step.a, o.step.b);
          std::fill(to, to + n, y);
        } else {
          apply(o.step.unary, operand(o.step.x), to, n, o.step.a, o.step.b);
        }
      }
      // Only now: a result may lie where an operand was.
      for (std::size_t i = 0; i < results_.size(); ++i) {
        const float* from = tile(results_[i].made);
        std::copy(from, from + n, out[i] + first);
        if (results_[i].must_be_finite) is_finite &= is_all_finite(from, n);
      }
    }
    return is_finite;
  }

  std::vector<Operation> operations_;
  std::size_t inputs_;
  std::vector<Result> results_;
  std::map<std::uint32_t, std::size_t> tile_of_;
  std::size_t tiles_ = 0;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_update(PrepareContext& c) { return std::make_unique<UpdateNode>(c.node); }

}  // namespace ingot::engine
