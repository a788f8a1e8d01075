#pragma once
#include <pybind11/pybind11.h>

#include <optional>
#include <string>

// Options by name, where they are given.

namespace ingot::python {

template <class T> void take(const pybind11::dict& options, const char* name, T& field) {
  if (!options.contains(name) || options[name].is_none()) return;
  try {
    field = options[name].template cast<T>();
  } catch (const pybind11::cast_error&) {
    throw pybind11::type_error(std::string("option '") + name + "' cannot be " +
                               pybind11::repr(options[name]).cast<std::string>());
  }
}

template <class T> void take(const pybind11::dict& options, const char* name, std::optional<T>& field) {
  T value{};
  if (!options.contains(name) || options[name].is_none()) return;
  take(options, name, value);
  field = std::move(value);
}

}  // namespace ingot::python
