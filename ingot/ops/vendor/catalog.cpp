// The table of operators that ONNX does not define.
#include "ingot/ops/vendor/catalog.h"

#include <algorithm>
#include <utility>

namespace ingot::ops {
namespace {

// The domains by the names that the table uses.
constexpr std::string_view kDomain_contrib = kContrib;
constexpr std::string_view kDomain_experiments;
constexpr std::string_view kDomain_microsoft = kMicrosoft;
constexpr std::string_view kDomain_nchwc = kNchwc;
constexpr std::string_view kDomain_own = kOwn;

using Key = std::pair<std::string_view, std::string_view>;

#define INGOT_VENDOR(group, name) Key(kDomain_##group, #name),
constexpr Key kKeys[] = {
#include "ingot/ops/vendor/catalog.def"
};
#undef INGOT_VENDOR
static_assert(std::ranges::is_sorted(kKeys), "keep vendor/catalog.def sorted: find_vendor() searches by halves");

#define INGOT_VENDOR(group, name) &defs::group::name,
constexpr const OpDef* kDefs[] = {
#include "ingot/ops/vendor/catalog.def"
};
#undef INGOT_VENDOR

struct Reason {
  std::string_view name, why;
};
constexpr std::string_view kGenerates = "it runs graphs of its own in a loop until texts end";
constexpr std::string_view kVendorBlob = "its weights are a form that only one kind of machine reads";
constexpr std::string_view kSearches = "it searches for equal runs of tokens";
constexpr std::string_view kProcesses = "it passes tensors between processes, on GPUs only";
constexpr std::string_view kGpuOnly = "ONNX Runtime runs it on GPUs only: nothing here could tell a right definition";
constexpr std::string_view kNoKernel = "ONNX Runtime itself has no kernel for it";
constexpr Reason kReasons[] = {
    {"AllGather", kProcesses},
    {"AllReduce", kProcesses},
    {"AllToAll", kProcesses},
    {"BeamSearch", kGenerates},
    {"BifurcationDetector", kSearches},
    {"DecoderAttention", kGpuOnly},
    {"DecoderMaskedSelfAttention", kGpuOnly},
    {"DequantizeBFP", kNoKernel},
    {"DequantizeWithOrder", kGpuOnly},
    {"DynamicQuantizeLSTM", "it rounds its state anew in each step, which the body of LSTM cannot say"},
    {"DynamicTimeWarping", "each step depends on the one before it in two directions"},
    {"EPContext", kVendorBlob},
    {"GemmFloat8", kGpuOnly},
    {"GreedySearch", kGenerates},
    {"Inverse", "ONNX has no operator that solves equations"},
    {"LongformerAttention", kGpuOnly},
    {"MatMulBlockQuantizedFp4Weight", kGpuOnly},
    {"MatMulBlockQuantizedFp8Weight", kGpuOnly},
    {"MatMulNBitsMlp", kNoKernel},
    {"MatMulNBitsQkv", kNoKernel},
    {"MaxpoolWithMask", "what its mask means depends on the order in which a window is read"},
    {"MurmurHash3", "it mixes the bits of whatever an element holds"},
    {"NGramRepeatBlock", kSearches},
    {"PagedAttention", kGpuOnly},
    {"QuantizeBFP", kNoKernel},
    {"QuantizeWithOrder", kGpuOnly},
    {"Sampling", kGenerates},
    {"ShardedMoE", kProcesses},
    {"Snpe", kVendorBlob},
    {"SparseToDenseMatMul", "one of its inputs is a sparse matrix, which no other operator takes"},
    {"Tokenizer", "it cuts texts by regular expressions"},
    {"WhisperBeamSearch", kGenerates},
};

constexpr std::string_view kVocabulary = "it looks texts up in a vocabulary";
constexpr std::string_view kCharacters = "ONNX has no operator that sees the characters of a text";
constexpr std::string_view kDraws = "ONNX has no operator that writes or draws images";
constexpr std::string_view kRagged = "ONNX has no rows of different lengths";
constexpr Reason kContribReasons[] = {
    {"AudioDecoder", "ONNX has no operator that reads sounds"},
    {"BasicTokenizer", kCharacters},
    {"BlingFireSentenceBreaker", "it cuts texts by the rules of a model"},
    {"DecodeImage", "ONNX's ImageDecoder gives nothing where this one fails"},
    {"DrawBoundingBoxes", kDraws},
    {"EncodeImage", kDraws},
    {"GaussianBlur", "its weights are computed from numbers that it reads"},
    {"ImageDecoder", "ONNX's ImageDecoder gives nothing where this one fails"},
    {"ImageReader", "a model does not decide which files are read: there is no kernel; ImageDecoder takes the bytes"},
    {"Inverse", "ONNX has no operator that solves equations"},
    {"MergeSignalSegments", kRagged},
    {"RaggedTensorToDense", kRagged},
    {"RaggedTensorToSparse", kRagged},
    {"SegmentExtraction", kRagged},
    {"SegmentSum", "the last number of an input is the size of its result"},
    {"SplitSignalSegments", kRagged},
    {"StftNorm", "its sizes are numbers that it reads"},
    {"StringEqual", "it aligns dimensions from the left"},
    {"StringMapping", kVocabulary},
    {"StringRaggedTensorToDense", kRagged},
    {"StringToVector", kVocabulary},
    {"VectorToString", kVocabulary},
};

}  // namespace

std::string_view vendor_domain(std::string_view domain) { return domain == kExtensions ? kContrib : domain; }

const OpDef* find_vendor(std::string_view domain, std::string_view name) {
  domain = vendor_domain(domain);
  const auto* it = std::ranges::lower_bound(kKeys, Key(domain, name));
  return it != std::end(kKeys) && *it == Key(domain, name) ? kDefs[it - std::begin(kKeys)] : nullptr;
}

std::span<const OpDef* const> vendor_operators() { return kDefs; }

std::string_view why_undefined(std::string_view domain, std::string_view name) {
  domain = vendor_domain(domain);
  if (domain == kContrib) {
    const auto* it = std::ranges::find(kContribReasons, name, &Reason::name);
    if (it != std::end(kContribReasons)) return it->why;
    return name.find("okenizer") != name.npos || name.ends_with("Decoder") ? kVocabulary : kCharacters;
  }
  if (domain == kOwn) return kCharacters;
  if (domain != kMicrosoft) return {};
  if (name.starts_with("Distributed")) return kProcesses;
  if (name.starts_with("QOrdered")) return kGpuOnly;
  const auto* it = std::ranges::find(kReasons, name, &Reason::name);
  return it == std::end(kReasons) ? std::string_view() : it->why;
}

}  // namespace ingot::ops
