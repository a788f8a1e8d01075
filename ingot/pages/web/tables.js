// Tables of layers and weights, and the order of all tables.

// Tables are filled when they are first looked at, as far as a browser stays quick.
const MOST_ROWS = 3000;

function fill(table, list, makeRow, keys) {
  const body = table.querySelector("tbody");
  if (body.children.length) return;
  const show = sorted => body.replaceChildren(...sorted.slice(0, MOST_ROWS).map(makeRow));
  makeSortable(table, list, keys, show);
  show(list);
  if (list.length > MOST_ROWS) table.after(element("p", `${list.length - MOST_ROWS} more are not shown here`, "hint"));
}

// The heads of the columns become buttons that sort by what `keys` gives of an entry, numbers from the largest on; the
// same once more turns the order around.
function makeSortable(table, list, keys, show) {
  const words = new Intl.Collator("en", {numeric: true}), heads = [...table.querySelectorAll("thead th")];
  heads.slice(0, keys.length).forEach((head, i) => {
    const button = element("button", head.textContent, "sort");
    button.addEventListener("click", () => {
      const values = new Map(list.map(entry => [entry, keys[i](entry)])), isNumber = [...values.values()].some(Number.isFinite);
      const compare = isNumber ? (a, b) => (a ?? -Infinity) - (b ?? -Infinity) || 0 : (a, b) => words.compare(a ?? "", b ?? "");
      const isDown = head.ariaSort ? head.ariaSort === "ascending" : isNumber;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.ariaSort = isDown ? "descending" : "ascending";
      show(list.slice().sort((a, b) => (isDown ? -1 : 1) * compare(values.get(a), values.get(b))));
    });
    head.replaceChildren(button);
  });
}

// "1,234", "3.0 MiB" -> a number; words stay.
function valueOf(text) {
  const parts = text.match(/^(-?[\d,.]+(?:e[+-]?\d+)?)(?: ([KMGT]i)?B)?$/);
  return parts ? Number(parts[1].replaceAll(",", "")) * 1024 ** " KMGT".indexOf((parts[2] || " ")[0]) : text || undefined;
}

// Tables that came with the page.
function makeReady(table) {
  const body = table.tBodies[0], rows = [...body.rows];
  const keys = [...table.tHead.rows[0].cells].map((_, i) => row => valueOf(row.cells[i]?.textContent.trim() || ""));
  makeSortable(table, rows, keys, sorted => body.append(...sorted));
}

function weightRow(w) {
  const row = element("tr");
  for (const text of [w.name, w.type, bytes(w.bytes), number(w.least), number(w.most), number(w.mean), number(w.deviation),
    w.zeros === undefined ? "" : (100 * w.zeros).toFixed(1) + " %"]) row.append(element("td", text));
  const cell = element("td");
  if (w.histogram) cell.append(histogram(w.histogram));
  row.append(cell);
  return row;
}

function costRow(c, most, show) {
  const row = element("tr"), first = element("td", "\u2003".repeat(c.depth || 0)), name = element("button", c.name, "link");
  if (c.id === undefined) first.append(c.name);
  else first.append(name);
  name.addEventListener("click", () => show(c.id));
  row.append(first);
  for (const text of [c.op, c.type, number(c.flops), bytes(c.weights), bytes(c.results)]) row.append(element("td", text));
  const cell = element("td"), bar = element("span", "", "bar");
  bar.style.width = `${100 * (c.flops || 0) / most}px`;
  cell.append(bar);
  row.append(cell);
  return row;
}

function fillSection(name, data, show) {
  if (name === "tensors" && data.weights)
    fill(document.querySelector("#weights"), data.weights, weightRow, [w => w.name, w => w.type, w => w.bytes, w => w.least,
      w => w.most, w => w.mean, w => w.deviation, w => w.zeros]);
  if (name !== "layers" || !data.costs) return;
  const most = data.costs.reduce((largest, c) => Math.max(largest, c.flops || 0), 1);
  const byPlace = new Map(data.graphs[0].nodes.map((n, id) => [n.place, id]));
  for (const c of data.costs) c.id = byPlace.get(c.place);
  fill(document.querySelector("#costs"), data.costs, c => costRow(c, most, show), [c => c.name, c => c.op, c => c.type,
    c => c.flops, c => c.weights, c => c.results]);
}
