// node tokenize.cjs PEERS JOB: the numbers that Hugging Face's tokenizers give. JOB is a file of JSON:
// {"tokenizers": {name: path of tokenizer.json}, "texts": [...], "out": path}.
const fs = require("fs");
const path = require("path");

async function main() {
  const {Tokenizer} = require(path.join(path.resolve(process.argv[2]), "node_modules", "tokenizers"));
  const job = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
  const all = {};
  for (const [name, file] of Object.entries(job.tokenizers)) {
    const tokenizer = Tokenizer.fromFile(file);
    all[name] = [];
    for (const text of job.texts) all[name].push((await tokenizer.encode(text)).getIds());
  }
  fs.writeFileSync(job.out, JSON.stringify(all));
}

main();
