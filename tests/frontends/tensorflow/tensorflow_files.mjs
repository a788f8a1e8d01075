// TensorFlow's files as TF.js graph-models: graphs, SavedModels and checkpoints read anew, so that nothing of Ingot
// decides what Ingot is compared with. Variables become constants, calls of functions their bodies.
import fs from 'node:fs';
import path from 'node:path';

// ---- protobuf: a message is a map from field number to the list of its values (Buffer, number or BigInt).
function parse(buffer) {
  const fields = new Map();
  let at = 0;
  const varint = () => {
    let value = 0n, shift = 0n;
    for (;;) {
      const byte = buffer[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
      shift += 7n;
    }
  };
  while (at < buffer.length) {
    const key = Number(varint());
    let value;
    if ((key & 7) === 0) value = varint();
    else if ((key & 7) === 1) { value = buffer.subarray(at, at + 8); at += 8; }
    else if ((key & 7) === 5) { value = buffer.subarray(at, at + 4); at += 4; }
    else { const size = Number(varint()); value = buffer.subarray(at, at + size); at += size; }
    if (!fields.has(key >> 3)) fields.set(key >> 3, []);
    fields.get(key >> 3).push(value);
  }
  return fields;
}
const all = (message, number) => message.get(number) ?? [];
const last = (message, number) => all(message, number).at(-1);
const text = (message, number) => last(message, number)?.toString() ?? '';
const integer = (message, number) => Number(last(message, number) ?? 0n);
const messages = (message, number) => all(message, number).map(parse);
/// Repeated numbers, packed or not.
function numbers(message, number, width) {
  const out = [];
  for (const value of all(message, number)) {
    if (typeof value === 'bigint') { out.push(Number(value)); continue; }
    if (width === 4) for (let i = 0; i + 4 <= value.length; i += 4) out.push(value.readFloatLE(i));
    else if (width === 8) for (let i = 0; i + 8 <= value.length; i += 8) out.push(value.readDoubleLE(i));
    else for (const packed of unpack(value)) out.push(packed);
  }
  return out;
}
function unpack(buffer) {
  const out = [];
  let value = 0n, shift = 0n;
  for (const byte of buffer) {
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte < 128) { out.push(Number(BigInt.asIntN(64, value))); value = 0n; shift = 0n; }
  }
  return out;
}

// ---- tensors
const kTypes = {
  1: ['DT_FLOAT', 'float32'], 2: ['DT_DOUBLE', 'float64'], 3: ['DT_INT32', 'int32'], 4: ['DT_UINT8', 'uint8'],
  5: ['DT_INT16', 'int16'], 6: ['DT_INT8', 'int8'], 7: ['DT_STRING', 'string'], 9: ['DT_INT64', 'int64'],
  10: ['DT_BOOL', 'bool'], 17: ['DT_UINT16', 'uint16'], 19: ['DT_HALF', 'float16'], 20: ['DT_RESOURCE', ''],
  21: ['DT_VARIANT', ''], 22: ['DT_UINT32', 'uint32'], 23: ['DT_UINT64', 'uint64'],
};
const plain = (type) => (type > 100 ? type - 100 : type);
export const typeName = (type) => kTypes[plain(type)]?.[1] ?? '';
const kReaders = {
  float32: [4, (b, i) => b.readFloatLE(i)], float64: [8, (b, i) => b.readDoubleLE(i)],
  int32: [4, (b, i) => b.readInt32LE(i)], uint8: [1, (b, i) => b[i]], int16: [2, (b, i) => b.readInt16LE(i)],
  int8: [1, (b, i) => b.readInt8(i)], int64: [8, (b, i) => Number(b.readBigInt64LE(i))], bool: [1, (b, i) => b[i]],
  uint16: [2, (b, i) => b.readUInt16LE(i)], uint32: [4, (b, i) => b.readUInt32LE(i)],
  uint64: [8, (b, i) => Number(b.readBigUInt64LE(i))],
};
const dims = (shape) => messages(shape, 2).map((d) => integer(d, 1));
function elements(type, bytes) {
  const [width, read] = kReaders[type] ?? [];
  if (!width) throw new Error(`values of type ${type} are not read here`);
  const out = [];
  for (let i = 0; i + width <= bytes.length; i += width) out.push(read(bytes, i));
  return out;
}
function tensor(message) {
  const type = typeName(integer(message, 1));
  const shape = message.has(2) ? dims(parse(last(message, 2))) : [];
  const count = shape.reduce((a, b) => a * b, 1);
  let values;
  if (type === 'string') values = all(message, 8).map((b) => b.toString('latin1'));
  else if (last(message, 4)?.length) values = elements(type, last(message, 4));
  else values = { float32: () => numbers(message, 5, 4), float64: () => numbers(message, 6, 8),
    int64: () => numbers(message, 10), bool: () => numbers(message, 11) }[type]?.() ?? numbers(message, 7);
  if (!values.length) values = [type === 'string' ? '' : 0];
  while (values.length < count) values.push(values.at(-1));
  return { type, shape, values: values.slice(0, count) };
}

