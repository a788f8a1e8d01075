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

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (level < MPI_THREAD_SERIALIZED)
      throw Error(Code::execution_failed, "this build of MPI does not work with threads").hint("OpenMPI does");
  }

  ~MpiRanks() override {
    // Whoever waits for this one would wait forever.
    if (std::uncaught_exceptions() > 0 && count_ > 1) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int count() const override { return count_; }

  void exchange(std::span<const std::byte> from, std::span<std::byte> to) override {
    const int each = part_of(from.size());
    require(MPI_Alltoall(from.data(), each, MPI_BYTE, to.data(), each, MPI_BYTE, MPI_COMM_WORLD));
  }
  void spread(std::span<std::byte> all) override {
    require(
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), part_of(all.size()), MPI_BYTE, MPI_COMM_WORLD));
  }
  void share(std::span<std::byte> bytes, int owner) override {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPiece, bytes.size())))
      require(
          MPI_Bcast(bytes.data(), static_cast<int>(std::min(kPiece, bytes.size())), MPI_BYTE, owner, MPI_COMM_WORLD));
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 28;  // sizes are of type int

  int part_of(std::size_t bytes) const {
    const std::size_t each = bytes / static_cast<std::size_t>(count_);
    if (each > kPiece) throw Error(Code::execution_failed, "a message to other ranks is too long");
    return static_cast<int>(each);
  }

  static void require(int result) {
    if (result == MPI_SUCCESS) return;
    throw Error(Code::execution_failed, "the connection to the other ranks is lost")
        .hint("the last checkpoint is whole: start again with --resume, with any number of ranks");
  }

  int rank_ = 0, count_ = 1;
};

}  // namespace

std::unique_ptr<Ranks> join_ranks() {
  if (processes_started() == 0) return nullptr;
  return std::make_unique<MpiRanks>();
}

}  // namespace ingot::train
