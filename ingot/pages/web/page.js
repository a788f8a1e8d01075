// The page: what is searched, selected and shown beside the graph. Everything from a model becomes text, never markup.

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function number(value) {
  if (value === null || value === undefined) return "?";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6 ? String(+value.toPrecision(5)) : value.toExponential(3);
}

function bytes(value) {
  if (value === null || value === undefined) return "?";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return `${unit ? value.toFixed(1) : value} ${units[unit]}`;
}

function facts(rows) {
  const list = element("dl");
  for (const [name, value] of rows) {
    if (value === undefined || value === "" || value === null) continue;
    list.append(element("dt", name), element("dd", String(value)));
  }
  return list;
}

function histogram(counts) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), most = Math.max(1, ...counts);
  svg.setAttribute("viewBox", `0 0 ${counts.length * 4} 40`);
  svg.setAttribute("class", "histogram");
  counts.forEach((count, i) => {
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect"), high = 40 * count / most;
    for (const [key, value] of Object.entries({x: i * 4, y: 40 - high, width: 3, height: high})) bar.setAttribute(key, value);
    svg.append(bar);
  });
  return svg;
}

// Where a node is, from the outermost block inwards: a click closes the block.
function describeBlocks(node, panel, close) {
  const around = [];
  for (let block = node.block; block; block = block.parent) around.unshift(block);
  if (!around.length) return;
  const list = element("p", "inside ");
  for (const block of around) {
    const button = element("button", block.title, "link");
    button.title = "close this block";
    button.addEventListener("click", () => close(block));
    list.append(block === around[0] ? "" : " / ", button);
  }
  panel.append(list);
}

function describeNode(node, panel, show) {
  const d = node.data;
  panel.append(element("h3", node.kind === "node" ? node.op : node.kind), facts([["name", d.unnamed ? undefined : node.name], ["domain", d.domain],
    ["came from", d.source && (d.sourceOp ? `${d.source} (${d.sourceOp})` : d.source)], ["type", d.type], ["says", d.doc],
    ["operations", d.flops === undefined ? undefined : number(d.flops)], ["weights", d.weights && bytes(d.weights)],
    ["results", d.results === undefined ? undefined : bytes(d.results)], ["change", (d.changes || []).join("\n")]]));
  if (d.attributes) panel.append(element("h4", "attributes"), facts(d.attributes));
  for (const [title, values] of [["reads", d.inputs], ["makes", d.outputs]]) {
    if (!values || !values.length) continue;
    const list = element("ul");
    for (const [name, type, id] of values) {
      const item = element("li");
      const text = type ? `${name}: ${type}` : name;
      if (id === undefined || id < 0) item.textContent = text;
      else {
        const button = element("button", text, "link");
        button.addEventListener("click", () => show(id));
        item.append(button);
      }
      list.append(item);
    }
    panel.append(element("h4", title), list);
  }
}

function describeBlock(block, panel) {
  panel.append(element("h3", block.title), facts([["nodes", block.size]]), element("h4", "operators"),
      facts([...block.ops].sort((a, b) => b[1] - a[1])));
}

function wireSearch(input, results, view) {
  let found = [];
  const search = () => {
    const words = input.value.trim().toLowerCase();
    results.replaceChildren();
    found = words ? view.nodes.filter(n => n.name.toLowerCase().includes(words) || n.op.toLowerCase().includes(words)) : [];
    results.hidden = !words;
    for (const node of found.slice(0, 50)) {
      const button = element("button", `${node.op || node.kind} ${node.name}`);
      button.addEventListener("click", () => view.show(node.id));
      const item = element("li");
      item.append(button);
      results.append(item);
    }
    if (words) results.append(element("li", `${found.length} found`));
  };
  input.addEventListener("input", search);
  input.addEventListener("keydown", event => {
    if (event.key === "Enter" && found.length) view.show(found[0].id);
    if (event.key === "Escape") {
      input.value = "";
      search();
    }
  });
}

function makeView(section, data) {
  const canvas = section.querySelector("canvas"), panel = section.querySelector(".panel");
  const view = new GraphView(canvas, data, {selected: target => {
    panel.replaceChildren();
    if (!target) return panel.append(element("p", "Click a node; double-click opens or closes a block.", "hint"));
    if (target.ops) return describeBlock(target, panel);
    describeNode(target, panel, id => view.show(id));
    describeBlocks(target, panel, block => view.close(block));
    if (view.peer && target.data && target.data.twin !== undefined) view.peer.show2(target.data.twin);
  }});
  view.show2 = id => {
    const events = view.events;
    view.events = {selected: () => {}};
    view.show(id);
    view.events = events;
  };
  section.querySelector("[data-do=next]").hidden = !view.nodes.some(n => n.mark && n.mark !== "same");
  wireSearch(section.querySelector(".search"), section.querySelector(".results"), view);
  for (const button of section.querySelectorAll("[data-do]"))
    button.addEventListener("click", () => {
      const box = canvas.getBoundingClientRect();
      ({"in": () => view.zoom(1.25, box.width / 2, box.height / 2), out: () => view.zoom(0.8, box.width / 2, box.height / 2),
        fit: () => view.fit(), next: () => view.showDifference(), open: () => view.setAll(true), close: () => view.setAll(false)})[button.dataset.do]();
    });
  view.select(null);
  canvas.ingotView = view;
  return view;
}

function wireTabs(data) {
  const tabs = [...document.querySelectorAll("nav button[data-tab]")];
  const open = name => {
    for (const section of document.querySelectorAll("main > section")) section.hidden = section.id !== name;
    for (const tab of tabs) tab.setAttribute("aria-selected", tab.dataset.tab === name);
    fillSection(name, data, id => {
      open("graph");
      views[0].show(id);
      views[0].canvas.focus();
    });
  };
  for (const tab of tabs) tab.addEventListener("click", () => open(tab.dataset.tab));
  document.querySelector("#theme").addEventListener("click", () => {
    const root = document.documentElement, isDark = getComputedStyle(root).getPropertyValue("--dark").trim() === "1";
    root.dataset.theme = isDark ? "light" : "dark";
    for (const canvas of document.querySelectorAll("canvas")) if (canvas.ingotView) canvas.ingotView.draw();
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    document.querySelector("main > section:not([hidden]) .search")?.focus();
  });
}

const data = JSON.parse(document.getElementById("data").textContent);
let views = [];
wireTabs(data);
for (const table of document.querySelectorAll("table.sortable")) makeReady(table);
views = [...document.querySelectorAll(".graph")].map((section, i) => makeView(section, data.graphs[i]));
if (views.length === 2) [views[0].peer, views[1].peer] = [views[1], views[0]];
document.documentElement.dataset.ready = "yes";
