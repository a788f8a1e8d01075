// LiteRT, the TFLite runtime of today, as WebAssembly. Inputs go in the order of the file's main graph. The package's
// own interface is made for browsers and knows three element types: this goes below it.
const kTypes = {
  1: 'float32', 2: 'int32', 3: 'uint8', 4: 'int64', 6: 'bool', 7: 'int16', 9: 'int8', 10: 'float16', 11: 'float64',
  13: 'uint64', 16: 'uint32', 17: 'uint16',
};
const folder = path.join(packages, '@litertjs/core/wasm');
const script = path.join(folder, 'litert_wasm_compat_internal.js');
globalThis.self = globalThis;

// It reports failures on its error stream only and returns whatever its memory holds.
let failures = [];
const makeModule = new Function('require', '__filename', '__dirname',
                                fs.readFileSync(script, 'utf8') + '\nreturn ModuleFactory;');
const lite = await makeModule(createRequire(script), script, folder)({
  locateFile: (file) => path.join(folder, file),
  print: () => {},
  printErr: (text) => { if (/\bERROR\b/.test(text)) failures.push(text); },
});
lite.setupLogging?.();
const environment = lite.LiteRtEnvironment.create(null);

function list(vector) {
  const items = Array.from({length: vector.size()}, (_, i) => vector.get(i));
  vector.delete();
  return items;
}

function typeOf(tensorType) {
  const layout = tensorType.layout();
  const dims = list(layout.dimensions());
  layout.delete();
  return {type: kTypes[tensorType.elementType().value], dims};
}

// Open sizes are 1 in the file, and the package has room for no others.
const closed = (dims) => dims.map((d) => (d < 0 ? 1 : d));

function ranked(tensorType, dims) {
  const sizes = new lite.VectorInt32();
  dims.forEach((d) => sizes.push_back(d));
  const layout = lite.LiteRtLayout.create(sizes);
  const type = lite.LiteRtRankedTensorType.create({value: tensorType.elementType().value}, layout);
  sizes.delete();
  layout.delete();
  return type;
}

// Where an input has open sizes, the buffers of outputs do not tell their types.
function typeOfResult(buffer, stated) {
  try {
    return typeOf(buffer.tensorType());
  } catch {
    const {type, dims} = typeOf(stated);
    const size = closed(dims).reduce((a, b) => a * b, 1) * (kArrays[type]?.BYTES_PER_ELEMENT ?? 0);
    if (size !== buffer.packedSize()) throw new Error('it does not tell the sizes of its outputs');
    return {type, dims: closed(dims)};
  }
}

async function run({model: file, directory, inputs}) {
  failures = [];
  const bytes = fs.readFileSync(file);
  const address = lite._malloc(bytes.length);
  lite.HEAPU8.set(bytes, address);
  const model = lite.loadModel(environment, address, bytes.length);
  const compiled = await lite.compileModel(environment, model, {
    environment: {liteRtEnvironment: environment}, accelerator: 'wasm', cpuOptions: {numThreads: 1}, gpuOptions: {},
    webNNOptions: {},
  });
  const signature = model.getSignature(0);
  if (list(signature.inputNames()).length !== inputs.length) throw new Error('it takes another number of inputs');
  const names = list(signature.outputNames());
  const buffers = inputs.map((input, i) => {
    const tensorType = model.getInputTensorType(0, i);
    const {type, dims} = typeOf(tensorType);
    if (type !== input.type || closed(dims).join() !== input.dims.join())
      throw new Error(`input '${input.name}' is ${type}[${dims}] there, and inputs cannot be resized`);
    const data = elementsOf(input);
    const sized = dims.some((d) => d < 0) ? ranked(tensorType, input.dims) : tensorType;
    const buffer = lite.LiteRtTensorBuffer.createManaged(
        environment, lite.LiteRtTensorBufferType.HOST_MEMORY, sized, data.byteLength);
    const at = buffer.lock(lite.LiteRtTensorBufferLockMode.WRITE);
    lite.HEAPU8.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    buffer.unlock();
    return buffer;
  });
  const results = await compiled.run(0, buffers);
  if (failures.length) throw new Error(failures.join('; '));
  const outputs = results.map((buffer, i) => {
    const {type, dims} = typeOfResult(buffer, model.getOutputTensorType(0, i));
    if (!type) return {name: names[i]};
    const at = buffer.lock(lite.LiteRtTensorBufferLockMode.READ);
    const copy = lite.HEAPU8.slice(at, at + buffer.packedSize());
    buffer.unlock();
    const size = dims.reduce((a, b) => a * b, 1) * kArrays[type].BYTES_PER_ELEMENT;
    return describe(names[i], {type, dims, data: copy.subarray(0, size)}, directory, i);
  });
  for (const one of [...buffers, ...results, compiled, model]) one.delete();
  lite._free(address);
  return {version: versionOf('@litertjs/core'), outputs};
}

await serve({run});
