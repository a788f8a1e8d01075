#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "ingot/formats/tensorflow/graph_def.h"

namespace ingot::backends::tensorflow {

namespace tf = formats::tensorflow;

using Ints = std::vector<std::int64_t>;

/// One attribute in a call of Emitter::add: {"T", DType::f32}, {"N", 3}, {"padding", "SAME"}, {"strides", Ints{...}}.
struct AttrArg {
  AttrArg(const char* name, int value) : attr{name, std::int64_t{value}} {}
  AttrArg(const char* name, std::int64_t value) : attr{name, value} {}
  AttrArg(const char* name, bool value) : attr{name, value} {}
  AttrArg(const char* name, float value) : attr{name, value} {}
  AttrArg(const char* name, const char* value) : attr{name, std::string(value)} {}
  AttrArg(const char* name, std::string value) : attr{name, std::move(value)} {}
  AttrArg(const char* name, tf::DataType value) : attr{name, value} {}
  AttrArg(const char* name, DType value);
  AttrArg(const char* name, tf::TensorShape value) : attr{name, std::move(value)} {}
  AttrArg(const char* name, const Ints& value);
  AttrArg(const char* name, const std::vector<float>& value);
  AttrArg(const char* name, std::vector<tf::DataType> value);
  AttrArg(const char* name, std::vector<tf::TensorShape> value);

  tf::Attr attr;
};
/// A function by its name.
AttrArg function_attr(const char* name, const std::string& function);

using AttrArgs = std::vector<AttrArg>;

/// TensorFlow's word for an element type. Refuses types that it has none for.
tf::DataType word_for(DType dtype);

}  // namespace ingot::backends::tensorflow
