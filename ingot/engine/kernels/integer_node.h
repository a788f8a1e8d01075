#pragma once
#include <mutex>

#include "ingot/base/mapped_file.h"
#include "ingot/engine/fast_kernel.h"

// What the nodes of 8-bit products have in common.

namespace ingot::engine {

inline bool is_byte(DType type) { return type == DType::i8 || type == DType::u8; }

/// A constant operand, packed by the first who asks; then the pages of the file that holds it are given back.
template <class Packed> class PackedOnce {
 public:
  explicit PackedOnce(Tensor constant) : constant_(std::move(constant)) {}
  explicit operator bool() const { return static_cast<bool>(constant_); }

  template <class Pack> const Packed& get(Pack&& pack) const {
    const std::lock_guard lock(mutex_);
    if (!is_packed_) {
      packed_ = pack();
      is_packed_ = true;
      drop_pages(constant_.bytes());
    }
    return packed_;
  }

 private:
  Tensor constant_;
  mutable std::mutex mutex_;
  mutable bool is_packed_ = false;
  mutable Packed packed_;
};

/// A node whose result are the sums themselves. `Sums::sums` gives nothing for what only the reference kernel does.
template <class Sums, void (*reference)(ops::KernelContext&)> class SumsNode final : public PreparedNode {
 public:
  explicit SumsNode(Tensor constant) : sums_(0, 2, 1, 3, std::move(constant)) {}
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    Array sums = sums_.sums(c, pool);
    if (!sums) return reference(c);
    c.set(0, std::move(sums));
  }

 private:
  Sums sums_;
};

/// Makes the node if both operands are known to be of 8-bit integers.
template <class Node>
std::unique_ptr<PreparedNode> prepare_bytes(PrepareContext& c, std::size_t a, std::size_t b, Tensor constant) {
  if (!is_byte(c.elem(a)) || !is_byte(c.elem(b))) return c.refuse("the operands are not known to be of 8-bit integers");
  return std::make_unique<Node>(std::move(constant));
}

}  // namespace ingot::engine
