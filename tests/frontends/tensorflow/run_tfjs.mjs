// Runs a TensorFlow graph, SavedModel, meta graph or TF.js graph-model in TF.js on random inputs.
// usage: node run_tfjs.mjs <directory that holds node_modules> <job as JSON>
//   {"model": path, "list": true}: answers with {"signatures": [name]}, or
//   {"model": path, "signature": name or "", "inputs": [{"name", "type", "shape", "value": of all elements
//   or null}], "outputs": [name], "out": directory}
// Inputs and outputs go by the converted model's names. Prints one line: {"inputs": {name: {"type", "shape", "file"}},
// "outputs": [{"name", "type", "shape", "file"}]} or {"error": text}.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { exampleFeatures, graphModel, readModel } from './tensorflow_files.mjs';

const require = createRequire(path.resolve(process.argv[2], 'package.json'));
console.warn = () => {};
const tf = require('@tensorflow/tfjs-core');
require('@tensorflow/tfjs-backend-cpu');
const wasm = require('@tensorflow/tfjs-backend-wasm');
const converter = require('@tensorflow/tfjs-converter');

const arrays = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  bool: Uint8Array,
};
const kept = new Set(['float32', 'int32', 'bool', 'string']);
const narrowed = (type) => (kept.has(type) ? type : type.startsWith('float') ? 'float32' : 'int32');

/// The same numbers in every run: a linear congruence.
let state = 7;
const random = () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 4294967296; };
function draw({ type, shape, value }) {
  const count = shape.reduce((a, b) => a * b, 1);
  if (value !== undefined && value !== null) return Array(count).fill(value);
  if (type === 'string') return Array.from({ length: count }, (_, i) => `text ${i}`);
  const one = type.startsWith('float') ? () => Math.fround(random() * 2 - 1) : type === 'bool' ? () => Number(random() < 0.5) :
    type === 'uint8' ? () => Math.floor(random() * 256) : () => Math.floor(random() * 10);
  return Array.from({ length: count }, one);
}
function write(file, type, values) {
  if (type === 'string') return fs.writeFileSync(file, JSON.stringify(values));
  const data = type.endsWith('int64') ? arrays[type].from(values, (v) => BigInt(v)) : arrays[type].from(values);
  fs.writeFileSync(file, Buffer.from(data.buffer));
}

/// Constants as TF.js loads weights: one buffer and what is where.
function weights(constants) {
  const specs = [], parts = [];
  for (const [name, { type, shape, values }] of constants) {
    const dtype = narrowed(type);
    specs.push({ name, shape, dtype });
    if (dtype === 'string') {
      for (const value of values) {
        const bytes = Buffer.from(value, 'latin1'), length = Buffer.alloc(4);
        length.writeUInt32LE(bytes.length);
        parts.push(length, bytes);
      }
    } else {
      parts.push(Buffer.from(arrays[dtype].from(values).buffer));
    }
  }
  const data = Buffer.concat(parts);
  return { specs, data: data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) };
}

async function load(job) {
  if (job.model.endsWith('.json')) {
    const json = JSON.parse(fs.readFileSync(job.model));
    const specs = [], parts = [];
    for (const group of json.weightsManifest ?? []) {
      specs.push(...group.weights);
      for (const file of group.paths) parts.push(fs.readFileSync(path.join(path.dirname(job.model), file)));
    }
    const data = Buffer.concat(parts);
    const signature = json.signature ?? json.userDefinedMetadata?.signature ?? {};
    const tensorOf = (kind) => (name) => signature[kind]?.[name]?.name ?? name;
    return { artifacts: { ...json, weightSpecs: specs,
      weightData: data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) },
    inputOf: tensorOf('inputs'), outputs: job.outputs.map(tensorOf('outputs')) };
  }
  const model = readModel(job.model);
  const signature = model.signatures.get(job.signature || 'serving_default') ??
    (model.signatures.size === 1 ? [...model.signatures.values()][0] : null);
  const inputOf = (name) => signature?.inputs.get(name)?.name ?? name;
  // An output that has an input's name gets another in ONNX.
  const outputOf = (name) => signature?.outputs.get(name) ?? signature?.outputs.get(name.replace(/_1$/, ''));
  const outputs = job.outputs.map((name) => outputOf(name)?.name ?? name);
  // Inputs that the signature does not have are features of its examples.
  const parsed = exampleFeatures(model);
  const isFeature = (name) => signature && !signature.inputs.has(name) && parsed.has(name);
  const cuts = job.inputs.map(({ name }) => name).filter((name) => !isFeature(name));
  const graph = graphModel(model, outputs, cuts.map(inputOf));
  const { specs, data } = weights(graph.constants);
  return { artifacts: { modelTopology: graph.topology, format: 'graph-model', weightSpecs: specs, weightData: data },
    inputOf: (name) => (isFeature(name) ? graph.features.get(name) ?? name : inputOf(name)), outputs: graph.results };
}

async function run(job) {
  if (job.list) return { signatures: [...readModel(job.model).signatures.keys()].filter((k) => !k.startsWith('__')) };
  if (job.backend === 'wasm')
    wasm.setWasmPaths(path.resolve(process.argv[2], 'node_modules/@tensorflow/tfjs-backend-wasm/dist') + '/');
  await tf.setBackend(job.backend ?? 'cpu');
  await tf.ready();
  if (job.keep) tf.env().set('KEEP_INTERMEDIATE_TENSORS', true);
  const { artifacts, inputOf, outputs } = await load(job);
  const model = await converter.loadGraphModel({ load: async () => artifacts });
  const known = new Set(artifacts.modelTopology.node.map((node) => node.name));  // others are not needed
  const feeds = {}, inputs = {};
  job.inputs.forEach((input, i) => {
    const values = draw(input);
    const file = path.join(job.out, `input_${i}`);
    write(file, input.type, values);
    inputs[input.name] = { type: input.type, shape: input.shape, file };
    const name = inputOf(input.name);
    if (known.has(name.split(':')[0])) feeds[name] = tf.tensor(values, input.shape, narrowed(input.type));
  });
  const results = await model.executeAsync(feeds, outputs);
  const answer = [];
  for (const [i, result] of (Array.isArray(results) ? results : [results]).entries()) {
    const file = path.join(job.out, `tfjs_${i}`);
    write(file, result.dtype, await result.data());
    answer.push({ name: job.outputs[i], type: result.dtype, shape: result.shape, file });
  }
  return { inputs, outputs: answer };
}

try {
  console.log(JSON.stringify(await run(JSON.parse(process.argv[3]))));
} catch (error) {
  if (process.env.INGOT_TRACE) console.error(error.stack);
  console.log(JSON.stringify({ error: String(error.message ?? error).split('\n')[0] }));
}
