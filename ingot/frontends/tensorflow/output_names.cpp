// The names of outputs of operators that have several.
#include <algorithm>

#include "ingot/frontends/tensorflow/body.h"

namespace ingot::frontends::tensorflow {
namespace {

struct Outputs {
  std::string_view op;
  std::string_view names;  // separated by blanks
};

constexpr Outputs kOutputs[] = {
    {"BatchSelfAdjointEigV2", "e v"},
    {"BatchSvd", "s u v"},
    {"BlockLSTM", "i cs f o ci co h"},
    {"BlockLSTMV2", "i cs f o ci co h"},
    {"BroadcastGradientArgs", "r0 r1"},
    {"CTCGreedyDecoder", "decoded_indices decoded_values decoded_shape log_probability"},
    {"CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections"},
    {"CudnnRNN", "output output_h output_c reserve_space"},
    {"CudnnRNNV2", "output output_h output_c reserve_space host_reserved"},
    {"CudnnRNNV3", "output output_h output_c reserve_space host_reserved"},
    {"DecodeWav", "audio sample_rate"},
    {"DeserializeSparse", "sparse_indices sparse_values sparse_shape"},
    {"Eig", "e v"},
    {"FusedBatchNorm", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
    {"FusedBatchNormV2", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
    {"FusedBatchNormV3", "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"},
    {"GRUBlockCell", "r u c h"},
    {"GenerateBoundingBoxProposals", "rois roi_probabilities"},
    {"LSTMBlockCell", "i cs f o ci co h"},
    {"ListDiff", "out idx"},
    {"LogMatrixDeterminant", "sign log_abs_determinant"},
    {"LookupTableExport", "keys values"},
    {"LookupTableExportV2", "keys values"},
    {"Lu", "lu p"},
    {"MaxPoolWithArgmax", "output argmax"},
    {"Merge", "output value_index"},
    {"NonMaxSuppressionV4", "selected_indices valid_outputs"},
    {"NonMaxSuppressionV5", "selected_indices selected_scores valid_outputs"},
    {"Qr", "q r"},
    {"QuantizeDownAndShrinkRange", "output output_min output_max"},
    {"QuantizeV2", "output output_min output_max"},
    {"QuantizedAvgPool", "output min_output max_output"},
    {"QuantizedBiasAdd", "output min_out max_out"},
    {"QuantizedConcat", "output output_min output_max"},
    {"QuantizedConv2D", "output min_output max_output"},
    {"QuantizedMatMul", "out min_out max_out"},
    {"QuantizedMaxPool", "output min_output max_output"},
    {"QuantizedRelu", "activations min_activations max_activations"},
    {"QuantizedRelu6", "activations min_activations max_activations"},
    {"RaggedGather", "output_nested_splits output_dense_values"},
    {"RaggedRange", "rt_nested_splits rt_dense_values"},
    {"RaggedTensorToSparse", "sparse_indices sparse_values sparse_dense_shape"},
    {"RequantizationRange", "output_min output_max"},
    {"Requantize", "output output_min output_max"},
    {"SampleDistortedBoundingBoxV2", "begin size bboxes"},
    {"SelfAdjointEigV2", "e v"},
    {"SoftmaxCrossEntropyWithLogits", "loss backprop"},
    {"SparseAdd", "sum_indices sum_values sum_shape"},
    {"SparseConcat", "output_indices output_values output_shape"},
    {"SparseFillEmptyRows", "output_indices output_values empty_row_indicator reverse_index_map"},
    {"SparseReduceSumSparse", "output_indices output_values output_shape"},
    {"SparseReorder", "output_indices output_values"},
    {"SparseReshape", "output_indices output_shape"},
    {"SparseSlice", "output_indices output_values output_shape"},
    {"SparseSoftmaxCrossEntropyWithLogits", "loss backprop"},
    {"SparseSparseMaximum", "output_indices output_values"},
    {"SparseSparseMinimum", "output_indices output_values"},
    {"StatelessRandomGetKeyCounter", "key counter"},
    {"StatelessRandomGetKeyCounterAlg", "key counter alg"},
    {"StringNGrams", "ngrams ngrams_splits"},
    {"StringSplit", "indices values shape"},
    {"StringSplitV2", "indices values shape"},
    {"Svd", "s u v"},
    {"Switch", "output_false output_true"},
    {"TensorArrayConcatV3", "value lengths"},
    {"TensorArrayV3", "handle flow"},
    {"TensorListConcat", "tensor lengths"},
    {"TensorListConcatV2", "tensor lengths"},
    {"TensorListPopBack", "output_handle tensor"},
    {"TopK", "values indices"},
    {"TopKV2", "values indices"},
    {"UnicodeDecode", "row_splits char_values"},
    {"UnicodeDecodeWithOffsets", "row_splits char_values char_to_byte_starts"},
    {"Unique", "y idx"},
    {"UniqueV2", "y idx"},
    {"UniqueWithCounts", "y idx count"},
    {"UniqueWithCountsV2", "y idx count"},
};
static_assert(std::ranges::is_sorted(kOutputs, {}, &Outputs::op), "keep the table sorted");

}  // namespace

std::int32_t output_position(std::string_view op, std::string_view output) {
  const auto row = std::ranges::lower_bound(kOutputs, op, {}, &Outputs::op);
  if (row == std::end(kOutputs) || row->op != op) return 0;
  std::int32_t position = 0;
  for (std::string_view rest = row->names; !rest.empty(); ++position) {
    const std::size_t blank = rest.find(' ');
    if (rest.substr(0, blank) == output) return position;
    rest.remove_prefix(blank == rest.npos ? rest.size() : blank + 1);
  }
  return 0;
}

}  // namespace ingot::frontends::tensorflow
