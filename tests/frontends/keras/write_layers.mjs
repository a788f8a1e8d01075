// Writes a TF.js layers-model for each layer that TF.js has, with random weights: write_layers.mjs PEERS DIRECTORY.
// `ingot convert` then compares each with TF.js itself.
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

const [peers, directory] = process.argv.slice(2);
const require = createRequire(path.resolve(peers, 'package.json'));
const tf = require('@tensorflow/tfjs-core');
require('@tensorflow/tfjs-backend-cpu');
const L = require('@tensorflow/tfjs-layers');
await tf.setBackend('cpu');
const l = L.layers;
// Layers call operations as methods of tensors, which the package for Node.js leaves out.
for (const [name, op] of Object.entries(tf))
  if (typeof op === 'function' && /^[a-z]/.test(name) && !(name in tf.Tensor.prototype))
    tf.Tensor.prototype[name] = function(...rest) { return op(this, ...rest); };
tf.Tensor.prototype.flatten ??= function() { return tf.reshape(this, [this.size]); };

/** Weights that are neither zeros nor ones; variances stay positive. */
function fill(model) {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647 - 0.5;
  const values = model.weights.map((w) => {
    const positive = /variance/.test(w.name);
    const size = w.shape.reduce((a, b) => a * b, 1);
    const data = Float32Array.from({length: size}, () => (positive ? 0.7 + random() : random()));
    return tf.tensor(data, w.shape);
  });
  model.setWeights(values);
}

async function save(name, model) {
  fill(model);
  const folder = path.join(directory, name);
  fs.mkdirSync(folder, {recursive: true});
  await model.save({
    save: async ({modelTopology, weightSpecs, weightData}) => {
      fs.writeFileSync(path.join(folder, 'weights.bin'), Buffer.from(weightData));
      const manifest = [{paths: ['weights.bin'], weights: weightSpecs}];
      fs.writeFileSync(path.join(folder, 'model.json'),
                       JSON.stringify({format: 'layers-model', modelTopology, weightsManifest: manifest}));
      return {modelArtifactsInfo: {dateSaved: new Date(0), modelTopologyType: 'JSON'}};
    },
  });
}

/** One layer behind an input of this shape. */
async function one(name, shape, layer) {
  const input = L.input({shape});
  await save(name, L.model({inputs: input, outputs: layer.apply(input)}));
}
/** One layer of several inputs. */
async function many(name, shapes, layer) {
  const inputs = shapes.map((shape) => L.input({shape}));
  await save(name, L.model({inputs, outputs: layer.apply(inputs)}));
}

const activations = ['elu', 'hardSigmoid', 'linear', 'relu', 'relu6', 'selu', 'sigmoid', 'softmax', 'softplus', 'softsign',
                     'tanh', 'swish', 'mish', 'gelu'];
for (const activation of activations) await one(`activation_${activation}`, [5], l.activation({activation}));

await one('dense', [4], l.dense({units: 3, activation: 'tanh'}));
await one('dense_no_bias', [4], l.dense({units: 3, useBias: false}));
await one('dense_sequence', [5, 4], l.dense({units: 3}));
await one('flatten', [2, 3], l.flatten());
await one('flatten_first', [2, 3, 4], l.flatten({dataFormat: 'channelsFirst'}));
await one('permute', [2, 3, 4], l.permute({dims: [3, 1, 2]}));
await one('repeat_vector', [3], l.repeatVector({n: 4}));
await one('reshape', [2, 6], l.reshape({targetShape: [3, 4]}));
await one('reshape_open', [2, 6], l.reshape({targetShape: [-1, 4]}));
await one('dropout', [3], l.dropout({rate: 0.5}));
await one('spatial_dropout', [3, 2], l.spatialDropout1d({rate: 0.5}));
await one('gaussian_noise', [3], l.gaussianNoise({stddev: 1}));
await one('gaussian_dropout', [3], l.gaussianDropout({rate: 0.5}));
await one('alpha_dropout', [3], l.alphaDropout({rate: 0.5}));
await one('leaky_relu', [5], l.leakyReLU({alpha: 0.1}));
await one('prelu', [5, 3], l.prelu());
await one('prelu_shared', [5, 3], l.prelu({sharedAxes: [1]}));
await one('elu', [5], l.elu());
await one('relu', [5], l.reLU({maxValue: 0.4}));
await one('thresholded_relu', [5], l.thresholdedReLU({theta: 0.2}));
await one('softmax', [2, 5], l.softmax({axis: -1}));

