// Attributes of TensorFlow's operators.
#include "ingot/backends/tensorflow/attributes.h"

#include "ingot/base/error.h"

namespace ingot::backends::tensorflow {
namespace {

tf::Attr list(const char* name, tf::AttrList values) {
  return {name, std::make_shared<const tf::AttrList>(std::move(values))};
}

}  // namespace

AttrArg::AttrArg(const char* name, DType value) : attr{name, word_for(value)} {}
AttrArg::AttrArg(const char* name, const Ints& value) : attr(list(name, {.ints = value})) {}
AttrArg::AttrArg(const char* name, const std::vector<float>& value) : attr(list(name, {.floats = value})) {}
AttrArg::AttrArg(const char* name, std::vector<tf::DataType> value) : attr(list(name, {.types = std::move(value)})) {}
AttrArg::AttrArg(const char* name, std::vector<tf::TensorShape> value)
    : attr(list(name, {.shapes = std::move(value)})) {}

AttrArg function_attr(const char* name, const std::string& function) {
  AttrArg arg(name, 0);
  arg.attr.value = std::make_shared<const tf::FunctionName>(tf::FunctionName{function, {}});
  return arg;
}

tf::DataType word_for(DType dtype) {
  const tf::DataType type = tf::data_type_of(dtype);
  if (type == tf::DataType::invalid)
    throw Error(Code::unsupported_type_in_target, "TensorFlow has no element type for " + std::string(name_of(dtype)));
  return type;
}

}  // namespace ingot::backends::tensorflow
