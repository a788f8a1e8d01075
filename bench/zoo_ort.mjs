// Runs a model in ONNX Runtime on one thread: node zoo_ort.mjs MODEL RUNS [NAME:DIMS...]; prints the least CPU time of
// a run, and that of the session and the first run.
import {createRequire} from 'module';
const ort = createRequire(process.env.NODE_PATH + '/')('onnxruntime-node');
const [path, runs, ...shapes] = process.argv.slice(2);
const given = Object.fromEntries(shapes.map((s) => [s.slice(0, s.lastIndexOf(':')), s.slice(s.lastIndexOf(':') + 1).split(',').map(Number)]));
const cpu = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; };
const begun = cpu();
const session = await ort.InferenceSession.create(path, {intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4});
const created = cpu() - begun;
const feeds = {};
for (const input of session.inputMetadata ?? session.inputNames.map((name) => ({name, type: 'float32', shape: [1]}))) {
  const dims = given[input.name] ?? input.shape.map((d) => typeof d === 'number' && d > 0 ? d : 1);
  const size = dims.reduce((a, b) => a * b, 1);
  let data;
  if (input.type === 'float16' || input.type === 'bfloat16') data = new Uint16Array(size).fill(0x3800);
  else if (input.type === 'int64') data = new BigInt64Array(size);
  else if (input.type === 'int32') data = new Int32Array(size);
  else if (input.type === 'bool' || input.type === 'uint8') data = new Uint8Array(size);
  else if (input.type === 'int8') data = new Int8Array(size);
  else if (input.type === 'float64') data = Float64Array.from({length: size}, () => Math.random());
  else data = Float32Array.from({length: size}, () => Math.random());
  feeds[input.name] = new ort.Tensor(input.type, data, dims);
}
const started = cpu();
await session.run(feeds);
const first = created + cpu() - started;
// Runs of less than a millisecond are timed several at once: the clock counts microseconds.
const probe = cpu();
await session.run(feeds);
const each = Math.max(1, Math.min(Number(runs), Math.floor(1 / (cpu() - probe + 1e-3))));
let least = Infinity;
for (let i = 0; i + each <= Number(runs); i += each) {
  const start = cpu();
  for (let k = 0; k < each; ++k) await session.run(feeds);
  least = Math.min(least, (cpu() - start) / each);
}
console.log(JSON.stringify({least_ms: least, first_ms: first}));
