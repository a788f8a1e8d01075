// What may be collapsed: blocks by the names of nodes, repeated layers by what they hold, graphs inside of nodes.

// "/layer1/0/conv/Conv" -> ["layer1", "0", "conv"]; names without slashes are cut at dots.
function pathOf(name) {
  const parts = name.includes("/") ? name.split("/") : name.split(".");
  return parts.slice(0, -1).filter(part => part !== "");
}

// Runs of the same operators one after the other, three times or more, become a block each; of one operator that is
// repeated, eight times or more, all become one.
function repeatedRuns(nodes) {
  const n = nodes.length, blocks = [];
  const hash = nodes.map(node => {
    let h = 7;
    for (let i = 0; i < node.op.length; ++i) h = (h * 31 + node.op.charCodeAt(i)) | 0;
    return h;
  });
  for (let at = 0; at < n;) {
    let best = null;
    for (let period = 1; period <= 120 && at + 3 * period <= n; ++period) {
      let same = 0;
      while (at + period + same < n && hash[at + same] === hash[at + period + same]) ++same;
      const times = Math.floor(same / period) + 1;
      if (times >= 3 && (!best || times * period > best.times * best.period)) best = {period, times};
    }
    if (!best) {
      ++at;
      continue;
    }
    if (best.period === 1) {
      if (best.times >= 8) blocks.push({nodes: nodes.slice(at, at + best.times), title: `${best.times} ${nodes[at].op}`});
    } else {
      for (let i = 0; i < best.times; ++i)
        blocks.push({nodes: nodes.slice(at + i * best.period, at + (i + 1) * best.period), title: `${i + 1} of ${best.times}`});
    }
    at += best.period * best.times;
  }
  return blocks;
}

// Gives every node `block`, the innermost block that holds it, or null. A block has: key, title, parent, isOpen, size, and
// the mark that all its nodes have, or "changed".
function makeBlocks(nodes) {
  const blocks = new Map(), top = nodes.filter(node => node.owner < 0 && node.kind === "node");
  const get = (key, title, parent) => {
    if (!blocks.has(key)) blocks.set(key, {key, title, parent, isOpen: true, size: 0, ops: new Map()});
    return blocks.get(key);
  };
  const hasPaths = top.filter(node => pathOf(node.name).length).length > top.length / 2;
  if (hasPaths) {
    for (const node of top) {
      let parent = null, key = "";
      for (const part of pathOf(node.name)) parent = get(key += "/" + part, part, parent);
      node.block = parent;
    }
  } else {
    for (const run of repeatedRuns(top)) {
      const block = get(`repeat ${run.nodes[0].id}`, run.title, null);
      for (const node of run.nodes) node.block = block;
    }
  }
  for (const node of top)
    for (let block = node.block; block; block = block.parent) {
      if (block.size++ === 0) block.mark = node.mark;
      else if (block.mark !== node.mark) block.mark = "changed";
      block.ops.set(node.op, (block.ops.get(node.op) || 0) + 1);
    }
  // A block of one node says nothing that the node does not.
  for (const node of top) while (node.block && node.block.size < 2) node.block = node.block.parent;
  return [...blocks.values()].filter(block => block.size >= 2);
}

// Closes the largest blocks that still leave something to see, until few enough nodes are drawn.
function closeUntil(blocks, count, most) {
  const depth = block => block.parent ? depth(block.parent) + 1 : 0;
  for (let level = 8; level >= 0 && count > most; --level)
    for (const block of blocks)
      if (depth(block) === level && block.isOpen && count > most) {
        block.isOpen = false;
        count -= block.size - 1;
      }
}
