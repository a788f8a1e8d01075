#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/base/dtype.h"

namespace ingot::formats::torch {

class Archive;

/// What TorchScript's code does not tell of a model, as an extra file of the archive: torch.jit.load leaves it alone,
/// and hands it out on request (_extra_files={"ingot_interface.json": ""}).
struct InterfaceFile {
  struct Size {
    std::int64_t number = -1;  // -1: not known
    std::string name{};        // of one that is known by name
  };
  struct Input {
    std::string name;  // as the argument of forward
    DType dtype = DType::undefined;
    std::optional<std::vector<Size>> shape{};
  };
  std::vector<Input> inputs{};
  std::vector<std::string> outputs{};  // names
};

inline constexpr const char* kInterfaceFile = "extra/ingot_interface.json";

std::string text_of(const InterfaceFile& file);
/// Nothing where the archive has none, or has something else under its name.
std::optional<InterfaceFile> interface_of(const Archive& archive);

}  // namespace ingot::formats::torch
