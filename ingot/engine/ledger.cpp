// Charged memory of arrays.
#include "ingot/engine/ledger.h"

#include <algorithm>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"

namespace ingot::engine {
namespace {

constexpr std::size_t kZeroedAtOnce = std::size_t{16} << 20;  // bytes

}  // namespace

void Ledger::Account::charge(std::uint64_t bytes) {
  budget->charge_memory(bytes);
  charged.fetch_add(bytes, std::memory_order_relaxed);
}

void Ledger::Account::release(std::uint64_t bytes) {
  if (!budget) return;
  charged.fetch_sub(bytes, std::memory_order_relaxed);
  budget->release_memory(bytes);
}

void Ledger::Account::close() {
  budget->release_memory(charged.load(std::memory_order_relaxed));
  budget = nullptr;
}

Ledger::Charged::Charged(std::shared_ptr<Account> a, std::uint64_t n) : account(std::move(a)), bytes(n) {
  account->charge(bytes);
}

Ledger::Charged::~Charged() {
  memory.reset();
  account->release(bytes);
}

Array Ledger::allocate(DType dtype, Dims dims) {
  Array array = allocate_raw(dtype, std::move(dims));
  if (dtype == DType::string) return array;
  // Fresh pages take long enough to be interrupted.
  const std::size_t size = array.byte_size();
  for (std::size_t i = 0; i < size; i += kZeroedAtOnce) {
    account_->budget->poll();
    std::fill_n(array.bytes() + i, std::min(kZeroedAtOnce, size - i), std::byte{0});
  }
  return array;
}

Array Ledger::allocate_raw(DType dtype, Dims dims) {
  const std::uint64_t width = dtype == DType::string ? sizeof(std::string) : std::max(1u, bits_of(dtype) / 8);
  const auto bytes = checked_mul(static_cast<std::uint64_t>(tensor_size(dims)), width);
  if (!bytes) throw Error(Code::bad_shape, "an array is too large");
  auto charged = std::make_shared<Charged>(account_, *bytes);
  std::byte* data = nullptr;
  if (recycler_ && dtype != DType::string) {
    auto block = recycler_->take(*bytes);
    data = block.get();
    charged->memory = std::move(block);
  } else {
    auto array = std::make_shared<Array>(dtype, dims);
    data = array->bytes();
    charged->memory = std::move(array);
  }
  return Array::view(dtype, std::move(dims), data, std::move(charged));
}

}  // namespace ingot::engine
