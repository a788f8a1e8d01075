#pragma once
#include <memory>

#include "ingot/train/ranks.h"

namespace ingot::train {

/// The ranks that mpirun started this process among; null: it was started alone. Where Ingot was built without MPI,
/// refuses to be one of several. When it goes away because of an error, it ends all of them.
std::unique_ptr<Ranks> join_ranks();

/// How many ranks share this machine, by what mpirun tells; 1 without.
int ranks_on_this_machine();

}  // namespace ingot::train
