#pragma once
#include "ingot/base/budget.h"
#include "ingot/ir/array.h"

namespace ingot::engine {

/// Memory for arrays, charged to a budget until it is freed or the ledger is closed: what outlives a run is no longer
/// the run's. Arrays of one ledger may be freed on any thread; it is closed when only its owner still uses it.
class Ledger {
 public:
  explicit Ledger(Budget& budget) : account_(std::make_shared<Account>(&budget)) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger() { account_->close(); }

  /// Charged before it is taken. Zeroed, as Array is.
  Array allocate(DType dtype, Dims dims);

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
    Charged(std::shared_ptr<Account> a, std::uint64_t n, DType dtype, const Dims& dims);
    ~Charged();
    std::shared_ptr<Account> account;
    std::uint64_t bytes;
    Array array;
  };
  std::shared_ptr<Account> account_;
};

}  // namespace ingot::engine
