// Operators whose own files are still to come: known by their schemas only.
#include "ingot/ops/catalog.h"

namespace ingot::ops {

constinit const OpDef defs::AffineGrid = {.name = "AffineGrid"};
constinit const OpDef defs::CenterCropPad = {.name = "CenterCropPad"};
constinit const OpDef defs::Compress = {.name = "Compress"};
constinit const OpDef defs::Concat = {.name = "Concat"};
constinit const OpDef defs::ConcatFromSequence = {.name = "ConcatFromSequence"};
constinit const OpDef defs::DepthToSpace = {.name = "DepthToSpace"};
constinit const OpDef defs::Det = {.name = "Det"};
constinit const OpDef defs::Einsum = {.name = "Einsum"};
constinit const OpDef defs::Expand = {.name = "Expand"};
constinit const OpDef defs::Flatten = {.name = "Flatten"};
constinit const OpDef defs::Gather = {.name = "Gather"};
constinit const OpDef defs::GatherElements = {.name = "GatherElements"};
constinit const OpDef defs::GatherND = {.name = "GatherND"};
constinit const OpDef defs::Gemm = {.name = "Gemm"};
constinit const OpDef defs::GridSample = {.name = "GridSample"};
constinit const OpDef defs::If = {.name = "If"};
constinit const OpDef defs::Loop = {.name = "Loop"};
constinit const OpDef defs::MatMul = {.name = "MatMul"};
constinit const OpDef defs::NonZero = {.name = "NonZero"};
constinit const OpDef defs::OneHot = {.name = "OneHot"};
constinit const OpDef defs::Optional = {.name = "Optional"};
constinit const OpDef defs::OptionalGetElement = {.name = "OptionalGetElement"};
constinit const OpDef defs::OptionalHasElement = {.name = "OptionalHasElement"};
constinit const OpDef defs::Pad = {.name = "Pad"};
constinit const OpDef defs::Reshape = {.name = "Reshape"};
constinit const OpDef defs::Resize = {.name = "Resize"};
constinit const OpDef defs::ReverseSequence = {.name = "ReverseSequence"};
constinit const OpDef defs::Scan = {.name = "Scan"};
constinit const OpDef defs::Scatter = {.name = "Scatter"};
constinit const OpDef defs::ScatterElements = {.name = "ScatterElements"};
constinit const OpDef defs::ScatterND = {.name = "ScatterND"};
constinit const OpDef defs::SequenceAt = {.name = "SequenceAt"};
constinit const OpDef defs::SequenceConstruct = {.name = "SequenceConstruct"};
constinit const OpDef defs::SequenceEmpty = {.name = "SequenceEmpty"};
constinit const OpDef defs::SequenceErase = {.name = "SequenceErase"};
constinit const OpDef defs::SequenceInsert = {.name = "SequenceInsert"};
constinit const OpDef defs::SequenceLength = {.name = "SequenceLength"};
constinit const OpDef defs::SequenceMap = {.name = "SequenceMap"};
constinit const OpDef defs::Shape = {.name = "Shape"};
constinit const OpDef defs::Size = {.name = "Size"};
constinit const OpDef defs::Slice = {.name = "Slice"};
constinit const OpDef defs::SpaceToDepth = {.name = "SpaceToDepth"};
constinit const OpDef defs::Split = {.name = "Split"};
constinit const OpDef defs::SplitToSequence = {.name = "SplitToSequence"};
constinit const OpDef defs::TensorScatter = {.name = "TensorScatter"};
constinit const OpDef defs::Tile = {.name = "Tile"};
constinit const OpDef defs::Transpose = {.name = "Transpose"};
constinit const OpDef defs::Trilu = {.name = "Trilu"};
constinit const OpDef defs::Unique = {.name = "Unique"};
constinit const OpDef defs::Unsqueeze = {.name = "Unsqueeze"};
constinit const OpDef defs::Upsample = {.name = "Upsample"};

}  // namespace ingot::ops
