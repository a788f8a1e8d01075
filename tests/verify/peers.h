#pragma once
#include "ingot/verify/runtime.h"

namespace ingot::test {

/// The runtimes that script/bootstrap installs, or those that INGOT_PEERS names.
verify::Peers peers();

}  // namespace ingot::test
