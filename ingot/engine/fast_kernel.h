#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ingot/ir/array.h"
#include "ingot/ops/kernel.h"

namespace ingot {
class ThreadPool;
}

namespace ingot::engine {

struct InPlace;

/// Who runs fast kernels.
class FastHost : public ops::KernelHost {
 public:
  /// Memory with whatever is in it, for an output of which every element will be written.
  virtual Array allocate_raw(DType dtype, Dims dims) = 0;
  /// What updates may write over in this run; null: nothing.
  virtual InPlace* in_place() { return nullptr; }
};

/// Output i, not zeroed. Only for fast kernels.
Array make_raw(ops::KernelContext& c, std::size_t i, DType dtype, Dims dims);

/// A node made ready to run many times: what can be done once was done. May run on several threads at once.
class PreparedNode {
 public:
  virtual ~PreparedNode() = default;
  virtual void run(ops::KernelContext& c, ThreadPool& pool) const = 0;
  /// Whether it looks at input i when it is run; a constant of which it has a form of its own is not kept for it.
  virtual bool reads(std::size_t) const { return true; }
};

/// What a fast kernel knows of a node while it is prepared. Types may be unknown, even their ranks.
class PrepareContext {
 public:
  /// Who knows the values that are the same in every run.
  class Constants {
   public:
    virtual ~Constants() = default;
    virtual const Array* array(const Value& value) = 0;
    virtual Tensor tensor(const Value& value) = 0;
  };
  PrepareContext(const Node& n, Constants& constants) : node(n), constants_(constants) {}

  const Node& node;

  bool has(std::size_t i) const { return node.input(i) != nullptr; }
  /// The value of an input that is the same in every run, else null.
  const Array* constant(std::size_t i) const { return has(i) ? constants_.array(*node.input(i)) : nullptr; }
  /// The same as the file holds it, at any alignment and not yet read; empty if it is not a constant.
  Tensor weights(std::size_t i) const { return has(i) ? constants_.tensor(*node.input(i)) : Tensor(); }
  DType elem(std::size_t i) const { return has(i) ? node.input(i)->type.elem : DType::undefined; }
  /// Null: not even the rank is known.
  const Shape* shape(std::size_t i) const {
    return has(i) && node.input(i)->type.shape ? &*node.input(i)->type.shape : nullptr;
  }
  bool all_floats() const;

  /// Why the kernel is not for this node, for --explain.
  std::unique_ptr<PreparedNode> refuse(std::string reason) {
    reason_ = std::move(reason);
    return nullptr;
  }
  const std::string& reason() const { return reason_; }

 private:
  Constants& constants_;
  std::string reason_;
};

/// A faster way to run an operator of the newest version. It must agree with the reference kernel.
struct FastKernel {
  std::string_view op;
  std::string_view domain;
  std::string_view name;  // in --explain: "gemm"
  std::unique_ptr<PreparedNode> (*prepare)(PrepareContext&);
};

/// All of them, the better one of an operator first.
std::span<const FastKernel> fast_kernels();

}  // namespace ingot::engine
