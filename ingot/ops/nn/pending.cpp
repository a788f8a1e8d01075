// Operators whose own files are still to come: known by their schemas only.
#include "ingot/ops/catalog.h"

namespace ingot::ops {

constinit const OpDef Adagrad = {.name = "Adagrad", .domain = "ai.onnx.preview.training"};
constinit const OpDef Adam = {.name = "Adam", .domain = "ai.onnx.preview.training"};
constinit const OpDef ArrayFeatureExtractor = {.name = "ArrayFeatureExtractor", .domain = "ai.onnx.ml"};
constinit const OpDef Attention = {.name = "Attention"};
constinit const OpDef AveragePool = {.name = "AveragePool"};
constinit const OpDef BatchNormalization = {.name = "BatchNormalization"};
constinit const OpDef Binarizer = {.name = "Binarizer", .domain = "ai.onnx.ml"};
constinit const OpDef CastMap = {.name = "CastMap", .domain = "ai.onnx.ml"};
constinit const OpDef CategoryMapper = {.name = "CategoryMapper", .domain = "ai.onnx.ml"};
constinit const OpDef CausalConvWithState = {.name = "CausalConvWithState"};
constinit const OpDef Col2Im = {.name = "Col2Im"};
constinit const OpDef Conv = {.name = "Conv"};
constinit const OpDef ConvInteger = {.name = "ConvInteger"};
constinit const OpDef ConvTranspose = {.name = "ConvTranspose"};
constinit const OpDef DFT = {.name = "DFT"};
constinit const OpDef DeformConv = {.name = "DeformConv"};
constinit const OpDef DequantizeLinear = {.name = "DequantizeLinear"};
constinit const OpDef DictVectorizer = {.name = "DictVectorizer", .domain = "ai.onnx.ml"};
constinit const OpDef DynamicQuantizeLinear = {.name = "DynamicQuantizeLinear"};
constinit const OpDef FeatureVectorizer = {.name = "FeatureVectorizer", .domain = "ai.onnx.ml"};
constinit const OpDef FlexAttention = {.name = "FlexAttention", .domain = "ai.onnx.preview"};
constinit const OpDef GRU = {.name = "GRU"};
constinit const OpDef GlobalAveragePool = {.name = "GlobalAveragePool"};
constinit const OpDef GlobalLpPool = {.name = "GlobalLpPool"};
constinit const OpDef GlobalMaxPool = {.name = "GlobalMaxPool"};
constinit const OpDef Gradient = {.name = "Gradient", .domain = "ai.onnx.preview.training"};
constinit const OpDef GroupNormalization = {.name = "GroupNormalization"};
constinit const OpDef ImageDecoder = {.name = "ImageDecoder"};
constinit const OpDef Imputer = {.name = "Imputer", .domain = "ai.onnx.ml"};
constinit const OpDef InstanceNormalization = {.name = "InstanceNormalization"};
constinit const OpDef LRN = {.name = "LRN"};
constinit const OpDef LSTM = {.name = "LSTM"};
constinit const OpDef LabelEncoder = {.name = "LabelEncoder", .domain = "ai.onnx.ml"};
constinit const OpDef LayerNormalization = {.name = "LayerNormalization"};
constinit const OpDef LinearAttention = {.name = "LinearAttention"};
constinit const OpDef LinearClassifier = {.name = "LinearClassifier", .domain = "ai.onnx.ml"};
constinit const OpDef LinearRegressor = {.name = "LinearRegressor", .domain = "ai.onnx.ml"};
constinit const OpDef LpNormalization = {.name = "LpNormalization"};
constinit const OpDef LpPool = {.name = "LpPool"};
constinit const OpDef MatMulInteger = {.name = "MatMulInteger"};
constinit const OpDef MaxPool = {.name = "MaxPool"};
constinit const OpDef MaxRoiPool = {.name = "MaxRoiPool"};
constinit const OpDef MaxUnpool = {.name = "MaxUnpool"};
constinit const OpDef MeanVarianceNormalization = {.name = "MeanVarianceNormalization"};
constinit const OpDef Momentum = {.name = "Momentum", .domain = "ai.onnx.preview.training"};
constinit const OpDef NegativeLogLikelihoodLoss = {.name = "NegativeLogLikelihoodLoss"};
constinit const OpDef NonMaxSuppression = {.name = "NonMaxSuppression"};
constinit const OpDef Normalizer = {.name = "Normalizer", .domain = "ai.onnx.ml"};
constinit const OpDef OneHotEncoder = {.name = "OneHotEncoder", .domain = "ai.onnx.ml"};
constinit const OpDef QLinearConv = {.name = "QLinearConv"};
constinit const OpDef QLinearMatMul = {.name = "QLinearMatMul"};
constinit const OpDef QuantizeLinear = {.name = "QuantizeLinear"};
constinit const OpDef RMSNormalization = {.name = "RMSNormalization"};
constinit const OpDef RNN = {.name = "RNN"};
constinit const OpDef RegexFullMatch = {.name = "RegexFullMatch"};
constinit const OpDef RoiAlign = {.name = "RoiAlign"};
constinit const OpDef RotaryEmbedding = {.name = "RotaryEmbedding"};
constinit const OpDef STFT = {.name = "STFT"};
constinit const OpDef SVMClassifier = {.name = "SVMClassifier", .domain = "ai.onnx.ml"};
constinit const OpDef SVMRegressor = {.name = "SVMRegressor", .domain = "ai.onnx.ml"};
constinit const OpDef Scaler = {.name = "Scaler", .domain = "ai.onnx.ml"};
constinit const OpDef SoftmaxCrossEntropyLoss = {.name = "SoftmaxCrossEntropyLoss"};
constinit const OpDef StringConcat = {.name = "StringConcat"};
constinit const OpDef StringNormalizer = {.name = "StringNormalizer"};
constinit const OpDef StringSplit = {.name = "StringSplit"};
constinit const OpDef TfIdfVectorizer = {.name = "TfIdfVectorizer"};
constinit const OpDef TreeEnsemble = {.name = "TreeEnsemble", .domain = "ai.onnx.ml"};
constinit const OpDef TreeEnsembleClassifier = {.name = "TreeEnsembleClassifier", .domain = "ai.onnx.ml"};
constinit const OpDef TreeEnsembleRegressor = {.name = "TreeEnsembleRegressor", .domain = "ai.onnx.ml"};
constinit const OpDef ZipMap = {.name = "ZipMap", .domain = "ai.onnx.ml"};

}  // namespace ingot::ops
