// Runs models in ONNX Runtime for Ingot's comparisons. Usage: node ort_runner.mjs DIRECTORY_WITH_NODE_MODULES
// Each line of the input is a request {model, directory, inputs: [{name, type, dims, file | strings}]}, each line of the
// output its answer {outputs: [...]} or {error}. Numbers travel as little-endian files.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import {createRequire} from 'node:module';

const require = createRequire(path.join(process.argv[2], 'package.json'));
const ort = require('onnxruntime-node');
ort.env.logLevel = 'fatal';

const kArrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, int8: Int8Array, uint8: Uint8Array,
  int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array,
  uint64: BigUint64Array, bool: Uint8Array,
};

function tensorOf({type, dims, file, strings}) {
  if (type === 'string') return new ort.Tensor('string', strings, dims);
  const bytes = fs.readFileSync(file);
  const own = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return new ort.Tensor(type, new kArrays[type](own), dims);
}

function describe(name, tensor, directory, index) {
  const described = {name, type: tensor.type, dims: [...tensor.dims].map(Number)};
  if (tensor.type === 'string') return {...described, strings: [...tensor.data]};
  const data = tensor.data;
  if (!ArrayBuffer.isView(data)) throw new Error(`output '${name}' has no data that can be passed`);
  const file = path.join(directory, `output_${index}`);
  fs.writeFileSync(file, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return {...described, file};
}

async function answer({model, directory, inputs}) {
  // The model as it is written: fusions change what it means where inputs are unusual.
  const options = {logSeverityLevel: 4, intraOpNumThreads: 1, graphOptimizationLevel: 'disabled'};
  const session = await ort.InferenceSession.create(model, options);
  try {
    const feeds = Object.fromEntries(inputs.map((input) => [input.name, tensorOf(input)]));
    const results = await session.run(feeds);
    return {outputs: session.outputNames.map((name, i) => {
      if (!results[name]?.type) throw new Error(`output '${name}' is no tensor`);
      return describe(name, results[name], directory, i);
    })};
  } finally {
    await session.release();
  }
}

for await (const line of readline.createInterface({input: process.stdin})) {
  let reply;
  try {
    reply = await answer(JSON.parse(line));
  } catch (error) {
    reply = {error: String(error?.message ?? error)};
  }
  process.stdout.write(JSON.stringify(reply) + '\n');
}
