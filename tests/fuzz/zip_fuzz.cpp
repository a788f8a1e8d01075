// Fuzzes zip archives: what is read can be unpacked piece by piece and written as stored members, and is the same then.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/sink.h"
#include "ingot/formats/zip/archive.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ingot;
  using namespace ingot::formats;
  Budget budget({.memory = std::uint64_t{64} << 20, .time = std::chrono::seconds(5)});
  std::vector<std::pair<std::string, Bytes>> members;
  try {
    const zip::Archive archive(Bytes::copy(std::as_bytes(std::span(data, size))));
    for (const zip::Member& member : archive.members()) {
      members.emplace_back(member.name, archive.read(member, &budget));
      StringSink pieces;
      archive.unpack(member, pieces, &budget);
      if (pieces.text() != members.back().second.text()) std::abort();
    }
  } catch (const Error&) {
    return 0;  // refused, as it should be
  }
  StringSink sink;
  try {
    zip::write(members, sink);
  } catch (const Error&) {
    return 0;  // a name that may be read and not be written
  }
  const zip::Archive again(Bytes::own(sink.take()));
  for (const auto& [name, bytes] : members) {
    const zip::Member* member = again.find(name);
    if (!member || !(again.read(*member) == bytes)) std::abort();
  }
  return 0;
}