// ---- graphs
function attrJson(message) {
  const value = {};
  if (message.has(2)) value.s = last(message, 2).toString('base64');
  if (message.has(3)) value.i = String(last(message, 3));
  if (message.has(4)) value.f = last(message, 4).readFloatLE(0);
  if (message.has(5)) value.b = last(message, 5) !== 0n;
  if (message.has(6)) value.type = kTypes[plain(integer(message, 6))]?.[0] ?? 'DT_INVALID';
  if (message.has(7)) {
    const shape = parse(last(message, 7));
    value.shape = integer(shape, 3) ? { unknownRank: true } : { dim: dims(shape).map((size) => ({ size: String(size) })) };
  }
  if (message.has(8)) value.tensor = tensor(parse(last(message, 8)));
  if (message.has(9)) value.placeholder = text(message, 9);
  if (message.has(10)) value.func = { name: text(parse(last(message, 10)), 1) };
  if (message.has(1)) {
    const list = parse(last(message, 1));
    value.list = { s: all(list, 2).map((b) => b.toString('base64')), i: numbers(list, 3).map(String),
      f: numbers(list, 4, 4), b: numbers(list, 5).map((b) => b !== 0),
      type: numbers(list, 6).map((t) => kTypes[plain(t)]?.[0] ?? 'DT_INVALID'),
      shape: messages(list, 7).map((s) => ({ dim: dims(s).map((size) => ({ size: String(size) })) })) };
    for (const key of Object.keys(value.list)) if (!value.list[key].length) delete value.list[key];
  }
  return value;
}
const nodeOf = (message) => ({ name: text(message, 1), op: text(message, 2), input: all(message, 3).map(String),
  attr: Object.fromEntries(messages(message, 5).map((entry) => [text(entry, 1), attrJson(parse(last(entry, 2)))])) });
function graphOf(message) {
  const functions = new Map();
  for (const f of messages(message, 2).flatMap((library) => messages(library, 1))) {
    const signature = parse(last(f, 1));
    functions.set(text(signature, 1), {
      inputs: messages(signature, 2).map((a) => text(a, 1)), outputs: messages(signature, 3).map((a) => text(a, 1)),
      nodes: messages(f, 3).map(nodeOf), returns: new Map(messages(f, 4).map((r) => [text(r, 1), text(r, 2)])) });
  }
  return { nodes: messages(message, 1).map(nodeOf), functions };
}
function metaGraphOf(message) {
  const info = (entry) => {
    const about = parse(last(entry, 2));
    const shape = about.has(3) ? parse(last(about, 3)) : new Map();
    return [text(entry, 1), { name: text(about, 1), type: typeName(integer(about, 2)),
      shape: integer(shape, 3) ? null : dims(shape) }];
  };
  const signatures = new Map();
  for (const entry of messages(message, 5)) {
    const signature = parse(last(entry, 2));
    signatures.set(text(entry, 1), { inputs: new Map(messages(signature, 1).map(info)),
      outputs: new Map(messages(signature, 2).map(info)) });
  }
  const tags = message.has(1) ? all(parse(last(message, 1)), 4).map(String) : [];
  return { ...graphOf(parse(last(message, 2))), signatures, tags };
}

