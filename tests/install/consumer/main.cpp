// Links the installed library: an error made there must be caught here, with its code.
#include <cstdio>

#include "ingot/base/error.h"

int main() {
  const ingot::CodeInfo& first = ingot::all_codes().front();
  try {
    throw ingot::Error(first.code, "thrown by a user's program");
  } catch (const ingot::Error& error) {
    std::puts(error.what());
    return error.code() == first.code ? 0 : 1;
  }
}
