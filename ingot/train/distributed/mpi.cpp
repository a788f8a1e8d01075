// Ranks as processes of MPI, whose library is opened by processes that mpirun started: it brings so many others that
// every start of a program linked with it takes half as long again.
#include "ingot/train/distributed/mpi.h"

#include <dlfcn.h>

// The bindings for C++ are not what is used here.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <exception>

#include "ingot/base/error.h"
#include "ingot/train/distributed/started_by.h"

namespace ingot::train {
namespace {

/// What the library has under a name. It is found where the system keeps its libraries, by the name that Ingot was
/// built with, and stays: its own plug-ins look for what it defines.
void* symbol(const char* name) {
  static void* const library = ::dlopen(INGOT_MPI_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
  void* const found = library ? ::dlsym(library, name) : nullptr;
  if (!found)
    throw Error(Code::bad_usage, "mpirun started this process, but MPI cannot be used: " INGOT_MPI_LIBRARY
                                 " is not there, or is not what Ingot was built with")
        .hint("install the MPI that mpirun belongs to (Debian: libopenmpi3), or start Ingot without mpirun");
  return found;
}

// A function of the library, by the type that its header declares.
#define INGOT_MPI(name) decltype(&MPI_##name) name = reinterpret_cast<decltype(&MPI_##name)>(symbol("MPI_" #name))

// Open MPI's handles are addresses of what its library holds; those of others are numbers of the header.
#ifdef OPEN_MPI
#define INGOT_MPI_HANDLE(type, constant, object) static_cast<type>(symbol(#object))
#else
#define INGOT_MPI_HANDLE(type, constant, object) constant
#endif

struct Library {
  INGOT_MPI(Abort);
  INGOT_MPI(Allgather);
  INGOT_MPI(Alltoall);
  INGOT_MPI(Bcast);
  INGOT_MPI(Comm_rank);
  INGOT_MPI(Comm_set_errhandler);
  INGOT_MPI(Comm_size);
  INGOT_MPI(Finalize);
  INGOT_MPI(Init_thread);
  MPI_Comm world = INGOT_MPI_HANDLE(MPI_Comm, MPI_COMM_WORLD, ompi_mpi_comm_world);
  MPI_Datatype byte = INGOT_MPI_HANDLE(MPI_Datatype, MPI_BYTE, ompi_mpi_byte);
  MPI_Datatype no_type = INGOT_MPI_HANDLE(MPI_Datatype, MPI_DATATYPE_NULL, ompi_mpi_datatype_null);
  MPI_Errhandler errors_return = INGOT_MPI_HANDLE(MPI_Errhandler, MPI_ERRORS_RETURN, ompi_mpi_errors_return);
};

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int level = 0;
    mpi_.Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    mpi_.Comm_rank(mpi_.world, &rank_);
    mpi_.Comm_size(mpi_.world, &count_);
    mpi_.Comm_set_errhandler(mpi_.world, mpi_.errors_return);
    if (level < MPI_THREAD_SERIALIZED)
      throw Error(Code::execution_failed, "this build of MPI does not work with threads").hint("OpenMPI does");
  }

  ~MpiRanks() override {
    // Whoever waits for this one would wait forever.
    if (std::uncaught_exceptions() > 0 && count_ > 1) mpi_.Abort(mpi_.world, 1);
    mpi_.Finalize();
  }

  int rank() const override { return rank_; }
  int count() const override { return count_; }

  void exchange(std::span<const std::byte> from, std::span<std::byte> to) override {
    const int each = part_of(from.size());
    require(mpi_.Alltoall(from.data(), each, mpi_.byte, to.data(), each, mpi_.byte, mpi_.world));
  }
  void spread(std::span<std::byte> all) override {
    require(
        mpi_.Allgather(MPI_IN_PLACE, 0, mpi_.no_type, all.data(), part_of(all.size()), mpi_.byte, mpi_.world));
  }
  void share(std::span<std::byte> bytes, int owner) override {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPiece, bytes.size())))
      require(
          mpi_.Bcast(bytes.data(), static_cast<int>(std::min(kPiece, bytes.size())), mpi_.byte, owner, mpi_.world));
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

  Library mpi_;
  int rank_ = 0, count_ = 1;
};

}  // namespace

std::unique_ptr<Ranks> join_ranks() {
  if (processes_started() == 0) return nullptr;
  return std::make_unique<MpiRanks>();
}

}  // namespace ingot::train
