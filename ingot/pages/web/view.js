// What of a graph is shown and where, and how people move in it.

const READABLE = 0.45;  // the scale below which names are too small to read

class GraphView extends Painter {
  constructor(canvas, data, events) {
    super(canvas);
    this.events = events;
    this.nodes = data.nodes.map((n, id) => ({id, name: n.name || "", op: n.op || "", kind: n.kind || "node",
      owner: n.owner === undefined ? -1 : n.owner, mark: n.mark || "", isOpen: false, hasBody: false, block: null, data: n}));
    for (const node of this.nodes) if (node.owner >= 0) this.nodes[node.owner].hasBody = true;
    this.edges = data.edges;
    this.blocks = makeBlocks(this.nodes);
    closeUntil(this.blocks, this.nodes.filter(n => n.owner < 0).length, data.mostAtFirst || 400);
    this.scale = 1;
    this.left = this.top = 0;
    this.isPlaced = false;  // as long as it was not seen
    this.selected = null;
    this.rebuild();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
  }

  // What stands for a node now: itself, or what it is hidden in; `end` where an open node's results leave.
  standIn(id, isSource, other) {
    const node = this.nodes[id];
    if (node.owner >= 0) {
      for (let owner = this.nodes[node.owner], hidden = null; ; owner = this.nodes[owner.owner]) {
        if (!owner.isOpen) hidden = owner;
        if (owner.owner < 0) {
          if (hidden) return this.standIn(hidden.id, isSource, -1);
          break;
        }
      }
      const root = this.rootOf(node);
      const closed = this.closedBlock(root.block);
      if (closed) return closed.key;
    }
    const closed = this.closedBlock(node.block);
    if (closed) return closed.key;
    if (node.isOpen && node.hasBody) {
      const otherIsInside = other >= 0 && this.isInside(other, id);
      return isSource !== otherIsInside ? `end ${id}` : id;
    }
    return id;
  }

  rootOf(node) {
    while (node.owner >= 0) node = this.nodes[node.owner];
    return node;
  }

  isInside(id, owner) {
    for (let at = this.nodes[id].owner; at >= 0; at = this.nodes[at].owner) if (at === owner) return true;
    return false;
  }

  closedBlock(block) {
    let closed = null;
    for (; block; block = block.parent) if (!block.isOpen) closed = block;
    return closed;
  }

