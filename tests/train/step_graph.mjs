// Runs a step graph in ONNX Runtime's inference package: outputs NAME.next become the inputs NAME of the next step.
// usage: node step_graph.mjs MODULES MODEL STATE.json BATCHES.json -> one loss per line
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [modules, model, stateFile, batchFile] = process.argv.slice(2);
const ort = createRequire(import.meta.url)(path.resolve(modules, 'onnxruntime-node'));
const arrays = { float32: Float32Array, float64: Float64Array, int64: BigInt64Array };
const tensor = ({ type, dims, data }) =>
  new ort.Tensor(type, type === 'int64' ? BigInt64Array.from(data.map(BigInt)) : arrays[type].from(data), dims);
const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 });
const state = {};
for (const [name, value] of Object.entries(JSON.parse(fs.readFileSync(stateFile)))) state[name] = tensor(value);
for (const batch of JSON.parse(fs.readFileSync(batchFile))) {
  const feeds = { ...state };
  for (const [name, value] of Object.entries(batch)) feeds[name] = tensor(value);
  const results = await session.run(feeds);
  console.log(Number(results.loss.data[0]));
  for (const name of Object.keys(state)) if (results[name + '.next']) state[name] = results[name + '.next'];
}
