#pragma once

namespace ingot::train {

/// How many processes were started together, by what MPI's launchers tell; 0: none of them started this one.
int processes_started();

}  // namespace ingot::train