for (const padding of ['valid', 'same']) {
  for (const strides of [1, 2]) {
    const tail = `${padding}_${strides}`;
    await one(`conv1d_${tail}`, [9, 3], l.conv1d({filters: 4, kernelSize: 3, padding, strides, activation: 'relu'}));
    await one(`conv2d_${tail}`, [8, 7, 3], l.conv2d({filters: 4, kernelSize: [3, 2], padding, strides}));
    await one(`conv3d_${tail}`, [5, 6, 4, 2], l.conv3d({filters: 3, kernelSize: 2, padding, strides}));
    await one(`conv2d_transpose_${tail}`, [5, 4, 3], l.conv2dTranspose({filters: 4, kernelSize: 3, padding, strides}));
    await one(`conv2d_transpose_small_${tail}`, [5, 4, 3],
              l.conv2dTranspose({filters: 4, kernelSize: [1, 2], padding, strides}));
    await one(`conv3d_transpose_${tail}`, [3, 4, 3, 2], l.conv3dTranspose({filters: 2, kernelSize: 3, padding, strides}));
    await one(`depthwise_conv2d_${tail}`, [8, 7, 3],
              l.depthwiseConv2d({kernelSize: 3, depthMultiplier: 2, padding, strides}));
    await one(`separable_conv2d_${tail}`, [8, 7, 3],
              l.separableConv2d({filters: 4, kernelSize: 3, depthMultiplier: 2, padding, strides}));
    await one(`max_pooling1d_${tail}`, [9, 3], l.maxPooling1d({poolSize: 2, padding, strides}));
    await one(`max_pooling2d_${tail}`, [9, 7, 3], l.maxPooling2d({poolSize: [3, 2], padding, strides: [strides, 2]}));
    await one(`max_pooling3d_${tail}`, [5, 6, 4, 2],
              l.maxPooling3d({poolSize: [2, 2, 2], padding, strides: [strides, 1, 2]}));
    await one(`average_pooling1d_${tail}`, [9, 3], l.averagePooling1d({poolSize: 3, padding, strides}));
    await one(`average_pooling2d_${tail}`, [9, 7, 3], l.averagePooling2d({poolSize: 3, padding, strides: [strides, 1]}));
    await one(`average_pooling3d_${tail}`, [5, 6, 4, 2],
              l.averagePooling3d({poolSize: [2, 3, 2], padding, strides: [strides, 1, 2]}));
  }
}
await one('conv1d_causal', [9, 3], l.conv1d({filters: 4, kernelSize: 3, padding: 'causal', dilationRate: 2}));
await one('conv2d_dilated', [9, 9, 3], l.conv2d({filters: 4, kernelSize: 3, dilationRate: 2}));
await one('conv2d_first', [3, 8, 7], l.conv2d({filters: 4, kernelSize: 3, dataFormat: 'channelsFirst'}));
await one('max_pooling2d_first', [3, 8, 6], l.maxPooling2d({poolSize: 2, dataFormat: 'channelsFirst'}));
await one('global_max_pooling1d', [5, 3], l.globalMaxPooling1d());
await one('global_average_pooling1d', [5, 3], l.globalAveragePooling1d());
await one('global_max_pooling2d', [5, 4, 3], l.globalMaxPooling2d({}));
await one('global_average_pooling2d', [5, 4, 3], l.globalAveragePooling2d({}));
await one('global_average_pooling2d_first', [5, 4, 3], l.globalAveragePooling2d({dataFormat: 'channelsFirst'}));
await one('up_sampling2d', [3, 4, 2], l.upSampling2d({size: [2, 3]}));
await one('cropping2d', [6, 7, 2], l.cropping2D({cropping: [[1, 2], [0, 3]]}));
await one('zero_padding2d', [3, 4, 2], l.zeroPadding2d({padding: [[1, 2], [0, 3]]}));

