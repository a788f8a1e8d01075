// What the drivers of other runtimes share; docs/verify.md describes the protocol. Each driver is this file, then its
// own, which defines `run`, and `time` where it can; the last argument names the folder of npm's packages.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import {createRequire} from 'node:module';

const packages = process.argv.at(-1);
const require = createRequire(path.join(packages, 'any.js'));
// Only answers go to the output.
for (const kind of ['log', 'info', 'warn', 'error', 'debug']) console[kind] = () => {};
// Not getrusage's: that begins with what the process had before it became this program.
const peakBytes = () => Number(/VmHWM:\s*(\d+) kB/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;

const kArrays = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, int8: Int8Array, uint8: Uint8Array,
  int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array,
  uint64: BigUint64Array, bool: Uint8Array,
};

const versionOf = (name) => JSON.parse(fs.readFileSync(path.join(packages, name, 'package.json'), 'utf8')).version;

/** The elements of a tensor that came with a request. */
function elementsOf({type, file, strings}) {
  if (type === 'string') return strings;
  const bytes = fs.readFileSync(file);
  return new kArrays[type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

/** A tensor for an answer; without a type, what cannot be passed. */
function describe(name, {type, dims, data}, directory, index) {
  if (type === 'string') return {name, type, dims, strings: [...data]};
  if (!kArrays[type] || !ArrayBuffer.isView(data)) return {name};
  const file = path.join(directory, `output_${index}`);
  fs.writeFileSync(file, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return {name, type, dims, file};
}

async function serve(actions) {
  for await (const line of readline.createInterface({input: process.stdin})) {
    let reply;
    try {
      const request = JSON.parse(line);
      const action = actions[request.do];
      if (!action) throw new Error(`this runtime does not know how to ${request.do}`);
      reply = await action(request);
    } catch (error) {
      // WebAssembly that trapped leaves its memory as it was in the midst of something: what it says later may be wrong.
      if (error instanceof WebAssembly.RuntimeError) process.exit(1);
      reply = {error: String(error?.message ?? error)};
    }
    process.stdout.write(JSON.stringify(reply) + '\n');
  }
}
