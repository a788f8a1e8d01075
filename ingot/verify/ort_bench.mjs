// Times ONNX Runtime for Ingot's comparisons; the last argument is the folder of npm's packages.
// The first line of the input is {model, threads, directory, inputs: [{name, type, dims, file | strings}]} and is
// answered by {version, base_bytes, load_ms, first_ms, outputs: [...]}; each later one {runs} by
// {ms: [...], peak_bytes}; failures by {error}. Numbers travel as little-endian files.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import {createRequire} from 'node:module';

const kArrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, int8: Int8Array, uint8: Uint8Array,
  int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array,
  uint64: BigUint64Array, bool: Uint8Array,
};
const packages = process.argv.at(-1);
const require = createRequire(path.join(packages, 'any.js'));
const ort = require('onnxruntime-node');
ort.env.logLevel = 'fatal';
// Not getrusage's: that begins with what the process had before it became this program.
const peakBytes = () => Number(/VmHWM:\s*(\d+) kB/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
const baseBytes = peakBytes();
let session, feeds, fetches;

function tensorOf({type, dims, file, strings}) {
  if (type === 'string') return new ort.Tensor('string', strings, dims);
  const bytes = fs.readFileSync(file);
  const own = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return new ort.Tensor(type, new kArrays[type](own), dims);
}

function describe(name, tensor, directory, index) {
  if (!tensor?.type) return {name};
  const described = {name, type: tensor.type, dims: [...tensor.dims].map(Number)};
  if (tensor.type === 'string') return {...described, strings: [...tensor.data]};
  const file = path.join(directory, `output_${index}`);
  fs.writeFileSync(file, new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength));
  return {...described, file};
}

async function load({model, threads, directory, inputs}) {
  feeds = Object.fromEntries(inputs.map((input) => [input.name, tensorOf(input)]));
  const start = performance.now();
  session = await ort.InferenceSession.create(model, {
    logSeverityLevel: 4, intraOpNumThreads: threads, interOpNumThreads: 1, graphOptimizationLevel: 'all',
  });
  const loaded = performance.now();
  const results = await session.run(feeds);
  const ran = performance.now();
  const outputs = session.outputNames.map((name, i) => describe(name, results[name], directory, i));
  // Results are written where those of the first run are, so that no run pays for new memory.
  fetches = session.outputNames;
  if (Object.values(results).every((t) => ArrayBuffer.isView(t?.data))) {
    try {
      await session.run(feeds, results);
      fetches = results;
    } catch {
      fetches = session.outputNames;
    }
  }
  const {version} = require('onnxruntime-node/package.json');
  return {version, base_bytes: baseBytes, load_ms: loaded - start, first_ms: ran - start, outputs};
}

async function time({runs}) {
  const ms = [];
  for (let i = 0; i < runs; ++i) {
    const start = performance.now();
    await session.run(feeds, fetches);
    ms.push(performance.now() - start);
  }
  return {ms, peak_bytes: peakBytes()};
}

for await (const line of readline.createInterface({input: process.stdin})) {
  let reply;
  try {
    const request = JSON.parse(line);
    reply = await (session ? time(request) : load(request));
  } catch (error) {
    reply = {error: String(error?.message ?? error)};
  }
  process.stdout.write(JSON.stringify(reply) + '\n');
}
