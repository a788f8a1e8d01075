// The options of a conversion in words: the one table that the command line, C and Python read.
#include "ingot/driver/convert_words.h"

#include <algorithm>
#include <charconv>

#include "ingot/base/byte_size.h"
#include "ingot/base/error.h"

namespace ingot::driver {

/// A request under way: what several words say together waits here.
struct ConvertWish {
  ConvertRequest& request;
  std::optional<DType> half{};
  std::vector<std::string> keep_float{};
  bool half_ports = false;
};

namespace {

using Text = const std::string&;
using Takes = ConvertWord::Takes;

template <bool ConvertRequest::*field, bool value = true> void flag(ConvertWish& w, Text) { w.request.*field = value; }
template <std::string ConvertRequest::*field> void text(ConvertWish& w, Text v) { w.request.*field = v; }
template <auto field, auto parse> void value(ConvertWish& w, Text v) { w.request.*field = parse(v); }
template <auto field, auto parse> void item(ConvertWish& w, Text v) { (w.request.*field).push_back(parse(v)); }
template <auto field> void name(ConvertWish& w, Text v) { (w.request.*field).push_back(v); }

std::int64_t parse_opset(Text word) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc() || end != word.data() + word.size() || number <= 0)
    throw Error(Code::bad_usage, "--opset: '" + word + "' is not a number above zero");
  return number;
}

void set_half(ConvertWish& w, DType type) {
  if (w.half && *w.half != type) throw Error(Code::bad_usage, "--float16 and --bfloat16 exclude each other");
  w.half = type;
}

