#pragma once
#include "ingot/base/budget.h"
#include "ingot/engine/recycler.h"
#include "ingot/ir/array.h"

namespace ingot::engine {

/// Memory for arrays, charged to a budget until it is freed or the ledger is closed: what outlives a run is no longer
/// the run's. Arrays of one ledger may be freed on any thread; it is closed when only its owner still uses it.
class Ledger {
 public:
  /// `recycler`, if given, lends the memory; it must outlive the ledger, not the arrays.
  explicit Ledger(Budget& budget, Recycler* recycler = nullptr)
      : account_(std::make_shared<Account>(&budget)), recycler_(recycler) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger() { account_->close(); }

  /// Charged before it is taken. Zeroed, as Array is.
  Array allocate(DType dtype, Dims dims);
  /// The same with whatever is in the memory; for kernels that write every element. Strings are empty all the same.
  Array allocate_raw(DType dtype, Dims dims);

 private:
  struct Account {
    explicit Account(Budget* b) : budget(b) {}
    Budget* budget;
    std::atomic<std::uint64_t> charged{0};
    void charge(std::uint64_t bytes);
    void release(std::uint64_t bytes);
    void close();
  };
  struct Charged {
    Charged(std::shared_ptr<Account> a, std::uint64_t n);
    ~Charged();
    std::shared_ptr<Account> account;
    std::uint64_t bytes;
    std::shared_ptr<const void> memory;
  };
  std::shared_ptr<Account> account_;
  Recycler* recycler_;
};

}  // namespace ingot::engine