// ---- checkpoints (version 2)
function uncompressed(data) {
  let at = 0;
  while (data[at++] >= 128);
  const out = [];
  while (at < data.length) {
    const tag = data[at++];
    let length = (tag >> 2) + 1, offset = 0;
    if ((tag & 3) === 0) {
      if (length > 60) { const bytes = length - 60; length = data.readUIntLE(at, bytes) + 1; at += bytes; }
      for (let i = 0; i < length; ++i) out.push(data[at++]);
      continue;
    }
    if ((tag & 3) === 1) { length = (tag >> 2 & 7) + 4; offset = (tag >> 5) * 256 + data[at++]; }
    else if ((tag & 3) === 2) { offset = data.readUInt16LE(at); at += 2; }
    else { offset = data.readUInt32LE(at); at += 4; }
    for (let i = 0; i < length; ++i) out.push(out[out.length - offset]);
  }
  return Buffer.from(out);
}
function block(file, handle) {
  const stored = file.subarray(handle[0], handle[0] + handle[1]);
  const data = file[handle[0] + handle[1]] === 1 ? uncompressed(stored) : stored;
  const end = data.length - 4 - 4 * data.readUInt32LE(data.length - 4);
  const entries = [];
  let at = 0, key = Buffer.alloc(0);
  const varint = () => { let v = 0, s = 1; for (;;) { const b = data[at++]; v += (b & 127) * s; if (b < 128) return v; s *= 128; } };
  while (at < end) {
    const shared = varint(), own = varint(), size = varint();
    key = Buffer.concat([key.subarray(0, shared), data.subarray(at, at + own)]);
    at += own;
    entries.push([key.toString(), data.subarray(at, at + size)]);
    at += size;
  }
  return entries;
}
function checkpoint(prefix) {
  if (!fs.existsSync(`${prefix}.index`)) return null;
  const file = fs.readFileSync(`${prefix}.index`);
  const handles = unpack(file.subarray(file.length - 48, file.length - 8));
  const entries = new Map();
  for (const [, value] of block(file, handles.slice(2, 4)))
    for (const [key, entry] of block(file, unpack(value))) entries.set(key, parse(entry));
  const shards = integer(entries.get(''), 1);
  const files = [];
  const bytes = (entry) => {
    const shard = integer(entry, 3);
    const pad = (n) => String(n).padStart(5, '0');
    files[shard] ??= fs.readFileSync(`${prefix}.data-${pad(shard)}-of-${pad(shards)}`);
    return files[shard].subarray(integer(entry, 4), integer(entry, 4) + integer(entry, 5));
  };
  return (key) => {
    const entry = entries.get(key);
    if (!entry) return null;
    const type = typeName(integer(entry, 1));
    return { type, shape: entry.has(2) ? dims(parse(last(entry, 2))) : [], values: elements(type, bytes(entry)) };
  };
}

/// A graph, its signatures (or none) and its variables.
export function readModel(file) {
  const stat = fs.statSync(file);
  if (stat.isDirectory() || path.basename(file) === 'saved_model.pb') {
    const directory = stat.isDirectory() ? file : path.dirname(file);
    const metas = messages(parse(fs.readFileSync(path.join(directory, 'saved_model.pb'))), 2).map(metaGraphOf);
    const meta = metas.find((m) => m.tags.includes('serve')) ?? metas[0];
    return { ...meta, variable: checkpoint(path.join(directory, 'variables', 'variables')) };
  }
  const message = parse(fs.readFileSync(file));
  if (file.endsWith('.meta')) return { ...metaGraphOf(message), variable: checkpoint(file.slice(0, -5)) };
  if (typeof last(message, 1) === 'bigint' && message.has(2)) return metaGraphOf(parse(last(message, 2)));  // SavedModel
  return { ...graphOf(message), signatures: new Map() };
}

/// Variable -> key in the checkpoint, as the graph that restores them says; it may stand in a function.
function restoredKeys(model) {
  const keys = new Map();
  const read = (nodes, argument) => {
    const byName = new Map(nodes.map((n) => [n.name, n]));
    for (const node of nodes) {
      if (!['AssignVariableOp', 'Assign'].includes(node.op)) continue;
      let from = node.input[1];
      while (byName.get(from.split(':')[0])?.op === 'Identity') from = byName.get(from.split(':')[0]).input[0];
      const restore = byName.get(from.split(':')[0]);
      if (restore?.op !== 'RestoreV2') continue;
      const names = byName.get(restore.input[1].split(':')[0]).attr.value.tensor.values;
      const position = from.includes(':') ? Number(from.split(':').at(-1)) : 0;
      keys.set(argument(node.input[0].split(':')[0]), names[position]);
    }
  };
  read(model.nodes, (name) => name);
  for (const node of model.nodes) {
    const f = kCalls.has(node.op) ? model.functions.get(node.attr.f.func.name) : null;
    if (f) read(f.nodes, (name) => node.input[f.inputs.indexOf(name)]);
  }
  return keys;
}

