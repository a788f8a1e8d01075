// The small language of operator cases.
#include "tests/frontends/tensorflow/operator_cases.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tests/support/files.h"

namespace ingot::test {
namespace {

struct TypeName {
  DType dtype;
  const char *enumerator, *field;
};

const std::map<std::string, TypeName> kTypes{{"float", {DType::f32, "DT_FLOAT", "float_val"}},
                                             {"double", {DType::f64, "DT_DOUBLE", "double_val"}},
                                             {"int8", {DType::i8, "DT_INT8", "int_val"}},
                                             {"int16", {DType::i16, "DT_INT16", "int_val"}},
                                             {"int32", {DType::i32, "DT_INT32", "int_val"}},
                                             {"int64", {DType::i64, "DT_INT64", "int64_val"}},
                                             {"uint8", {DType::u8, "DT_UINT8", "int_val"}},
                                             {"uint16", {DType::u16, "DT_UINT16", "int_val"}},
                                             {"uint32", {DType::u32, "DT_UINT32", "uint32_val"}},
                                             {"uint64", {DType::u64, "DT_UINT64", "uint64_val"}},
                                             {"bool", {DType::boolean, "DT_BOOL", "bool_val"}},
                                             {"string", {DType::string, "DT_STRING", "string_val"}},
                                             {"quint8", {DType::u8, "DT_QUINT8", "int_val"}},
                                             {"qint8", {DType::i8, "DT_QINT8", "int_val"}},
                                             {"complex64", {DType::c64, "DT_COMPLEX64", "scomplex_val"}},
                                             {"resource", {DType::undefined, "DT_RESOURCE", ""}},
                                             {"variant", {DType::undefined, "DT_VARIANT", ""}}};

const TypeName& type_named(const std::string& name) {
  const auto found = kTypes.find(name);
  if (found == kTypes.end()) throw std::runtime_error("no type '" + name + "'");
  return found->second;
}

/// Words; one in quotes keeps its blanks, without the quotes but with a mark that it was quoted.
struct Word {
  std::string text;
  bool is_quoted = false;
};

std::vector<Word> words_of(const std::string& line) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == ' ') {
      ++i;
      continue;
    }
    Word word;
    if (line[i] == '"') {
      word.is_quoted = true;
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        if (line[i] == '\\' && i + 1 < line.size()) {
          ++i;
          word.text += line[i] == 'n' ? '\n' : line[i] == 't' ? '\t' : line[i];
        } else {
          word.text += line[i];
        }
      }
      ++i;
    } else {
      for (; i < line.size() && line[i] != ' '; ++i) word.text += line[i];
    }
    words.push_back(std::move(word));
  }
  return words;
}

Dims dims_of(const std::string& text) {
  Dims dims;
  std::stringstream rest(text.substr(1, text.size() - 2));
  for (std::string one; std::getline(rest, one, ',');) dims.push_back(std::stoll(one));
  return dims;
}

double number(const std::string& text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "true") return 1;
  if (text == "false") return 0;
  return std::stod(text);
}

