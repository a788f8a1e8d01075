// Operators whose own files are still to come: known by their schemas only.
#include "ingot/ops/catalog.h"

namespace ingot::ops {

constinit const OpDef AffineGrid = {.name = "AffineGrid"};
constinit const OpDef CenterCropPad = {.name = "CenterCropPad"};
constinit const OpDef Compress = {.name = "Compress"};
constinit const OpDef Concat = {.name = "Concat"};
constinit const OpDef ConcatFromSequence = {.name = "ConcatFromSequence"};
constinit const OpDef DepthToSpace = {.name = "DepthToSpace"};
constinit const OpDef Det = {.name = "Det"};
constinit const OpDef Einsum = {.name = "Einsum"};
constinit const OpDef Expand = {.name = "Expand"};
constinit const OpDef Flatten = {.name = "Flatten"};
constinit const OpDef Gather = {.name = "Gather"};
constinit const OpDef GatherElements = {.name = "GatherElements"};
constinit const OpDef GatherND = {.name = "GatherND"};
constinit const OpDef Gemm = {.name = "Gemm"};
constinit const OpDef GridSample = {.name = "GridSample"};
constinit const OpDef If = {.name = "If"};
constinit const OpDef Loop = {.name = "Loop"};
constinit const OpDef MatMul = {.name = "MatMul"};
constinit const OpDef NonZero = {.name = "NonZero"};
constinit const OpDef OneHot = {.name = "OneHot"};
constinit const OpDef Optional = {.name = "Optional"};
constinit const OpDef OptionalGetElement = {.name = "OptionalGetElement"};
constinit const OpDef OptionalHasElement = {.name = "OptionalHasElement"};
constinit const OpDef Pad = {.name = "Pad"};
constinit const OpDef Reshape = {.name = "Reshape"};
constinit const OpDef Resize = {.name = "Resize"};
constinit const OpDef ReverseSequence = {.name = "ReverseSequence"};
constinit const OpDef Scan = {.name = "Scan"};
constinit const OpDef Scatter = {.name = "Scatter"};
constinit const OpDef ScatterElements = {.name = "ScatterElements"};
constinit const OpDef ScatterND = {.name = "ScatterND"};
constinit const OpDef SequenceAt = {.name = "SequenceAt"};
constinit const OpDef SequenceConstruct = {.name = "SequenceConstruct"};
constinit const OpDef SequenceEmpty = {.name = "SequenceEmpty"};
constinit const OpDef SequenceErase = {.name = "SequenceErase"};
constinit const OpDef SequenceInsert = {.name = "SequenceInsert"};
constinit const OpDef SequenceLength = {.name = "SequenceLength"};
constinit const OpDef SequenceMap = {.name = "SequenceMap"};
constinit const OpDef Shape = {.name = "Shape"};
constinit const OpDef Size = {.name = "Size"};
constinit const OpDef Slice = {.name = "Slice"};
constinit const OpDef SpaceToDepth = {.name = "SpaceToDepth"};
constinit const OpDef Split = {.name = "Split"};
constinit const OpDef SplitToSequence = {.name = "SplitToSequence"};
constinit const OpDef TensorScatter = {.name = "TensorScatter"};
constinit const OpDef Tile = {.name = "Tile"};
constinit const OpDef Transpose = {.name = "Transpose"};
constinit const OpDef Trilu = {.name = "Trilu"};
constinit const OpDef Unique = {.name = "Unique"};
constinit const OpDef Unsqueeze = {.name = "Unsqueeze"};
constinit const OpDef Upsample = {.name = "Upsample"};

}  // namespace ingot::ops