  rebuild() {
    const index = new Map(), shown = [], seen = new Map();
    this.blockOf = new Map(this.blocks.map(b => [b.key, b]));
    const add = (key, make) => {
      if (!index.has(key)) {
        index.set(key, shown.length);
        shown.push(make());
      }
      return index.get(key);
    };
    const addFor = key => add(key, () => {
      if (typeof key === "number") return this.boxOf(this.nodes[key]);
      if (key.startsWith("end ")) return {title: "end", note: this.nodes[+key.slice(4)].op, node: this.nodes[+key.slice(4)], kind: "end"};
      const block = this.blockOf.get(key);
      const ops = [...block.ops].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([op, n]) => n > 1 ? `${n} ${op}` : op);
      return {title: cut(block.title, 30), note: cut(`${block.size} nodes: ${ops.join(", ")}`, 34), block, kind: "block"};
    });
    this.byKey = index;
    for (const node of this.nodes) addFor(this.standIn(node.id, false, -1));
    const edges = [];
    this.edges.forEach(([from, to, label]) => {
      const a = this.standIn(from, true, to), b = this.standIn(to, false, from);
      if (a === b) return;
      const i = addFor(a), j = addFor(b), key = i * 4194304 + j;
      if (seen.has(key)) return;
      seen.set(key, edges.length);
      edges.push([i, j, label]);
    });
    this.shown = shown;
    this.links = edges;
    this.outOf = new Int32Array(shown.length);
    for (const [from] of edges) ++this.outOf[from];
    this.measure();
    this.plan = layOut(shown.map(box => box.width), edges, this.insides(index, edges));
    this.arrange();
    this.draw();
  }

  // What an open node holds stands below it, and what others give to that above it.
  insides(index, edges) {
    const isLed = new Uint8Array(this.shown.length), below = [];
    const nodeOf = i => this.shown[i].kind === "end" ? undefined : this.shown[i].node;
    for (const [from, to] of edges) {
      const node = nodeOf(to), source = this.shown[from].node;
      let outermost = -1;
      for (let at = node ? node.owner : -1; at >= 0; at = this.nodes[at].owner)
        if (!source || (source.id !== at && !this.isInside(source.id, at))) outermost = at;
      if (outermost < 0) isLed[to] = 1;
      else below.push([from, index.get(outermost)]);
    }
    this.shown.forEach((box, i) => {
      const owner = nodeOf(i) && index.get(box.node.owner);
      if (owner !== undefined && !isLed[i]) below.push([owner, i]);
    });
    return below;
  }

  // Names differ at their ends.
  boxOf(node) {
    return node.kind === "node" ? {title: cut(node.op, 30), note: cutFront(node.name, 34), node, kind: node.kind}
                                : {title: cutFront(node.name, 30), note: node.kind, node, kind: node.kind};
  }

  measure() {
    for (const box of this.shown) {
      const longest = Math.max(box.title.length * 7.4, Math.min(box.note.length, 30) * 5);
      box.width = Math.max(70, Math.min(220, longest + 20));
    }
  }

  // By layers, from left to right: what is in sight is found by two searches.
  arrange() {
    const plan = this.plan;
    this.rows = plan.layers.map(row => row.filter(i => i < plan.count));
    this.piecesFrom = plan.layers.map(() => []);
    for (const piece of plan.pieces) this.piecesFrom[plan.layer[piece[0]]].push(piece);
    this.bounds = {left: 0, right: 0, bottom: plan.layers.length * plan.step};
    for (let i = 0; i < plan.count; ++i) {
      this.bounds.left = Math.min(this.bounds.left, plan.x[i] - plan.width[i] / 2);
      this.bounds.right = Math.max(this.bounds.right, plan.x[i] + plan.width[i] / 2);
    }
    this.boxes = this.openFrames();
  }

  openFrames() {
    const frames = new Map(), plan = this.plan;
    this.shown.forEach((box, i) => {
      if (!box.node) return;
      const include = (key, title) => {
        const f = frames.get(key) || {title, left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity};
        f.left = Math.min(f.left, plan.x[i] - plan.width[i] / 2 - 8);
        f.right = Math.max(f.right, plan.x[i] + plan.width[i] / 2 + 8);
        f.top = Math.min(f.top, plan.layer[i] * plan.step - 8);
        f.bottom = Math.max(f.bottom, plan.layer[i] * plan.step + NODE_HEIGHT + 8);
        frames.set(key, f);
      };
      for (let at = box.node.isOpen ? box.node.id : box.node.owner; at >= 0; at = this.nodes[at].owner)
        include(at, `${this.nodes[at].op} ${this.nodes[at].name}`);
    });
    return [...frames.values()];
  }

  resize() {
    const ratio = window.devicePixelRatio || 1, box = this.canvas.parentElement.getBoundingClientRect();
    if (!box.width || !box.height) return;  // hidden: it will be where it was
    this.canvas.width = Math.max(1, Math.floor(box.width * ratio));
    this.canvas.height = Math.max(1, Math.floor(box.height * ratio));
    if (!this.isPlaced) this.begin();
    this.draw();
  }

  // Everything in sight, or from its beginning what can be read.
  begin() {
    this.fit(READABLE);
  }

  // Pixels above the graph that the buttons take.
  above() {
    const tools = this.canvas.parentElement.querySelector(".tools");
    return tools.offsetTop + tools.offsetHeight + 12;
  }

  fit(least = 0.02) {
    this.isPlaced = true;
    const box = this.canvas.parentElement.getBoundingClientRect();
    const wide = this.bounds.right - this.bounds.left + 40, high = this.bounds.bottom + 20, above = this.above();
    this.scale = Math.min(1, box.width / wide, (box.height - above) / high);
    if (this.scale < least) this.scale = Math.min(1, Math.max(least, box.width / wide));
    const [left, right] = this.extent(0, (box.height - above) / this.scale);
    this.left = (left + right) / 2 - box.width / 2 / this.scale;
    this.top = -above / this.scale;
    this.draw();
  }

  // From where to where the rows between two heights reach: what is seen first stands in the middle.
  extent(top, bottom) {
    const plan = this.plan, rows = this.rows.slice(Math.floor(top / plan.step), Math.ceil(bottom / plan.step)).flat();
    if (!rows.length) return [0, 0];
    return [rows.reduce((least, i) => Math.min(least, plan.x[i] - plan.width[i] / 2), Infinity),
      rows.reduce((most, i) => Math.max(most, plan.x[i] + plan.width[i] / 2), -Infinity)];
  }

  zoom(factor, x, y) {
    const scale = Math.max(0.01, Math.min(4, this.scale * factor));
    this.left += x / this.scale - x / scale;
    this.top += y / this.scale - y / scale;
    this.scale = scale;
    this.draw();
  }

  // Of the page; null: nothing is there.
  boxAt(x, y) {
    const plan = this.plan, gx = this.left + x / this.scale, gy = this.top + y / this.scale;
    const l = Math.floor(gy / plan.step);
    if (l < 0 || l >= this.rows.length || gy - l * plan.step > NODE_HEIGHT) return null;
    const found = this.rows[l].find(i => Math.abs(plan.x[i] - gx) <= plan.width[i] / 2);
    return found === undefined ? null : this.shown[found];
  }

  // Where a node stands in the window, for keys and tests.
  placeOf(id) {
    const i = this.byKey.get(this.standIn(id, false, -1)), box = this.canvas.getBoundingClientRect();
    return {x: box.left + (this.plan.x[i] - this.left) * this.scale,
      y: box.top + (this.plan.layer[i] * this.plan.step + NODE_HEIGHT / 2 - this.top) * this.scale};
  }

  select(target, isQuiet) {
    this.selected = target;
    if (!isQuiet) this.events.selected(target);
    this.draw();
  }

  // Opens what hides the node, and brings it into the middle.
  show(id) {
    const node = this.nodes[id];
    let isChanged = false;
    for (let at = node.owner; at >= 0; at = this.nodes[at].owner)
      if (!this.nodes[at].isOpen) isChanged = this.nodes[at].isOpen = true;
    for (let block = this.rootOf(node).block; block; block = block.parent)
      if (!block.isOpen) isChanged = block.isOpen = true;
    if (isChanged) this.rebuild();
    this.reveal(this.byKey.get(this.standIn(id, false, -1)));
    this.select(node);
  }

  toggle(box) {
    if (!box) return;
    const anchor = box.node || box.block;
    if (box.block) box.block.isOpen = true;
    else if (box.node.hasBody) box.node.isOpen = !box.node.isOpen;
    else if (box.node.block) box.node.block.isOpen = false;
    else return;
    const before = this.windowPlace(anchor);
    this.rebuild();
    const after = this.windowPlace(anchor);
    if (before && after) {  // what was clicked stays where it is
      this.left += (after.x - before.x) / this.scale;
      this.top += (after.y - before.y) / this.scale;
    }
    this.select(anchor);
  }

  close(block) {
    block.isOpen = false;
    this.rebuild();
    this.reveal(this.byKey.get(this.closedBlock(block).key));
    this.select(block);
  }

  // Into the middle, large enough to be read.
  reveal(i) {
    this.isPlaced = true;
    const box = this.canvas.parentElement.getBoundingClientRect();
    this.scale = Math.max(this.scale, 0.8);
    this.left = this.plan.x[i] - box.width / 2 / this.scale;
    this.top = this.plan.layer[i] * this.plan.step - box.height / 2 / this.scale;
  }

  // Where a node, or a block or its first node, stands in the window; null: nowhere.
  windowPlace(target) {
    const node = target.id !== undefined ? target : this.nodes.find(n => n.block && this.isWithin(n.block, target));
    return node ? this.placeOf(node.id) : null;
  }

  isWithin(block, outer) {
    while (block && block !== outer) block = block.parent;
    return block === outer;
  }

  setAll(isOpen) {
    for (const block of this.blocks) block.isOpen = isOpen;
    this.rebuild();
    this.begin();
  }

  // The next node after the selected one that the other model has not, or otherwise.
  showDifference() {
    const from = this.selected && this.selected.id !== undefined ? this.selected.id : -1;
    const differ = this.nodes.filter(n => n.mark && n.mark !== "same"), next = differ.find(n => n.id > from) || differ[0];
    if (next) this.show(next.id);
  }

  step(isDown) {
    const from = this.selected && this.selected.id !== undefined ? this.selected.id : -1;
    const next = from < 0 ? 0 : (this.edges.find(e => (isDown ? e[0] : e[1]) === from) || [])[isDown ? 1 : 0];
    if (next !== undefined) this.show(next);
  }

  // To the next one on the same height.
  beside(by) {
    const at = this.shown.findIndex(b => b.node === this.selected || b.block === this.selected);
    if (at < 0 || !this.selected) return;
    const row = this.rows[this.plan.layer[at]], next = this.shown[row[row.indexOf(at) + by]];
    if (!next) return;
    if (next.node) this.show(next.node.id);
    else this.select(next.block);
  }

  listen() {
    const canvas = this.canvas;
    const fingers = new Map();
    let drag = null;
    const at = event => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey || event.altKey) return this.zoom(Math.exp(-event.deltaY / 300), ...at(event));
      this.left += event.deltaX / this.scale;
      this.top += event.deltaY / this.scale;
      this.draw();
    }, {passive: false});
    canvas.addEventListener("pointerdown", event => {
      fingers.set(event.pointerId, at(event));
      drag = {x: event.clientX, y: event.clientY, left: this.left, top: this.top, isMoved: fingers.size > 1};
      canvas.setPointerCapture(event.pointerId);
    });
    // Two fingers zoom: what is between them stays there.
    const pinch = (id, to) => {
      const [[x0, y0], [x1, y1]] = [...fingers.values()], before = Math.hypot(x1 - x0, y1 - y0);
      fingers.set(id, to);
      const [[x2, y2], [x3, y3]] = [...fingers.values()];
      this.left -= (x2 + x3 - x0 - x1) / 2 / this.scale;
      this.top -= (y2 + y3 - y0 - y1) / 2 / this.scale;
      this.zoom(Math.hypot(x3 - x2, y3 - y2) / Math.max(1, before), (x2 + x3) / 2, (y2 + y3) / 2);
    };
    canvas.addEventListener("pointermove", event => {
      if (!drag) return;
      if (fingers.size === 2) return pinch(event.pointerId, at(event));
      drag.isMoved ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4;
      if (!drag.isMoved || fingers.size > 2) return;
      this.left = drag.left - (event.clientX - drag.x) / this.scale;
      this.top = drag.top - (event.clientY - drag.y) / this.scale;
      this.draw();
    });
    canvas.addEventListener("pointercancel", event => {
      fingers.delete(event.pointerId);
      drag = null;
    });
    canvas.addEventListener("pointerup", event => {
      fingers.delete(event.pointerId);
      const isClick = drag && !drag.isMoved;
      drag = null;
      if (!isClick) return;
      const box = this.boxAt(...at(event));
      this.select(box ? box.node || box.block : null);
    });
    canvas.addEventListener("dblclick", event => this.toggle(this.boxAt(...at(event))));
    canvas.addEventListener("keydown", event => {
      const box = canvas.getBoundingClientRect();
      const keys = {"+": () => this.zoom(1.25, box.width / 2, box.height / 2), "-": () => this.zoom(0.8, box.width / 2, box.height / 2),
        "0": () => this.fit(), ArrowDown: () => this.step(true), ArrowUp: () => this.step(false),
        n: () => this.showDifference(), ArrowLeft: () => this.beside(-1), ArrowRight: () => this.beside(1), Escape: () => this.select(null),
        Enter: () => this.selected && this.toggle(this.shown.find(b => b.node === this.selected || b.block === this.selected))};
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}
