// Runs ONNX files in ONNX Runtime on raw inputs. Reads one job per line from stdin, as JSON:
//   {"model": path, "inputs": [{"type", "shape", "file"}] in order or {name: {...}}, "out": directory}
// and answers each with one line: {"outputs": [{"name", "type", "shape", "file"}]} or {"error": text}.
// usage: node run_onnx.mjs <directory that holds node_modules>
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';

const require = createRequire(path.resolve(process.argv[2], 'package.json'));
const ort = require('onnxruntime-node');
ort.env.logLevel = 'fatal';
const arrays = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  bool: Uint8Array, float16: Uint16Array,
};

async function run(job) {
  const session = await ort.InferenceSession.create(job.model, {
    logSeverityLevel: 4, intraOpNumThreads: 1, graphOptimizationLevel: job.plain ? 'disabled' : 'all' });
  const feeds = {};
  const named = Array.isArray(job.inputs)
    ? job.inputs.map((input, i) => [session.inputNames[i], input]).filter(([name]) => name)
    : Object.entries(job.inputs);
  named.forEach(([name, { type, shape, file }]) => {
    if (type === 'string') {
      feeds[name] = new ort.Tensor('string', JSON.parse(fs.readFileSync(file, 'utf8')), shape);
      return;
    }
    const bytes = fs.readFileSync(file);
    const data = new arrays[type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    feeds[name] = new ort.Tensor(type, data, shape);
  });
  const results = await session.run(feeds);
  const outputs = session.outputNames.map((name, i) => {
    const tensor = results[name];
    const file = path.join(job.out, `onnx_${i}`);
    if (tensor.type === 'string') fs.writeFileSync(file, JSON.stringify(tensor.data));
    else fs.writeFileSync(file, Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength));
    return { name, type: tensor.type, shape: [...tensor.dims], file };
  });
  await session.release();
  return { outputs };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = await run(JSON.parse(line));
  } catch (error) {
    answer = { error: String(error.message ?? error).split('\n')[0] };
  }
  console.log(JSON.stringify(answer));
}
