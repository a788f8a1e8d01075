// TensorFlow.js: graph-models by the names of their tensors, layers-models in order. It has no 64-bit and no small
// integers, which travel as int32, and no halves, which travel as float32.
const tf = require('@tensorflow/tfjs-core');
require('@tensorflow/tfjs-backend-cpu');
const {loadGraphModel} = require('@tensorflow/tfjs-converter');
const kHeld = {float32: 'float32', float64: 'float32', float16: 'float32', bool: 'bool', string: 'string'};

async function start(backend) {
  if (backend === 'wasm') {
    const wasm = require('@tensorflow/tfjs-backend-wasm');
    wasm.setWasmPaths(path.join(packages, '@tensorflow/tfjs-backend-wasm/dist/'));
  }
  if (!await tf.setBackend(backend)) throw new Error(`the backend ${backend} does not start`);
  await tf.ready();
}

function artifacts(file) {
  const json = JSON.parse(fs.readFileSync(file, 'utf8'));
  const groups = json.weightsManifest ?? [];
  const shards = groups.flatMap((g) => g.paths.map((p) => fs.readFileSync(path.join(path.dirname(file), p))));
  const bytes = Buffer.concat(shards);
  const weightData = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return {...json, weightSpecs: groups.flatMap((g) => g.weights), weightData};
}

/** Layers call operations as methods of tensors, which the package for Node.js leaves out. */
function addMethods() {
  const methods = tf.Tensor.prototype;
  for (const [name, op] of Object.entries(tf))
    if (typeof op === 'function' && /^[a-z]/.test(name) && !(name in methods))
      methods[name] = function(...rest) { return op(this, ...rest); };
  methods.flatten ??= function() { return tf.reshape(this, [this.size]); };
}

const isLayersModel = (json) =>
  json.format === 'layers-model' || Boolean(json.modelTopology?.model_config ?? json.modelTopology?.class_name);

/** The number that a half's 16 bits are. */
function numberOfHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}

function tensorOf(t) {
  const dtype = kHeld[t.type] ?? 'int32';
  const data = t.type === 'float16' ? Float32Array.from(elementsOf(t), numberOfHalf) : elementsOf(t);
  return tf.tensor(t.type === 'string' || dtype === t.type ? data : Array.from(data, Number), t.dims, dtype);
}

const baseBytes = peakBytes();
let again;  // runs the model that was loaded last once more

async function runIn(backend, {model, directory, inputs, outputs}) {
  await start(backend);
  const begin = performance.now();
  const json = artifacts(model);
  const handler = {load: async () => json};
  const tensors = inputs.map(tensorOf);
  let results, loadedAt, names = outputs;
  if (isLayersModel(json)) {
    addMethods();
    const loaded = await require('@tensorflow/tfjs-layers').loadLayersModel(handler);
    loadedAt = performance.now();
    again = () => loaded.predict(tensors.length === 1 ? tensors[0] : tensors);
    results = again();
    names = loaded.outputNames;
  } else {
    const loaded = await loadGraphModel(handler);
    loadedAt = performance.now();
    const feeds = Object.fromEntries(inputs.map((t, i) => [t.name, tensors[i]]));
    again = () => loaded.executeAsync(feeds, outputs);
    results = await again();
  }
  const firstAt = performance.now();
  const list = Array.isArray(results) ? results : [results];
  const described = [];
  for (const [i, t] of list.entries()) {
    const raw = await t.data();
    const form = kArrays[t.dtype];  // what was cast may still have the bytes of its old type
    const data = form && !(raw instanceof form) ? form.from(raw) : raw;
    described.push(describe(names[i], {type: t.dtype, dims: t.shape, data}, directory, i));
  }
  return {version: `${tf.version_core} (${backend})`, base_bytes: baseBytes, load_ms: loadedAt - begin,
          first_ms: firstAt - begin, outputs: described};
}

async function time({runs}) {
  const ms = [];
  for (let i = 0; i < runs; ++i) {
    const begin = performance.now();
    const results = await again();
    ms.push(performance.now() - begin);
    tf.dispose(results);
  }
  return {ms, peak_bytes: peakBytes()};
}

/**
 * What the fast backend of 4.22 computes wrongly: a cast to bool cuts fractions off first, so that 0.5 is false; the
 * largest of negative numbers in a window of three axes is a small positive one; transposed convolutions over three axes
 * read past the end of their input; slopes of PReLU that are shared along an axis behind one that has its own are taken
 * in the order in which they lie.
 */
const wrong = new Set(['MaxPool3D', 'Conv3DBackpropInputV2', 'MaxPooling3D', 'Conv3DTranspose']);
function isWrongInFast(model) {
  const topology = JSON.parse(fs.readFileSync(model, 'utf8')).modelTopology ?? {};
  const {node = [], library} = topology;
  const nodes = [...node, ...(library?.function ?? []).flatMap((f) => f.nodeDef ?? [])];
  if (nodes.some(({op, attr}) => wrong.has(op) || (op === 'Cast' && ['DT_BOOL', 10].includes(attr?.DstT?.type))))
    return true;
  let found = false;
  JSON.stringify(node.length ? null : topology, (key, value) => {
    found ||= key === 'class_name' && wrong.has(value);
    found ||= key === 'shared_axes' && Boolean(value?.some((axis, i) => axis !== i + 1));
    return value;
  });
  return found;
}

/** The fast backend lacks some operators that the slow one has. */
async function run(request) {
  if (isWrongInFast(request.model)) return await runIn('cpu', request);
  try {
    return await runIn('wasm', request);
  } catch {
    return await runIn('cpu', request);
  }
}

await serve({run, time});
