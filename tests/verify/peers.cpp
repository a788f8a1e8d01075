// Where the tests find other runtimes.
#include "tests/verify/peers.h"

#include <cstdlib>

#include "tests/support/files.h"

namespace ingot::test {

verify::Peers peers() {
  const char* named = std::getenv("INGOT_PEERS");
  return verify::find_peers(named && *named ? named : (source_dir() / "build" / "peers").string());
}

}  // namespace ingot::test
