// Operators whose own files are still to come: known by their schemas only.
#include "ingot/ops/catalog.h"

namespace ingot::ops {

constinit const OpDef defs::Adagrad = {.name = "Adagrad", .domain = "ai.onnx.preview.training"};
constinit const OpDef defs::Adam = {.name = "Adam", .domain = "ai.onnx.preview.training"};
constinit const OpDef defs::ArrayFeatureExtractor = {.name = "ArrayFeatureExtractor", .domain = "ai.onnx.ml"};
constinit const OpDef defs::Attention = {.name = "Attention"};
constinit const OpDef defs::AveragePool = {.name = "AveragePool"};
constinit const OpDef defs::BatchNormalization = {.name = "BatchNormalization"};
constinit const OpDef defs::Binarizer = {.name = "Binarizer", .domain = "ai.onnx.ml"};
constinit const OpDef defs::CastMap = {.name = "CastMap", .domain = "ai.onnx.ml"};
constinit const OpDef defs::CategoryMapper = {.name = "CategoryMapper", .domain = "ai.onnx.ml"};
constinit const OpDef defs::CausalConvWithState = {.name = "CausalConvWithState"};
constinit const OpDef defs::Col2Im = {.name = "Col2Im"};
constinit const OpDef defs::Conv = {.name = "Conv"};
constinit const OpDef defs::ConvInteger = {.name = "ConvInteger"};
constinit const OpDef defs::ConvTranspose = {.name = "ConvTranspose"};
constinit const OpDef defs::DFT = {.name = "DFT"};
constinit const OpDef defs::DeformConv = {.name = "DeformConv"};
constinit const OpDef defs::DequantizeLinear = {.name = "DequantizeLinear"};
constinit const OpDef defs::DictVectorizer = {.name = "DictVectorizer", .domain = "ai.onnx.ml"};
constinit const OpDef defs::DynamicQuantizeLinear = {.name = "DynamicQuantizeLinear"};
constinit const OpDef defs::FeatureVectorizer = {.name = "FeatureVectorizer", .domain = "ai.onnx.ml"};
constinit const OpDef defs::FlexAttention = {.name = "FlexAttention", .domain = "ai.onnx.preview"};
constinit const OpDef defs::GRU = {.name = "GRU"};
constinit const OpDef defs::GlobalAveragePool = {.name = "GlobalAveragePool"};
constinit const OpDef defs::GlobalLpPool = {.name = "GlobalLpPool"};
constinit const OpDef defs::GlobalMaxPool = {.name = "GlobalMaxPool"};
constinit const OpDef defs::Gradient = {.name = "Gradient", .domain = "ai.onnx.preview.training"};
constinit const OpDef defs::GroupNormalization = {.name = "GroupNormalization"};
constinit const OpDef defs::ImageDecoder = {.name = "ImageDecoder"};
constinit const OpDef defs::Imputer = {.name = "Imputer", .domain = "ai.onnx.ml"};
constinit const OpDef defs::InstanceNormalization = {.name = "InstanceNormalization"};
constinit const OpDef defs::LRN = {.name = "LRN"};
constinit const OpDef defs::LSTM = {.name = "LSTM"};
constinit const OpDef defs::LabelEncoder = {.name = "LabelEncoder", .domain = "ai.onnx.ml"};
constinit const OpDef defs::LayerNormalization = {.name = "LayerNormalization"};
constinit const OpDef defs::LinearAttention = {.name = "LinearAttention"};
constinit const OpDef defs::LinearClassifier = {.name = "LinearClassifier", .domain = "ai.onnx.ml"};
constinit const OpDef defs::LinearRegressor = {.name = "LinearRegressor", .domain = "ai.onnx.ml"};
constinit const OpDef defs::LpNormalization = {.name = "LpNormalization"};
constinit const OpDef defs::LpPool = {.name = "LpPool"};
constinit const OpDef defs::MatMulInteger = {.name = "MatMulInteger"};
constinit const OpDef defs::MaxPool = {.name = "MaxPool"};
constinit const OpDef defs::MaxRoiPool = {.name = "MaxRoiPool"};
constinit const OpDef defs::MaxUnpool = {.name = "MaxUnpool"};
constinit const OpDef defs::MeanVarianceNormalization = {.name = "MeanVarianceNormalization"};
constinit const OpDef defs::Momentum = {.name = "Momentum", .domain = "ai.onnx.preview.training"};
constinit const OpDef defs::NegativeLogLikelihoodLoss = {.name = "NegativeLogLikelihoodLoss"};
constinit const OpDef defs::NonMaxSuppression = {.name = "NonMaxSuppression"};
constinit const OpDef defs::Normalizer = {.name = "Normalizer", .domain = "ai.onnx.ml"};
constinit const OpDef defs::OneHotEncoder = {.name = "OneHotEncoder", .domain = "ai.onnx.ml"};
constinit const OpDef defs::QLinearConv = {.name = "QLinearConv"};
constinit const OpDef defs::QLinearMatMul = {.name = "QLinearMatMul"};
constinit const OpDef defs::QuantizeLinear = {.name = "QuantizeLinear"};
constinit const OpDef defs::RMSNormalization = {.name = "RMSNormalization"};
constinit const OpDef defs::RNN = {.name = "RNN"};
constinit const OpDef defs::RegexFullMatch = {.name = "RegexFullMatch"};
constinit const OpDef defs::RoiAlign = {.name = "RoiAlign"};
constinit const OpDef defs::RotaryEmbedding = {.name = "RotaryEmbedding"};
constinit const OpDef defs::STFT = {.name = "STFT"};
constinit const OpDef defs::SVMClassifier = {.name = "SVMClassifier", .domain = "ai.onnx.ml"};
constinit const OpDef defs::SVMRegressor = {.name = "SVMRegressor", .domain = "ai.onnx.ml"};
constinit const OpDef defs::Scaler = {.name = "Scaler", .domain = "ai.onnx.ml"};
constinit const OpDef defs::SoftmaxCrossEntropyLoss = {.name = "SoftmaxCrossEntropyLoss"};
constinit const OpDef defs::StringConcat = {.name = "StringConcat"};
constinit const OpDef defs::StringNormalizer = {.name = "StringNormalizer"};
constinit const OpDef defs::StringSplit = {.name = "StringSplit"};
constinit const OpDef defs::TfIdfVectorizer = {.name = "TfIdfVectorizer"};
constinit const OpDef defs::TreeEnsemble = {.name = "TreeEnsemble", .domain = "ai.onnx.ml"};
constinit const OpDef defs::TreeEnsembleClassifier = {.name = "TreeEnsembleClassifier", .domain = "ai.onnx.ml"};
constinit const OpDef defs::TreeEnsembleRegressor = {.name = "TreeEnsembleRegressor", .domain = "ai.onnx.ml"};
constinit const OpDef defs::ZipMap = {.name = "ZipMap", .domain = "ai.onnx.ml"};

}  // namespace ingot::ops
