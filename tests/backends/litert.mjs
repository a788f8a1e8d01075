// Runs TFLite files in LiteRT (npm @litertjs/core, its WebAssembly module alone) for the tests.
// Usage: node litert.mjs DIRECTORY_WITH_NODE_MODULES
// Each line of the input is a request {model, directory, inputs: [{type, dims, file}]}, in the order of the signature;
// each line of the output its answer {outputs: [{name, type, dims, file}]} or {error}. An input of other sizes than the
// file's is resized.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import {createRequire} from 'node:module';

const kTypes = {1: 'float32', 2: 'int32', 3: 'uint8', 4: 'int64', 6: 'bool', 7: 'int16', 9: 'int8', 10: 'float16',
                11: 'float64', 13: 'uint64', 16: 'uint32', 17: 'uint16'};
const kSizes = {float32: 4, int32: 4, uint8: 1, int64: 8, bool: 1, int16: 2, int8: 1, float16: 2, float64: 8,
                uint64: 8, uint32: 4, uint16: 2};

const directory = path.resolve(process.argv[2], 'node_modules/@litertjs/core/wasm');
const script = path.join(directory, 'litert_wasm_compat_internal.js');
globalThis.self = globalThis;
const factory = new Function('require', '__filename', '__dirname',
                             fs.readFileSync(script, 'utf8') + '\n;return ModuleFactory;')(
    createRequire(import.meta.url), script, directory);
// A failure to prepare or to run is logged, not thrown, and the outputs are then whatever was in memory.
let errors = [];
const wasm = await factory({
  locateFile: (file) => path.join(directory, file),
  print: () => {},
  printErr: (text) => { if (/\bERROR\b/.test(text)) errors.push(text); },
});
wasm.setupLogging?.();
const environment = wasm.LiteRtEnvironment.create(null);

function listOf(vector) {
  const list = [];
  for (let i = 0; i < vector.size(); ++i) list.push(vector.get(i));
  vector.delete();
  return list;
}

function typeOf(ranked) {
  const layout = ranked.layout();
  const dims = listOf(layout.dimensions());
  layout.delete();
  return {element: ranked.elementType().value, dims};
}

function inputBuffer(expected, {type, dims, file}) {
  const {element, dims: stated} = typeOf(expected);
  if (kTypes[element] !== type) throw new Error(`an input is ${kTypes[element] ?? element}, not ${type}`);
  let ranked = expected;
  if (dims.length !== stated.length || dims.some((d, i) => d !== stated[i])) {
    const vector = new wasm.VectorInt32();
    dims.forEach((d) => vector.push_back(d));
    const layout = wasm.LiteRtLayout.create(vector);
    ranked = wasm.LiteRtRankedTensorType.create({value: element}, layout);
    vector.delete();
    layout.delete();
  }
  const bytes = fs.readFileSync(file);
  const buffer = wasm.LiteRtTensorBuffer.createManaged(environment, wasm.LiteRtTensorBufferType.HOST_MEMORY, ranked,
                                                       bytes.length);
  const at = buffer.lock(wasm.LiteRtTensorBufferLockMode.WRITE);
  wasm.HEAPU8.set(bytes, at);
  buffer.unlock();
  return buffer;
}

// After an input was resized, the buffer of an output does not tell its type, and holds as many bytes as the file's
// sizes need; the rest of the result is lost.
function describe(buffer, stated, name, file) {
  let type;
  try {
    type = typeOf(buffer.tensorType());
  } catch {
    type = null;
  }
  const at = buffer.lock(wasm.LiteRtTensorBufferLockMode.READ);
  const bytes = wasm.HEAPU8.slice(at, at + buffer.packedSize());
  buffer.unlock();
  fs.writeFileSync(file, bytes);
  const {element, dims} = type ?? typeOf(stated);
  if (!kTypes[element]) throw new Error(`output '${name}' has element type ${element}`);
  return {name, type: kTypes[element], dims: type ? dims : [bytes.length / kSizes[kTypes[element]]], file};
}

async function answer(request) {
  errors = [];
  const bytes = fs.readFileSync(request.model);
  const at = wasm._malloc(bytes.length);
  wasm.HEAPU8.set(bytes, at);
  const model = wasm.loadModel(environment, at, bytes.length);
  const options = {environment: {liteRtEnvironment: environment}, accelerator: 'wasm', cpuOptions: {numThreads: 1},
                   gpuOptions: {}, webNNOptions: {}};
  const compiled = await wasm.compileModel(environment, model, options);
  const signature = model.getSignature(0);
  const count = signature.inputNames().size(), names = listOf(signature.outputNames());
  if (count !== request.inputs.length) throw new Error(`${count} inputs instead of ${request.inputs.length}`);
  const inputs = request.inputs.map((input, i) => inputBuffer(model.getInputTensorType(0, i), input));
  const outputs = await compiled.run(0, inputs);
  if (errors.length) throw new Error(errors.join(' / '));
  const described =
      outputs.map((o, i) => describe(o, model.getOutputTensorType(0, i), names[i],
                                     path.join(request.directory, `output_${i}`)));
  for (const one of [...inputs, ...outputs, compiled, model]) one.delete();
  wasm._free(at);
  return {outputs: described};
}

for await (const line of readline.createInterface({input: process.stdin})) {
  let reply;
  try {
    reply = await answer(JSON.parse(line));
  } catch (error) {
    reply = {error: [String(error?.message ?? error), ...errors].join(' / ')};
  }
  process.stdout.write(JSON.stringify(reply) + '\n');
}