await one('batch_normalization', [4, 5, 3], l.batchNormalization());
await one('batch_normalization_axis', [4, 5, 3], l.batchNormalization({axis: 1, epsilon: 0.1}));
await one('batch_normalization_plain', [3], l.batchNormalization({center: false, scale: false}));
await one('layer_normalization', [5, 4], l.layerNormalization());
await one('layer_normalization_axes', [5, 4, 3], l.layerNormalization({axis: [1, 2], scale: false}));

const pair = [[4, 3], [4, 3]];
await many('add', pair, l.add());
await many('multiply', pair, l.multiply());
await many('average', pair, l.average());
await many('maximum', pair, l.maximum());
await many('minimum', pair, l.minimum());
await many('concatenate', pair, l.concatenate({axis: 1}));
await many('dot', [[4, 3], [5, 3]], l.dot({axes: 2}));
await many('dot_cosine', [[4], [4]], l.dot({axes: 1, normalize: true}));

for (const [name, make] of [['simple_rnn', l.simpleRNN], ['gru', l.gru], ['lstm', l.lstm]]) {
  await one(name, [6, 4], make({units: 3}));
  await one(`${name}_sequences`, [6, 4], make({units: 3, returnSequences: true}));
  await one(`${name}_backwards`, [6, 4], make({units: 3, returnSequences: true, goBackwards: true}));
  await one(`${name}_relu`, [6, 4], make({units: 3, activation: 'relu', useBias: false}));
  await one(`${name}_selu`, [6, 4], make({units: 3, activation: 'selu', returnSequences: true}));
  for (const mergeMode of ['concat', 'sum', 'ave', 'mul'])
    await one(`bidirectional_${name}_${mergeMode}`, [6, 4],
              l.bidirectional({layer: make({units: 3, returnSequences: mergeMode !== 'mul'}), mergeMode}));
  const input = L.input({shape: [6, 4]});
  const masked = make({units: 3, returnSequences: true}).apply(l.masking({maskValue: 0}).apply(input));
  await save(`${name}_masked`, L.model({inputs: input, outputs: masked}));
  await save(`${name}_state`, L.model({inputs: input, outputs: make({units: 3, returnState: true}).apply(input)}));
}
await one('rnn_stacked', [6, 4], l.rnn({cell: l.stackedRNNCells({cells: [l.lstmCell({units: 3}), l.gruCell({units: 2})]})}));
await one('conv_lstm2d', [3, 5, 6, 2], l.convLstm2d({filters: 3, kernelSize: 3, padding: 'same', returnSequences: true}));
await one('conv_lstm2d_last', [3, 5, 6, 2], l.convLstm2d({filters: 3, kernelSize: 2, strides: 2}));
await one('time_distributed', [3, 4], l.timeDistributed({layer: l.dense({units: 2})}));
await one('time_distributed_conv', [3, 6, 5, 2], l.timeDistributed({layer: l.conv2d({filters: 2, kernelSize: 2})}));

const ids = L.input({shape: [5]});
await save('embedding', L.model({inputs: ids, outputs: l.embedding({inputDim: 4, outputDim: 3}).apply(ids)}));
const steps = l.embedding({inputDim: 4, outputDim: 3, maskZero: true}).apply(ids);
await save('embedding_masked_lstm', L.model({inputs: ids, outputs: l.lstm({units: 2}).apply(steps)}));
await one('rescaling', [4], l.rescaling({scale: 2, offset: -1}));
await one('resizing', [6, 5, 2], l.resizing({height: 9, width: 4}));
await one('center_crop', [6, 5, 2], l.centerCrop({height: 3, width: 2}));

// Models in models, layers that are shared, several outputs.
const inner = L.sequential({layers: [l.dense({units: 3, inputShape: [4], activation: 'relu'}), l.batchNormalization()]});
const a = L.input({shape: [4]}), b = L.input({shape: [4]});
const shared = l.dense({units: 3});
const sum = l.add().apply([inner.apply(a), inner.apply(b), shared.apply(a), shared.apply(b)]);
await save('nested_shared', L.model({inputs: [a, b], outputs: [sum, l.dense({units: 2}).apply(sum)]}));
await save('sequential', L.sequential({layers: [l.dense({units: 3, inputShape: [4]}), l.dropout({rate: 0.2}),
                                                l.dense({units: 2, activation: 'softmax'})]}));