constexpr ConvertWord kWords[] = {
    {"opset", Takes::one, "Operator set version of ai.onnx to write", value<&ConvertRequest::opset, parse_opset>},
    {"for", Takes::one, "Write what this program reads: ort-1.15, onnx-1.12 (see 'ops --targets')",
     text<&ConvertRequest::target>},
    {"input-shape", Takes::several, "Fix an input's dimensions: x:1,3,224,224 (? keeps one)",
     item<&ConvertRequest::input_shapes, parse_input_shape>},
    {"input-type", Takes::several, "An input's element type, where the source does not say it (PyTorch): x:int64",
     item<&ConvertRequest::input_types, parse_input_type>},
    {"input-value", Takes::several,
     "Fix a number that the model's code takes (PyTorch), so that it is no input: rate=16000",
     item<&ConvertRequest::input_values, parse_input_value>},
    {"batch", Takes::one, "Another batch, also of a model that fixes it: 8, or N to leave it open",
     value<&ConvertRequest::batch, parse_batch>},
    {"rename", Takes::several, "Rename a value: old=new", item<&ConvertRequest::renames, parse_rename>},

    // What is taken of the source, and how it is understood.
    {"signature", Takes::one, "Which of the source's signatures to convert", text<&ConvertRequest::signature>},
    {"tag", Takes::one, "Which of a SavedModel's graphs to convert (default: serve)", text<&ConvertRequest::tag>},
    {"inputs", Takes::names, "Cut the source here: names of values that become the inputs",
     name<&ConvertRequest::inputs>},
    {"outputs", Takes::names, "Names of values that become the outputs", name<&ConvertRequest::outputs>},
    {"allow-custom", Takes::several, "Keep an operator that has no translation as a custom node: Op or Op:domain",
     item<&ConvertRequest::allow_custom, parse_operator>},
    {"functions", Takes::one, "An ONNX file whose functions say what custom operators of the same names mean",
     text<&ConvertRequest::functions>},
    {"map-ops", Takes::one, "A JSON file with other names, domains and attributes for operators of the source",
     text<&ConvertRequest::map_ops>},
    {"mode", Takes::one, "What of a model that can learn: inference (default), training or both",
     value<&ConvertRequest::mode, parse_mode>},
    {"strings", Takes::one,
     "contrib: TensorFlow's texts as operators of ONNX Runtime's extensions, where they mean the same",
     text<&ConvertRequest::strings>},
    {"keep-functions", Takes::nothing, "Keep TensorFlow's functions as functions of the model instead of inlining them",
     flag<&ConvertRequest::keep_functions>},
    {"keep-nhwc", Takes::nothing,
     "Keep channels last: Conv, MaxPool ... become functions of the domain ingot.nhwc with plain ONNX bodies",
     flag<&ConvertRequest::keep_nhwc>},
    {"weights-from", Takes::one,
     "The file that holds the weights: of a Keras model whose source only describes it, or others for a PyTorch one",
     text<&ConvertRequest::weights_from>},
    {"optimizer-state", Takes::one,
     "What torch.save wrote of optimizer.state_dict(): it becomes training information, with --loss",
     text<&ConvertRequest::optimizer_state>},
    {"loss", Takes::one, "What that optimizer makes small: cross_entropy, mse, ...", text<&ConvertRequest::loss>},
    {"optimizer", Takes::one, "Which optimizer it is, where the state leaves it open",
     text<&ConvertRequest::optimizer>},
    {"keep-state", Takes::nothing, "Buffers that the model changes (PyTorch) are inputs, and outputs NAME.next",
     flag<&ConvertRequest::keep_state>},
    {"dequantize", Takes::nothing, "Turn quantised tensors into float", flag<&ConvertRequest::dequantize>},
    {"float16", Takes::nothing, "Compute in float16 what the model computes in float",
     [](ConvertWish& w, Text) { set_half(w, DType::f16); }},
    {"bfloat16", Takes::nothing, "The same in bfloat16", [](ConvertWish& w, Text) { set_half(w, DType::bf16); }},
    {"keep-float", Takes::names, "Operators (Op) and nodes (by name) that stay float",
     [](ConvertWish& w, Text v) { w.keep_float.push_back(v); }},
    {"half-ports", Takes::nothing, "Inputs and outputs become half precision too",
     [](ConvertWish& w, Text) { w.half_ports = true; }},
    {"standard", Takes::nothing, "Say operators of other domains (com.microsoft) in ONNX's own, which any runtime has",
     flag<&ConvertRequest::standard>},
    {"precision", Takes::one,
     "What models of scikit-learn and of boosting libraries compute in: float64 (default, where they do) or float32",
     value<&ConvertRequest::precision, parse_precision>},
    {"raw-scores", Takes::nothing, "Classifiers give their decision function in place of probabilities",
     flag<&ConvertRequest::raw_scores>},
    {"zipmap", Takes::nothing, "Probabilities as a map from class to number", flag<&ConvertRequest::zipmap>},
    {"decision-path", Takes::nothing, "Trees and forests of scikit-learn also tell which nodes each row passes",
     flag<&ConvertRequest::decision_path>},
    {"data", Takes::one, "CSV: a sample of the frame that a pandas program works on", text<&ConvertRequest::data>},
    {"schema", Takes::one, "Its columns: age:int,price:float,name:text,is_new:bool", text<&ConvertRequest::schema>},

    // How the result is written.
    {"infer-types", Takes::nothing, "Write the inferred type and shape of every value",
     flag<&ConvertRequest::infer_types>},
    {"external-data", Takes::nothing, "Put the weights into one data file beside the model",
     flag<&ConvertRequest::external_data>},
    {"external-threshold", Takes::one, "Only weights of at least this size (default 1K)",
     value<&ConvertRequest::external_threshold, parse_size>},
    {"auto-cast", Takes::one,
     "Element types that the target lacks: none (default: refuse), up (compute in wider ones), all (narrower ones too)",
     value<&ConvertRequest::auto_cast, parse_auto_cast>},
    {"weights", Takes::one, "Store large float weights of a .tflite file as float16",
     value<&ConvertRequest::weights, parse_weights>},
    {"native-lstm", Takes::nothing,
     "Write LSTM as one operator of TFLite's, which is smaller and faster but which LiteRT does not load",
     flag<&ConvertRequest::native_lstm>},
    {"quantize", Takes::one, "Store large float weights of a TF.js model in fewer bits: float16, uint8 or uint16",
     value<&ConvertRequest::quantize, parse_quantize>},
    {"variables", Takes::nothing, "Keep parameters as variables of a SavedModel, to be trained on in TensorFlow",
     flag<&ConvertRequest::variables>},
    {"sequences", Takes::one,
     "Sequences in TensorFlow: lists (default), or ragged, which inputs and outputs may be too",
     value<&ConvertRequest::sequences, parse_sequences>},
    {"inputs-as", Takes::one, "Layout of inputs with channels: nchw or nhwc (default: as the source has them)",
     [](ConvertWish& w, Text v) { w.request.layout.inputs_as = parse_layout(v); }},
    {"outputs-as", Takes::one, "Layout of outputs with channels",
     [](ConvertWish& w, Text v) { w.request.layout.outputs_as = parse_layout(v); }},
    {"from", Takes::one, "The input's format, when it does not tell itself",
     [](ConvertWish& w, Text v) { w.request.from = &format_by_name(v); }, [] { return format_names(is_readable); }},
    {"to", Takes::one, "The output's format, when its extension does not tell",
     [](ConvertWish& w, Text v) { w.request.to = &format_by_name(v); }, [] { return format_names(is_writable); }},
};

}  // namespace

std::span<const ConvertWord> convert_words() { return kWords; }

const ConvertWord& convert_word(std::string_view name) {
  std::string known;
  for (const ConvertWord& word : kWords) {
    if (word.name == name) return word;
    known += (known.empty() ? "" : ", ") + std::string(word.name);
  }
  throw Error(Code::bad_usage, "there is no option '" + std::string(name) + "'").hint("options: " + known);
}

void set_words(ConvertRequest& request, const std::vector<WordGiven>& words) {
  ConvertWish wish{request};
  for (auto at = words.begin(); at != words.end(); ++at) {
    const WordGiven& given = *at;
    const ConvertWord& word = convert_word(given.name);
    if (word.takes == Takes::one &&
        std::find_if(words.begin(), at, [&](const WordGiven& before) { return before.name == given.name; }) != at)
      throw Error(Code::bad_usage, "option '" + given.name + "' is given twice");
    if (word.takes == Takes::nothing && !given.value.empty())
      throw Error(Code::bad_usage, "option '" + given.name + "' takes no value, but has '" + given.value + "'");
    word.set(wish, given.value);
  }
  if (wish.half)
    request.half = passes::HalfOptions{.to = *wish.half, .keep = wish.keep_float, .converts_ports = wish.half_ports};
  else if (!wish.keep_float.empty() || wish.half_ports)
    throw Error(Code::bad_usage, "--keep-float and --half-ports do nothing by themselves")
        .hint("add --float16 or --bfloat16");
}

}  // namespace ingot::driver
