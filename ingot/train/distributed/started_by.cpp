// What launchers of MPI tell the processes that they start.
#include "ingot/train/distributed/started_by.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "ingot/train/distributed/mpi.h"

namespace ingot::train {
namespace {

int first_number(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* name : variables)
    if (const char* text = std::getenv(name)) return std::max(1, std::atoi(text));
  return otherwise;
}

}  // namespace

int processes_started() { return first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}, 0); }

int ranks_on_this_machine() { return first_number({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, 1); }

}  // namespace ingot::train
