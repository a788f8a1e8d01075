// From one file to another, and whether both give the same numbers: ingot_example_convert IN OUT
#include <cstdio>

#include "ingot/ingot.h"

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  ingot::ConvertRequest request;
  request.input = argv[1];
  request.output = argv[2];
  request.input_shapes = {{"image", {1, 1, 8, 8}}};
  std::optional<ingot::Verdict> verdict;
  request.verify = ingot::verifier(ingot::find_peers(), verdict);  // leave this out to compare nothing
  const ingot::ConvertReport report = ingot::convert(request);
  for (const std::string& note : report.notes) std::printf("note: %s\n", note.c_str());
  if (!verdict) std::printf("not verified: %s\n", report.not_verified.c_str());
  const bool differs = verdict && verdict->answer == ingot::Verdict::Answer::different;
  std::printf("%s -> %s%s\n", report.from->title.data(), report.to->title.data(), differs ? ": they differ" : "");
  return differs ? 1 : 0;
} catch (const ingot::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
