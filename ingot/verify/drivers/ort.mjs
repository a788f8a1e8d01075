// ONNX Runtime. Inputs go by name.
const ort = require('onnxruntime-node');
ort.env.logLevel = 'fatal';
const baseBytes = peakBytes();
let session, feeds, fetches;

async function run({model, directory, inputs, in_place: inPlace = {}, threads = 1, optimize = false}) {
  await session?.release();
  session = undefined;
  feeds = Object.fromEntries(inputs.map((t) => [t.name, new ort.Tensor(t.type, elementsOf(t), t.dims)]));
  const start = performance.now();
  // Unless speed is the question, the model as it is written: fusions change what it means where inputs are unusual.
  session = await ort.InferenceSession.create(model, {
    logSeverityLevel: 4, intraOpNumThreads: threads, interOpNumThreads: 1,
    graphOptimizationLevel: optimize ? 'all' : 'disabled',
    // Its threads spin while they wait for work; after a run they would take a core from whoever is measured next.
    extra: {session: {force_spinning_stop: '1'}},
  });
  const loaded = performance.now();
  const places = session.outputNames.map((name) => [name, feeds[inPlace[name]] ?? null]);
  const results = await session.run(feeds, Object.fromEntries(places));
  const ran = performance.now();
  fetches = results;
  const outputs = session.outputNames.map((name, i) => {
    const t = results[name];
    return t?.type ? describe(name, {type: t.type, dims: [...t.dims].map(Number), data: t.data}, directory, i) : {name};
  });
  return {version: versionOf('onnxruntime-node'), base_bytes: baseBytes, load_ms: loaded - start,
          first_ms: ran - start, outputs};
}

async function time({runs}) {
  // Results are written where those of the first run are, so that no run pays for new memory.
  if (!Array.isArray(fetches) && !Object.values(fetches).every((t) => ArrayBuffer.isView(t?.data)))
    fetches = session.outputNames;
  const ms = [];
  for (let i = 0; i < runs; ++i) {
    const start = performance.now();
    try {
      await session.run(feeds, fetches);
    } catch (error) {
      if (Array.isArray(fetches)) throw error;
      fetches = session.outputNames;
      --i;
      continue;
    }
    ms.push(performance.now() - start);
  }
  return {ms, peak_bytes: peakBytes()};
}

await serve({run, time});
