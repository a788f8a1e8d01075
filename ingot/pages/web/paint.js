// Draws a graph on a canvas: only what is in sight, so that large graphs stay fluid.

const HUES = {Conv: 215, ConvTranspose: 215, MatMul: 215, Gemm: 215, QLinearConv: 215, Relu: 25, Sigmoid: 25, Tanh: 25,
  Clip: 25, Softmax: 25, Gelu: 25, MaxPool: 150, AveragePool: 150, GlobalAveragePool: 150, Add: 280, Mul: 280, Sub: 280,
  Div: 280, Concat: 330, Reshape: 330, Transpose: 330, BatchNormalization: 95, LayerNormalization: 95};

const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
const cutFront = (text, most) => text.length > most ? "…" + text.slice(1 - most) : text;

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.frames = 0;
  }

  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.paint();
    });
  }

  paint() {
    const c = this.context, ratio = window.devicePixelRatio || 1, plan = this.plan;
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(["page", "ink", "faint", "line", "box", "accent", "good", "bad", "warn"].map(
        name => [name, style.getPropertyValue("--" + name).trim()]));
    const isDark = style.getPropertyValue("--dark").trim() === "1";
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = this.colours.page;
    c.fillRect(0, 0, this.canvas.width, this.canvas.height);
    c.setTransform(this.scale * ratio, 0, 0, this.scale * ratio, -this.left * this.scale * ratio, -this.top * this.scale * ratio);
    const high = this.canvas.height / ratio / this.scale, wide = this.canvas.width / ratio / this.scale;
    const first = Math.max(0, Math.floor(this.top / plan.step) - 1);
    const last = Math.min(plan.layers.length - 1, Math.ceil((this.top + high) / plan.step));
    this.paintFrames(c);
    this.paintEdges(c, first, last, wide);
    for (let l = first; l <= last; ++l)
      for (const i of this.rows[l]) {
        if (plan.x[i] + plan.width[i] < this.left || plan.x[i] - plan.width[i] > this.left + wide) continue;
        this.paintBox(c, i, isDark);
      }
    ++this.frames;
  }

  paintFrames(c) {
    c.strokeStyle = this.colours.accent;
    c.lineWidth = 1;
    c.setLineDash([5, 4]);
    for (const f of this.boxes) c.strokeRect(f.left, f.top, f.right - f.left, f.bottom - f.top);
    c.setLineDash([]);
    if (this.scale < 0.35) return;
    c.fillStyle = this.colours.accent;
    c.font = "10px system-ui, sans-serif";
    c.textAlign = "left";
    for (const f of this.boxes) c.fillText(f.title.slice(0, 60), f.left + 6, f.top - 4, f.right - f.left - 8);
  }

  paintEdges(c, first, last, wide) {
    const plan = this.plan, isSmall = this.scale < 0.35;
    c.strokeStyle = this.colours.line;
    c.lineWidth = isSmall ? 1 / this.scale * 0.6 : 1.2;
    c.beginPath();
    const top = n => plan.layer[n] * plan.step, bottom = n => top(n) + NODE_HEIGHT;
    const draw = (from, to) => {
      const x0 = plan.x[from], x1 = plan.x[to], y = bottom(from), end = top(to);
      c.moveTo(x0, from < plan.count ? y : top(from));  // through a layer edges go straight
      c.lineTo(x0, y);
      if (isSmall || x0 === x1) c.lineTo(x1, end);
      else c.bezierCurveTo(x0, y + 18, x1, end - 18, x1, end);
    };
    for (let l = Math.max(0, first - 1); l <= last; ++l) for (const [from, to] of this.piecesFrom[l]) draw(from, to);
    for (const [from, to] of plan.far) if (plan.layer[to] >= first && plan.layer[from] <= last) draw(from, to);
    c.stroke();
    if (this.scale >= 0.7) this.paintTypes(c, first, last, wide);
  }

  // Types stand on the outer side of their edges, and where edges have parted; one that would cover another is left out.
  paintTypes(c, first, last, wide) {
    const plan = this.plan, taken = new Map();
    c.fillStyle = this.colours.faint;
    c.font = "9px system-ui, sans-serif";
    for (let l = Math.max(0, first - 1); l <= last; ++l)
      for (const [from, to, edge] of this.piecesFrom[l]) {
        const type = this.links[edge][2], lean = plan.x[to] - plan.x[from];
        if (from >= plan.count || !type || Math.abs(plan.x[from] - this.left - wide / 2) > wide) continue;
        const isFork = this.outOf[this.links[edge][0]] > 1;
        const label = cut(type, 26), y = plan.layer[isFork ? to : from] * plan.step + (isFork ? -7 : NODE_HEIGHT + 13);
        const isLeft = isFork ? lean < -30 : lean > 30, x = plan.x[isFork ? to : from] + (isLeft ? -4 : 4);
        const length = c.measureText(label).width, left = isLeft ? x - length : x;
        const row = taken.get(y) || taken.set(y, []).get(y);
        if (row.some(([begin, end]) => left < end + 6 && begin < left + length + 6)) continue;
        row.push([left, left + length]);
        c.textAlign = isLeft ? "right" : "left";
        c.fillText(label, x, y);
      }
  }

  fillOf(box, isDark) {
    const marks = {only: "bad", changed: "warn", same: "box"};
    const mark = (box.node || box.block).mark;
    if (mark && mark !== "same") return this.colours[marks[mark]];
    if (box.kind !== "node") return this.colours.box;
    const hue = HUES[box.node.op];
    if (hue === undefined) return this.colours.box;
    return `hsl(${hue} 45% ${isDark ? 26 : 88}%)`;
  }

  paintBox(c, i, isDark) {
    const plan = this.plan, box = this.shown[i], x = plan.x[i] - plan.width[i] / 2, y = plan.layer[i] * plan.step;
    const isSelected = this.selected && (box.node ? box.node === this.selected : box.block === this.selected);
    c.fillStyle = this.fillOf(box, isDark);
    if (this.scale < 0.25) {
      c.fillRect(x, y, plan.width[i], NODE_HEIGHT);
      if (!isSelected) return;
    }
    c.beginPath();
    c.roundRect(x, y, plan.width[i], NODE_HEIGHT, box.kind === "node" || box.kind === "block" ? 6 : 17);
    c.fill();
    c.strokeStyle = isSelected ? this.colours.accent : this.colours.line;
    c.lineWidth = isSelected ? 3 : box.kind === "block" || (box.node && box.node.hasBody) ? 2 : 1;
    c.stroke();
    if (this.scale < 0.25) return;
    c.fillStyle = this.colours.ink;
    c.textAlign = "center";
    c.font = "600 12px system-ui, sans-serif";
    c.fillText(box.title, plan.x[i], y + 15, plan.width[i] - 10);
    c.fillStyle = this.colours.faint;
    c.font = "9px system-ui, sans-serif";
    c.fillText(box.note, plan.x[i], y + 27, plan.width[i] - 8);
  }
}
