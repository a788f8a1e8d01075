// A layered layout: sources above, every edge downwards. Linear in nodes and edges but for sorting within layers.

const NODE_HEIGHT = 34, LAYER_GAP = 34, NODE_GAP = 18, MOST_BENDS = 60000;

// Edges that close a circle are turned around; collapsed blocks can make some.
function withoutCircles(count, edges) {
  const out = Array.from({length: count}, () => []);
  edges.forEach((e, i) => out[e[0]].push(i));
  const state = new Uint8Array(count), next = new Int32Array(count), turned = new Set();
  for (let root = 0; root < count; ++root) {
    if (state[root]) continue;
    const stack = [root];
    state[root] = 1;
    while (stack.length) {
      const node = stack[stack.length - 1];
      if (next[node] === out[node].length) {
        state[node] = 2;
        stack.pop();
        continue;
      }
      const edge = out[node][next[node]++], to = edges[edge][1];
      if (state[to] === 1) turned.add(edge);
      if (state[to] === 0) {
        state[to] = 1;
        stack.push(to);
      }
    }
  }
  return edges.map((e, i) => turned.has(i) ? [e[1], e[0]] : [e[0], e[1]]);
}

// The longest way from a source; sources themselves stand right above the first that needs them. Of the edges that are
// not drawn only the order counts: what they lead to may still be a source.
function layersOf(count, edges, drawn) {
  const layer = new Int32Array(count), waiting = new Int32Array(count), out = Array.from({length: count}, () => []);
  const isSource = new Array(count).fill(true), queue = [];
  edges.forEach(([from, to], i) => {
    out[from].push(to);
    ++waiting[to];
    if (i < drawn) isSource[to] = false;
  });
  for (let i = 0; i < count; ++i) if (waiting[i] === 0) queue.push(i);
  for (let at = 0; at < queue.length; ++at)
    for (const to of out[queue[at]]) {
      layer[to] = Math.max(layer[to], layer[queue[at]] + 1);
      if (--waiting[to] === 0) queue.push(to);
    }
  for (let i = 0; i < count; ++i)
    if (isSource[i] && out[i].length) layer[i] = out[i].reduce((least, to) => Math.min(least, layer[to]), 1 << 30) - 1;
  return layer;
}

// Bends let an edge pass between the nodes of the layers that it crosses. What leaves a node under one label runs in one
// line as long as it can: a value that many read is a trunk with branches.
function addBends(layers, edges, labels) {
  const trunks = new Map(), trunkOf = i => `${edges[i][0]} ${labels[i]}`;
  edges.forEach(([from, to], i) => {
    const span = layers[to] - layers[from] - 1;
    if (span > 0) trunks.set(trunkOf(i), {length: Math.max(span, (trunks.get(trunkOf(i)) || {length: 0}).length), bends: []});
  });
  let bends = 0;
  for (const trunk of trunks.values()) bends += trunk.length;
  const longest = bends > MOST_BENDS ? 8 : Infinity;
  const layer = Array.from(layers), pieces = [], far = [];
  edges.forEach(([from, to], i) => {
    const span = layer[to] - layer[from];
    if (span > longest) return far.push([from, to, i]);
    const trunk = span > 1 ? trunks.get(trunkOf(i)).bends : [];
    let before = from;
    for (let step = 0; step < span - 1; ++step) {
      if (trunk[step] === undefined) {
        trunk.push(layer.length);
        layer.push(layer[from] + step + 1);
        pieces.push([before, trunk[step], i]);
      }
      before = trunk[step];
    }
    pieces.push([before, to, i]);
  });
  return {layer, pieces, far};
}

function neighboursOf(count, pieces) {
  const up = Array.from({length: count}, () => []), down = Array.from({length: count}, () => []);
  for (const [from, to] of pieces) {
    up[to].push(from);
    down[from].push(to);
  }
  return {up, down};
}