/// A signature that changes variables as a function of their values: its outputs, then the new values. `variables`:
/// {node: that reads it, key: of the checkpoint, place: of its new value among the outputs, or -1}.
export function signatureStep(model, key) {
  const signature = model.signatures.get(key);
  const outputs = [...signature.outputs.values()].map(({ name }) => name);
  const call = model.nodes.find(({ name }) => name === outputs[0].split(':')[0]);
  const f = model.functions.get(call.attr.f.func.name);
  const step = { ...f, outputs: [...f.outputs], returns: new Map(f.returns) };
  const keys = restoredKeys(model);
  const nodeOf = (argument) => call.input[f.inputs.indexOf(argument)];
  const variables = new Map();
  const variable = (argument) => {
    const node = nodeOf(argument);
    if (!variables.has(node)) variables.set(node, { node: '', key: keys.get(node), place: -1 });
    return variables.get(node);
  };
  for (const node of f.nodes) {
    if (node.op === 'ReadVariableOp') variable(node.input[0]).node = `${call.name}/${node.name}`;
    if (node.op !== 'AssignVariableOp') continue;
    variable(node.input[0]).place = outputs.length;
    outputs.push(`${call.name}:${step.outputs.length}`);
    step.outputs.push(`assigned ${node.name}`);
    step.returns.set(`assigned ${node.name}`, node.input[1]);
  }
  return { model: { ...model, functions: new Map([...model.functions, [call.attr.f.func.name, step]]) }, outputs,
    variables: [...variables.values()] };
}

const kCalls = new Set(['PartitionedCall', 'StatefulPartitionedCall']);
const kPositions = { FusedBatchNormV3: ['y', 'batch_mean', 'batch_variance'], TopKV2: ['values', 'indices'],
  Split: ['output'], Unpack: ['output'], IdentityN: ['output'] };

// ---- parsers of tf.Examples: TF.js has none, so their outputs become placeholders by the names of the features.
const kParsers = new Set(['ParseExample', 'ParseExampleV2', 'ParseSingleExample']);
/// [name, type] of each output of a parser; `constant` gives the texts of input i.
function featuresOf(node, constant) {
  const list = (key, kind) => node.attr[key]?.list?.[kind] ?? [];
  const texts = (key) => list(key, 's').map((s) => Buffer.from(s, 'base64').toString());
  const sparse = list('sparse_types', 'type'), dense = list('Tdense', 'type');
  const ragged = list('ragged_value_types', 'type'), splits = list('ragged_split_types', 'type');
  let keys;
  if (node.op === 'ParseSingleExample') keys = [texts('sparse_keys'), texts('dense_keys'), []];
  else if (node.op === 'ParseExampleV2') keys = [constant(2), constant(3), constant(4)];
  else keys = [sparse.map((_, i) => constant(2 + i)[0]), dense.map((_, i) => constant(2 + sparse.length + i)[0]), []];
  const of = (names, types, part) => names.slice(0, types.length).map((name, i) => [name + part, types[i]]);
  const int64 = (types) => types.map(() => 'DT_INT64');
  return [...of(keys[0], int64(sparse), '/indices'), ...of(keys[0], sparse, '/values'),
    ...of(keys[0], int64(sparse), '/dense_shape'), ...of(keys[1], dense, ''), ...of(keys[2], ragged, '/values'),
    ...of(keys[2], splits, '/row_splits')];
}
function firstOf(node, output) {
  const count = (key) => node.attr[key]?.list?.type?.length ?? 0;
  const parts = [['sparse_indices', 'sparse_types'], ['sparse_values', 'sparse_types'], ['sparse_shapes', 'sparse_types'],
    ['dense_values', 'Tdense'], ['ragged_values', 'ragged_value_types'], ['ragged_row_splits', 'ragged_split_types']];
  let place = 0;
  for (const [name, key] of parts) { if (name === output) return place; place += count(key); }
  return 0;
}
const textsOf = (nodes) => (reference) => nodes.get(reference.split(':')[0])?.attr.value?.tensor.values ?? [];
/// The names of all features that parsers of the model give.
export function exampleFeatures(model) {
  const names = new Set();
  for (const nodes of [model.nodes, ...[...model.functions.values()].map((f) => f.nodes)]) {
    const constant = textsOf(new Map(nodes.map((n) => [n.name, n])));
    for (const node of nodes)
      if (kParsers.has(node.op)) for (const [name] of featuresOf(node, (i) => constant(node.input[i]))) names.add(name);
  }
  return names;
}

// Files leave out attributes that have their default value, and TF.js does not know those.
const kOnes = { list: { i: ['1', '1', '1', '1'] } };
const kLast = { s: Buffer.from('NHWC').toString('base64') };
const kDefaults = { Conv2D: { dilations: kOnes, data_format: kLast },
  DepthwiseConv2dNative: { dilations: kOnes, data_format: kLast }, BiasAdd: { data_format: kLast },
  MaxPool: { data_format: kLast }, AvgPool: { data_format: kLast },
  FusedBatchNormV3: { epsilon: { f: 1e-4 }, data_format: kLast } };

