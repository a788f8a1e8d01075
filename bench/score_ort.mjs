// A CSV file scored by ONNX Runtime, columns by their names, on one thread. Prints {"seconds": CPU time, "first": [...]}.
// usage: node score_ort.mjs <directory that holds node_modules> MODEL CSV
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [peers, model, csv] = process.argv.slice(2);
const require = createRequire(path.resolve(peers, 'package.json'));
const ort = require('onnxruntime-node');
ort.env.logLevel = 'fatal';
const session = await ort.InferenceSession.create(model, { logSeverityLevel: 4, intraOpNumThreads: 1, interOpNumThreads: 1 });

const start = process.cpuUsage();
const lines = fs.readFileSync(csv, 'utf8').split('\n');
const names = lines[0].split(',');
const rows = lines.length - 1 - (lines[lines.length - 1] === '' ? 1 : 0);
const columns = names.map(() => new Float64Array(rows));
for (let r = 0; r < rows; ++r) {
  const fields = lines[r + 1].split(',');
  for (let c = 0; c < names.length; ++c) columns[c][r] = Number(fields[c]);
}
const feeds = {};
for (const name of session.inputNames) feeds[name] = new ort.Tensor('float64', columns[names.indexOf(name)], [rows, 1]);
const answers = (await session.run(feeds)).probabilities.data;
const used = process.cpuUsage(start);
console.log(JSON.stringify({ seconds: (used.user + used.system) / 1e6, first: Array.from(answers.slice(0, 200)) }));
