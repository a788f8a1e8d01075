// Trains a SavedModel by its signature 'train' in TF.js: one step for each batch of a job.
// usage: node tensorflow_training.mjs <directory that holds node_modules> <job as JSON>
//   {"model": path, "signature": name, "steps": n, "batch": n,
//    "inputs": [{"name", "type": "float32" or "int32", "shape": of an example, "file": elements of all examples}]}
// Batches follow each other and begin again at the end. Prints the losses as JSON, or {"error": text}.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { graphModel, readModel, signatureStep } from '../frontends/tensorflow/tensorflow_files.mjs';

const require = createRequire(path.resolve(process.argv[2], 'package.json'));
console.warn = () => {};
const tf = require('@tensorflow/tfjs-core');
require('@tensorflow/tfjs-backend-cpu');
const converter = require('@tensorflow/tfjs-converter');

// Gradients add at indices, for which TensorFlow has an operator that TF.js lacks.
converter.registerOp('TensorScatterAdd', ({ inputs: [x, indices, updates] }) =>
  tf.add(x, tf.scatterND(tf.cast(indices, 'int32'), updates, x.shape)));

const arrays = { float32: Float32Array, int32: Int32Array };
const narrowed = (type) => (type.startsWith('float') ? 'float32' : type === 'bool' || type === 'string' ? type : 'int32');
const product = (shape) => shape.reduce((a, b) => a * b, 1);

function weights(constants) {
  const specs = [], parts = [];
  for (const [name, { type, shape, values }] of constants) {
    const dtype = narrowed(type);
    specs.push({ name, shape, dtype });
    parts.push(Buffer.from(dtype === 'bool' ? Uint8Array.from(values) : arrays[dtype].from(values).buffer));
  }
  const data = Buffer.concat(parts.map((p) => Buffer.from(p)));
  return { specs, data: data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) };
}

async function run(job) {
  await tf.setBackend('cpu');
  const { model, outputs, variables } = signatureStep(readModel(job.model), job.signature);
  const inputs = model.signatures.get(job.signature).inputs;
  const read = variables.filter(({ node }) => node);
  const graph = graphModel(model, outputs, [...[...inputs.values()].map(({ name }) => name), ...read.map(({ node }) => node)]);
  const { specs, data } = weights(graph.constants);
  const artifacts = { modelTopology: graph.topology, format: 'graph-model', weightSpecs: specs, weightData: data };
  const step = await converter.loadGraphModel({ load: async () => artifacts });
  const known = new Set(graph.topology.node.map(({ name }) => name));
  let state = new Map(variables.map((v) => {
    const { type, shape, values } = model.variable(v.key);
    return [v, tf.tensor(values, shape, narrowed(type))];
  }));
  const examples = job.inputs.map((input) => {
    const bytes = fs.readFileSync(input.file);
    return { ...input, values: new arrays[input.type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)) };
  });
  const losses = [];
  for (let i = 0; i < job.steps; ++i) {
    const feeds = {};
    for (const { name, type, shape, values } of examples) {
      const size = product(shape), batches = Math.floor(values.length / size / job.batch), at = (i % batches) * job.batch;
      const feed = inputs.get(name).name;
      if (known.has(feed.split(':')[0]))
        feeds[feed] = tf.tensor(values.slice(at * size, (at + job.batch) * size), [job.batch, ...shape], type);
    }
    for (const [v, value] of state) if (known.has(v.node)) feeds[v.node] = value;
    const results = await step.executeAsync(feeds, graph.results);
    losses.push((await results[0].data())[0]);
    state = new Map([...state].map(([v, value]) => [v, v.place < 0 ? value : results[v.place]]));
  }
  return { losses };
}

try {
  console.log(JSON.stringify(await run(JSON.parse(process.argv[3]))));
} catch (error) {
  console.log(JSON.stringify({ error: String(error.stack ?? error) }));
}
