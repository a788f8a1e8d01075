// A build without MPI trains alone.
#include "ingot/base/error.h"
#include "ingot/train/distributed/mpi.h"
#include "ingot/train/distributed/started_by.h"

namespace ingot::train {

std::unique_ptr<Ranks> join_ranks() {
  if (processes_started() <= 1) return nullptr;
  throw Error(Code::bad_usage, "this build of Ingot has no MPI: it cannot train together with other processes")
      .hint("build it with libopenmpi-dev installed, or start it without mpirun");
}

}  // namespace ingot::train
