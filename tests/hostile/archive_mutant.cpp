// Zip archives with one member changed, and packed again so that all checksums hold.
#include "ingot/base/error.h"
#include "ingot/base/sink.h"
#include "ingot/formats/zip/archive.h"
#include "tests/hostile/draws.h"
#include "tests/hostile/mutants.h"

namespace ingot::test {
namespace {

namespace zip = formats::zip;

std::string mutated_member(const std::string& name, const std::string& content, std::uint64_t seed) {
  if (name.ends_with(".json")) return mutated_json(content, seed);
  if (name.ends_with(".pkl")) return mutated_pickle(content, seed);
  if (name.ends_with(".py")) return mutated_text(content, seed);
  return mutated_bytes(content, seed);
}

/// Mostly one that says what the others mean: there are few of them beside the weights.
std::size_t chosen_member(const zip::Archive& archive, Draws& draws) {
  std::vector<std::size_t> sayings;
  for (std::size_t i = 0; i < archive.members().size(); ++i) {
    const std::string& name = archive.members()[i].name;
    if (name.ends_with(".json") || name.ends_with(".pkl") || name.ends_with(".py")) sayings.push_back(i);
  }
  if (!sayings.empty() && draws.below(4)) return sayings[draws.below(sayings.size())];
  return draws.below(archive.members().size());
}

}  // namespace

std::string mutated_archive(const std::string& file, std::uint64_t seed) {
  Draws draws(seed);
  if (draws.below(8) == 0) return mutated_bytes(file, seed);
  try {
    const zip::Archive archive(Bytes::own(file));
    if (archive.members().empty()) return mutated_bytes(file, seed);
    const std::size_t chosen = chosen_member(archive, draws);
    std::vector<std::pair<std::string, Bytes>> members;
    for (std::size_t i = 0; i < archive.members().size(); ++i) {
      const zip::Member& member = archive.members()[i];
      const Bytes bytes = archive.read(member);
      if (i == chosen && draws.below(6) == 0) continue;
      if (i != chosen)
        members.emplace_back(member.name, bytes);
      else
        members.emplace_back(member.name, Bytes::own(mutated_member(member.name, std::string(bytes.text()), seed)));
    }
    StringSink sink;
    zip::write(members, sink);
    return sink.text();
  } catch (const Error&) {
    return mutated_bytes(file, seed);
  }
}

}  // namespace ingot::test