/// The part of a graph that the outputs need, flat and without variables, as TF.js reads it.
/// `outputs` are tensors, "node" or "node:1".
export function graphModel(model, outputs, inputs) {
  const nodes = new Map();    // name -> node of the flat graph
  const constants = new Map();
  const cut = new Set(inputs.map((tensorName) => tensorName.split(':')[0]));
  const keys = restoredKeys(model);
  const features = new Map();  // feature of examples -> placeholder

  /// Adds the node and what it needs; a body is { nodes by name, arguments by name, prefix }.
  function add(body, name) {
    const full = body.prefix + name;
    if (nodes.has(full)) return;
    const node = body.nodes.get(name);
    if (!node) throw new Error(`there is no node ${full}`);
    if (cut.has(full)) {
      nodes.set(full, { ...node, name: full, op: 'Placeholder', input: [] });
      return;
    }
    if (kCalls.has(node.op) || model.functions.has(node.op)) return;  // seen through by resolve()
    const value = ['ReadVariableOp', 'VariableV2', 'Variable'].includes(node.op) ? variable(body, node) :
      node.op === 'Const' ? node.attr.value.tensor : null;
    if (value) {
      constants.set(full, value);
      nodes.set(full, { name: full, op: 'Const', input: [], attr: { dtype: { type: tfType(value.type) } } });
      return;
    }
    const copy = { name: full, op: node.op, attr: { ...kDefaults[node.op], ...node.attr }, input: [] };
    nodes.set(full, copy);
    copy.input = node.input.filter((i) => !i.startsWith('^')).map((i) => resolve(body, i));
  }
  function variable(body, node) {
    let at = { body, node };
    if (node.op === 'ReadVariableOp') at = origin(body, node.input[0]);
    const { name } = at.node;
    const value = model.variable?.(keys.get(name) ?? name);
    if (!value) throw new Error(`variable ${name} has no value`);
    return value;
  }
  /// The node behind a reference that only passes values on.
  function origin(body, reference) {
    const name = reference.split(':')[0];
    if (body.arguments.has(name)) return origin(...body.arguments.get(name));
    const node = body.nodes.get(name);
    return node.op === 'Identity' ? origin(body, node.input[0]) : { body, node };
  }
  /// A tensor of a body as a tensor of the flat graph; calls are seen through.
  function resolve(body, reference) {
    const [name, output, index] = reference.split(':');
    if (body.arguments.has(name)) return resolve(...body.arguments.get(name));
    const node = body.nodes.get(name);
    if (!node) throw new Error(`there is no node ${body.prefix}${name}`);
    const inFunction = body.isFunction && output !== undefined && Number.isNaN(Number(output));
    let port = inFunction ? Number(index ?? 0) : Number(output ?? 0);
    const called = kCalls.has(node.op) ? node.attr.f.func.name : model.functions.has(node.op) ? node.op : null;
    if (called && !cut.has(body.prefix + name)) {
      const f = model.functions.get(called);
      const inner = { nodes: new Map(f.nodes.map((n) => [n.name, n])), prefix: `${body.prefix}${name}/`, isFunction: true,
        arguments: new Map(f.inputs.map((argument, i) => [argument, [body, node.input[i]]])) };
      return resolve(inner, f.returns.get(f.outputs[port]));
    }
    if (kParsers.has(node.op)) {
      const constant = textsOf(body.nodes);
      const [feature, type] = featuresOf(node, (i) => constant(node.input[i]))[port + (inFunction ? firstOf(node, output) : 0)];
      const full = `${body.prefix}${name}/${feature}`;
      nodes.set(full, { name: full, op: 'Placeholder', input: [], attr: { dtype: { type }, shape: { shape: { unknownRank: true } } } });
      features.set(feature, full);
      return full;
    }
    if (inFunction) port += Math.max(0, (kPositions[node.op] ?? [output]).indexOf(output));
    add(body, name);
    return body.prefix + name + (port ? `:${port}` : '');
  }
  const main = { nodes: new Map(model.nodes.map((n) => [n.name, n])), arguments: new Map(), prefix: '', isFunction: false };
  const results = outputs.map((o) => resolve(main, o));
  return { topology: { node: [...nodes.values()], versions: { producer: 1000 } }, constants, results, features };
}

const tfType = (type) => Object.values(kTypes).find(([, name]) => name === type)[0];
