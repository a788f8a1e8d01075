// Ranks as processes of MPI.
#include "ingot/train/distributed/mpi.h"

// The bindings for C++ are not what is used here.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <exception>

#include "ingot/base/error.h"
#include "ingot/train/distributed/started_by.h"

namespace ingot::train {
namespace {

constexpr std::size_t kBucket = std::size_t{1} << 16;  // numbers that travel at once

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (is_first()) room_.resize(kBucket * static_cast<std::size_t>(count_));
  }

  ~MpiRanks() override {
    // Whoever waits for this one would wait forever.
    if (std::uncaught_exceptions() > 0 && count_ > 1) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int count() const override { return count_; }

  void add(std::span<double> numbers) override {
    for (std::size_t at = 0; at < numbers.size(); at += kBucket)
      add_bucket(numbers.subspan(at, std::min(kBucket, numbers.size() - at)));
  }

 private:
  void add_bucket(std::span<double> numbers) {
    const auto n = static_cast<int>(numbers.size());
    require(MPI_Gather(numbers.data(), n, MPI_DOUBLE, room_.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    if (is_first())
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        double sum = 0;
        for (int r = 0; r < count_; ++r) sum += room_[static_cast<std::size_t>(r) * numbers.size() + i];
        numbers[i] = sum;
      }
    require(MPI_Bcast(numbers.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD));
  }

  static void require(int result) {
    if (result == MPI_SUCCESS) return;
    throw Error(Code::execution_failed, "the connection to the other ranks is lost")
        .hint("the last checkpoint is whole: start again with --resume, with any number of ranks");
  }

  int rank_ = 0, count_ = 1;
  std::vector<double> room_;
};

}  // namespace

std::unique_ptr<Ranks> join_ranks() {
  if (processes_started() == 0) return nullptr;
  return std::make_unique<MpiRanks>();
}

}  // namespace ingot::train
