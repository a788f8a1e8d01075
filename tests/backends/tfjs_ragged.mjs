// Runs a TF.js graph-model whose sequences are the parts of ragged tensors.
// usage: node tfjs_ragged.mjs <directory that holds node_modules> <directory of the model> <inputs as JSON>
//   {"name": {"type": "float32" or "int32", "shape": [...], "values": [...]}}
// Prints {"output": [values]}, or {"error": text}.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const require = createRequire(path.resolve(process.argv[2], 'package.json'));
console.warn = () => {};
const tf = require('@tensorflow/tfjs-core');
require('@tensorflow/tfjs-backend-cpu');
const converter = require('@tensorflow/tfjs-converter');

async function main(directory, inputs) {
  await tf.setBackend('cpu');
  const json = JSON.parse(fs.readFileSync(path.join(directory, 'model.json'), 'utf8'));
  const groups = json.weightsManifest ?? [];
  const data = Buffer.concat(groups.flatMap((g) => g.paths.map((p) => fs.readFileSync(path.join(directory, p)))));
  const model = await converter.loadGraphModel({ load: async () => ({
    modelTopology: json.modelTopology, signature: json.signature, userDefinedMetadata: json.userDefinedMetadata,
    weightSpecs: groups.flatMap((g) => g.weights), weightData: new Uint8Array(data).buffer,
  }) });
  const feeds = {};
  const { inputs: ports, outputs } = json.signature;
  for (const [name, { type, shape, values }] of Object.entries(inputs)) feeds[ports[name].name] = tf.tensor(values, shape, type);
  const names = Object.keys(outputs);
  const made = await model.executeAsync(feeds, names.map((name) => outputs[name].name));
  const list = Array.isArray(made) ? made : [made];
  return Object.fromEntries(names.map((name, i) => [name, Array.from(list[i].dataSync())]));
}

main(process.argv[3], JSON.parse(process.argv[4])).then(
  (made) => console.log(JSON.stringify(made)), (error) => console.log(JSON.stringify({ error: String(error.message ?? error) })));