Array array_of(DType dtype, const Dims& dims, const std::vector<Word>& words, std::size_t first) {
  Array array(dtype, dims);
  if (static_cast<std::size_t>(array.size()) != words.size() - first)
    throw std::runtime_error(std::to_string(words.size() - first) + " values for a shape of " +
                             std::to_string(array.size()));
  const auto fill = [&]<class T>(T) {
    auto data = array.mutable_data<T>();
    for (std::size_t i = 0; i < data.size(); ++i) {
      if constexpr (std::is_same_v<T, std::int64_t>)
        data[i] = std::stoll(words[first + i].text);
      else if constexpr (std::is_same_v<T, std::uint64_t>)
        data[i] = std::stoull(words[first + i].text);
      else
        data[i] = static_cast<T>(number(words[first + i].text));
    }
  };
  switch (dtype) {
    case DType::f32:
      fill(float{});
      break;
    case DType::f64:
      fill(double{});
      break;
    case DType::i8:
      fill(std::int8_t{});
      break;
    case DType::i16:
      fill(std::int16_t{});
      break;
    case DType::i32:
      fill(std::int32_t{});
      break;
    case DType::i64:
      fill(std::int64_t{});
      break;
    case DType::u8:
      fill(std::uint8_t{});
      break;
    case DType::u16:
      fill(std::uint16_t{});
      break;
    case DType::u32:
      fill(std::uint32_t{});
      break;
    case DType::u64:
      fill(std::uint64_t{});
      break;
    case DType::boolean:
      fill(bool{});
      break;
    case DType::string:
      for (std::size_t i = first; i < words.size(); ++i) array.mutable_data<std::string>()[i - first] = words[i].text;
      break;
    default:
      throw std::runtime_error("values of this type cannot be written");
  }
  return array;
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

std::string shape_text(const Dims& dims) {
  std::string text;
  for (const std::int64_t d : dims) text += " dim { size: " + std::to_string(d) + " }";
  return text;
}

std::string attr_text(const std::string& name, const std::string& value) {
  return " attr { key: " + in_quotes(name) + " value { " + value + " } }";
}

/// "axis=i:1" as text of the graph.
std::string attribute(const std::string& text) {
  const std::size_t equals = text.find('='), colon = text.find(':', equals);
  if (equals == text.npos || colon == text.npos) throw std::runtime_error("no attribute: " + text);
  const std::string name = text.substr(0, equals), kind = text.substr(equals + 1, colon - equals - 1);
  const std::string value = text.substr(colon + 1);
  const auto list = [&](const char* field, bool is_text) {
    std::string all = "list {";
    std::stringstream rest(value);
    for (std::string one; std::getline(rest, one, ',');)
      all += std::string(" ") + field + ": " + (is_text ? in_quotes(one) : one);
    return all + " }";
  };
  if (kind == "i" || kind == "f" || kind == "b") return attr_text(name, kind + ": " + value);
  if (kind == "s") return attr_text(name, "s: " + in_quotes(value));
  if (kind == "type") return attr_text(name, "type: " + std::string(type_named(value).enumerator));
  if (kind == "shape") return attr_text(name, "shape {" + shape_text(dims_of(value)) + " }");
  if (kind == "func") return attr_text(name, "func { name: " + in_quotes(value) + " }");
  if (kind == "li") return attr_text(name, list("i", false));
  if (kind == "lf") return attr_text(name, list("f", false));
  if (kind == "ls") return attr_text(name, list("s", true));
  throw std::runtime_error("no kind of attribute: " + kind);
}

class Reader {
 public:
  void read(const std::string& line, const std::string& place) {
    if (line.empty() || line.starts_with('#')) return;
    const std::vector<Word> words = words_of(line);
    const std::string& what = words.at(0).text;
    if (what == "case") {
      cases_.emplace_back();
      cases_.back().name = words.at(1).text;
      cases_.back().place = place;
      cases_.back().text = "versions { producer: 27 }\n";
      return;
    }
    OperatorCase& c = cases_.at(cases_.size() - 1);
    if (what == "text") {
      c.text += line.substr(5) + "\n";
    } else if (what == "asset") {
      c.assets.emplace_back(words.at(1).text, words.at(2).text);
    } else if (what == "makes") {
      c.makes.push_back(words.at(1).text);
    } else if (what == "sized") {
      c.keeps_sizes = true;
    } else if (what == "node") {
      node(c, words);
    } else if (what == "random") {
      c.distributions.push_back({words.at(1).text, type_named(words.at(2).text).dtype, dims_of(words.at(3).text),
                                 std::stod(words.at(4).text), std::stod(words.at(5).text),
                                 std::stod(words.at(6).text)});
    } else {
      tensor(c, what, words);
    }
  }
  std::vector<OperatorCase> take() { return std::move(cases_); }

 private:
  static void node(OperatorCase& c, const std::vector<Word>& words) {
    c.text += "node { name: " + in_quotes(words.at(1).text) + " op: " + in_quotes(words.at(2).text);
    for (std::size_t i = 3; i < words.size(); ++i) {
      // An input has no "=" before its first quote.
      if (words[i].text.find('=') == std::string::npos)
        c.text += " input: " + in_quotes(words[i].text);
      else
        c.text += attribute(words[i].text);
    }
    c.text += " }\n";
  }

  static void tensor(OperatorCase& c, const std::string& what, const std::vector<Word>& words) {
    const std::string& name = words.at(1).text;
    const TypeName& type = type_named(words.at(2).text);
    const Dims dims = dims_of(words.at(3).text);
    if (what == "variable") {
      c.variables.push_back({name, array_of(type.dtype, dims, words, 4)});
    } else if (what == "out") {
      c.outputs.push_back({name, array_of(type.dtype, dims, words, 4)});
    } else if (what == "in") {
      c.inputs.push_back({name, array_of(type.dtype, dims, words, 4)});
      c.text += "node { name: " + in_quotes(name) + " op: \"Placeholder\"" +
                attr_text("dtype", std::string("type: ") + type.enumerator) +
                attr_text("shape", "shape {" + shape_text(dims) + " }") + " }\n";
    } else if (what == "const") {
      std::string values;
      for (std::size_t i = 4; i < words.size(); ++i)
        values +=
            std::string(" ") + type.field + ": " + (words[i].is_quoted ? in_quotes(words[i].text) : words[i].text);
      c.text += "node { name: " + in_quotes(name) + " op: \"Const\"" +
                attr_text("dtype", std::string("type: ") + type.enumerator) +
                attr_text("value", std::string("tensor { dtype: ") + type.enumerator + " tensor_shape {" +
                                       shape_text(dims) + " }" + values + " }") +
                " }\n";
    } else {
      throw std::runtime_error("no such line: " + what);
    }
  }

  std::vector<OperatorCase> cases_;
};

}  // namespace

std::vector<OperatorCase> read_operator_cases() {
  Reader reader;
  for (const char* name : {"numpy_cases.txt", "python_cases.txt", "hand_cases.txt"}) {
    std::ifstream in(source_dir() / "tests/frontends/tensorflow" / name);
    if (!in) throw std::runtime_error(std::string("cannot read ") + name);
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      const std::string place = std::string(name) + ":" + std::to_string(++number);
      try {
        reader.read(line, place);
      } catch (const std::exception& error) {
        throw std::runtime_error(place + ": " + error.what());
      }
    }
  }
  return reader.take();
}

}  // namespace ingot::test