// Each layer in the order of where its neighbours stand, down and up again.
function order(layers, neighbours, position) {
  const sortBy = (row, near) => {
    if (row.length < 2) return;
    const key = new Map(row.map(n => {
      const list = near[n];
      return [n, list.length ? list.reduce((sum, m) => sum + position[m], 0) / list.length : position[n]];
    }));
    row.sort((a, b) => key.get(a) - key.get(b));
    row.forEach((n, i) => position[n] = i);
  };
  for (let sweep = 0; sweep < 4; ++sweep) {
    for (let l = 1; l < layers.length; ++l) sortBy(layers[l], neighbours.up);
    for (let l = layers.length - 2; l >= 0; --l) sortBy(layers[l], neighbours.down);
  }
}

// Which nodes are sources, such as weights, and which bends are of edges that leave one.
function sidesOf(count, up) {
  const isSide = new Uint8Array(up.length);
  for (let n = 0; n < up.length; ++n) isSide[n] = n < count ? !up[n].length : isSide[up[n][0]];
  return isSide;
}

// Nodes go towards the middle of their neighbours as far as those beside them let them. What sources give stands aside, so
// that what is computed one after the other stands below each other: nodes keep to nodes, bends to their trunk.
function place(count, layers, neighbours, isSide, width, x) {
  const some = (list, isWanted) => list.some(isWanted) ? list.filter(isWanted) : list;
  const alike = near => near.map((list, n) => some(list, m => m >= count === n >= count));
  const down = alike(neighbours.down), leads = alike(neighbours.up.map(above => some(above, n => !isSide[n])));
  // The places nearest to what each node wishes, in the given order: who wants too little room forms a group.
  const settle = (row, near) => {
    const groups = [], offsets = new Float64Array(row.length);
    row.forEach((n, i) => {
      if (i) offsets[i] = offsets[i - 1] + (width[row[i - 1]] + width[n]) / 2 + NODE_GAP;
      const wish = near[n].length ? near[n].reduce((sum, m) => sum + x[m], 0) / near[n].length : x[n];
      let size = 1, weight = isSide[n] ? 1 : n >= count ? 5 : 1000, sum = weight * (wish - offsets[i]);
      for (let last = groups[groups.length - 1]; last && last.sum / last.weight >= sum / weight; last = groups[groups.length - 1]) {
        size += last.size;
        weight += last.weight;
        sum += last.sum;
        groups.pop();
      }
      groups.push({size, weight, sum});
    });
    let i = 0;
    for (const group of groups)
      for (let left = group.size; left > 0; --left, ++i) x[row[i]] = group.sum / group.weight + offsets[i];
  };
  for (const row of layers) {
    let at = 0;
    for (const n of row) {
      x[n] = at + width[n] / 2;
      at += width[n] + NODE_GAP;
    }
    for (const n of row) x[n] -= at / 2;
  }
  for (let sweep = 0; sweep < 4; ++sweep) {
    for (let l = layers.length - 2; l >= 0; --l) settle(layers[l], down);
    for (let l = 1; l < layers.length; ++l) settle(layers[l], leads);
  }
}

// widths: of the nodes; edges: [from, to, label]; `below`: edges that only say what stands below what. Returns for nodes and
// bends: x, layer; and pieces [from, to, edge], far [from, to, edge].
function layOut(widths, edges, below = []) {
  const count = widths.length, acyclic = withoutCircles(count, edges.concat(below));
  const drawn = acyclic.slice(0, edges.length), labels = edges.map(edge => edge[2] || "");
  const {layer, pieces, far} = addBends(layersOf(count, acyclic, edges.length), drawn, labels);
  const total = layer.length, layers = [], position = new Float64Array(total), x = new Float64Array(total);
  const width = Float64Array.from({length: total}, (_, i) => i < count ? widths[i] : 4);
  for (let i = 0; i < total; ++i) {
    while (layers.length <= layer[i]) layers.push([]);
    position[i] = layers[layer[i]].push(i) - 1;
  }
  const neighbours = neighboursOf(total, pieces);
  order(layers, neighbours, position);
  place(count, layers, neighbours, sidesOf(count, neighbours.up), width, x);
  return {count, x, layer, layers, width, pieces, far, step: NODE_HEIGHT + LAYER_GAP};
}
