// Fuzzes files of PyTorch: archives with their tensors, streams of old, safetensors, which are written again and read
// the same, and the code of TorchScript, which is followed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/sink.h"
#include "ingot/formats/torch/archive.h"
#include "ingot/formats/torch/safetensors.h"
#include "ingot/frontends/torch/import.h"
#include "ingot/frontends/torch/script/syntax.h"
#include "ingot/frontends/torch/weights.h"

namespace {

using namespace ingot;
namespace files = formats::torch;

void read_safetensors(const Bytes& file) {
  const files::Safetensors content = files::read_safetensors(file);
  StringSink sink;
  files::write_safetensors(content, sink);
  const files::Safetensors again = files::read_safetensors(Bytes::own(sink.take()));
  if (again.tensors.size() != content.tensors.size()) std::abort();
}

void read(const Bytes& file, Budget& budget) {
  if (files::looks_like_safetensors(file)) return read_safetensors(file);
  const files::Kind kind = files::kind_of(file);
  if (kind == files::Kind::none) return (void)frontends::torch::script::parse(file.text());
  if (kind == files::Kind::legacy) return (void)frontends::torch::import_weights(files::Saved(file, &budget), &budget);
  const files::Archive archive(file, &budget);
  frontends::torch::ImportOptions options;
  options.budget = &budget;
  if (archive.kind() == files::Kind::script || archive.kind() == files::Kind::mobile) {
    (void)frontends::torch::import_script(archive, options);
  } else if (archive.kind() == files::Kind::exported || archive.kind() == files::Kind::exported_flat) {
    (void)frontends::torch::import_exported(archive, options);
  } else if (archive.kind() == files::Kind::saved) {
    (void)frontends::torch::import_weights(archive.saved("data"), &budget);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Budget budget({.memory = std::uint64_t{256} << 20, .time = std::chrono::seconds(10), .nodes = 20'000});
  try {
    read(Bytes::copy(std::as_bytes(std::span(data, size))), budget);
  } catch (const Error&) {
  }
  return 0;
}
