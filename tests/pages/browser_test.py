#!/usr/bin/env python3
"""Pages of `ingot report` in a real browser: real clicks, real keys. browser_test.py INGOT [--large]"""
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import browser as driver  # noqa: E402

INGOT = os.path.abspath(sys.argv.pop(1))
LARGE = "--large" in sys.argv and (sys.argv.remove("--large") or True)

SMALL = """<ir_version: 8, opset_import: ["": 17]>
net (float[1, 8] x, bool c) => (float[1, 8] y) <float[8, 8] w = {%s}> {
%s
  ["tail/choice"] y = If(c) <then_branch = t () => (float[1, 8] p) {[neg] p = Neg(h8)},
                           else_branch = e () => (float[1, 8] q) {[abs] q = Abs(h8)}>
}""" % (", ".join(["0.5"] * 64), "\n".join(
    '  ["block%d/product"] m%d = MatMul(%s, w)\n  ["block%d/relu"] h%d = Relu(m%d)'
    % (i, i, "x" if i == 1 else f"h{i - 1}", i, i, i) for i in range(1, 9)))

BAD_NAME = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked=2'>\" onclick=\"hacked=3\"\u202e"
CASES = pathlib.Path("/usr/include/onnx/backend/test/data/node")
VIEW = "document.querySelector('canvas').ingotView"


def bad(number):
    """A name that would do harm, as the text syntax writes any bytes."""
    return "0x" + f"{BAD_NAME}{number}".encode().hex()


# Every text that a model can hold, and each of them hostile.
HOSTILE = f"""<ir_version: 10, opset_import: ["": 21, {bad(1)}: 1], producer_name: {bad(2)}, producer_version: {bad(3)},
  domain: {bad(4)}, doc_string: {bad(5)}, metadata_props: [{bad(6)}: {bad(7)}]>
{bad(8)} %{{doc_string: {bad(9)}, metadata_props: [{bad(10)}: {bad(11)}]}}
  (float[{bad(12)} %{{denotation: {bad(13)}}}, 3] {bad(14)} %{{doc_string: {bad(15)}, metadata_props: [{bad(16)}: {bad(17)}]}},
   bool {bad(18)}) => (float[{bad(12)}, 3] {bad(19)}, float[{bad(20)}] {bad(21)})
<float[3] {bad(22)} = {{1, 2, 3}} %{{doc_string: {bad(23)}, metadata_props: [{bad(24)}: {bad(25)}]}}, float[?, 3] {bad(26)}> {{
  [{bad(27)}] {bad(26)} = {bad(1)}.{bad(28)} <{bad(29)} = {bad(30)}, {bad(31)} = [{bad(32)}], {bad(33)}: type_proto = float[{bad(34)}]>
    ({bad(14)}, {bad(22)}) %{{doc_string: {bad(35)}, metadata_props: ["ingot.source": {bad(36)}, "ingot.source_op": {bad(37)}, {bad(38)}: {bad(39)}]}}
  [{bad(40)}] {bad(19)} = If({bad(18)}) <then_branch: graph = {bad(41)} () => (float[{bad(12)}, 3] {bad(42)})
      {{[{bad(43)}] {bad(42)} = Neg({bad(14)})}}, else_branch: graph = {bad(44)} () => (float[{bad(12)}, 3] {bad(45)})
      {{[{bad(46)}] {bad(45)} = {bad(47)}.{bad(48)}({bad(14)})}}>
  {bad(21)} = {bad(49)}.{bad(50)}({bad(14)})
}}
<domain: {bad(49)}, opset_import: ["": 21], doc_string: {bad(51)}>
{bad(50)} <{bad(52)}> ({bad(53)}) => ({bad(54)}) {{[{bad(55)}] {bad(54)} = Relu({bad(53)})}}
"""


def chain(length):
    nodes = "\n".join(f"  [node{i}] v{i + 1} = {('Relu', 'Neg', 'Abs', 'Exp', 'Tanh', 'Sin', 'Cos')[i * i % 7]}(v{i})"
                      for i in range(length))
    return f'<ir_version: 8, opset_import: ["": 17]>\nlong (float[8] v0) => (float[8] v{length}) {{\n{nodes}\n}}'


def tangle(length):
    """Branches that join near and far: nothing is repeated, so that nothing can be closed."""
    draw, lines = random.Random(3), []
    for i in range(length):
        if i < 3 or draw.random() < 0.6:
            op, inputs = draw.choice(("Relu", "Neg", "Abs", "Exp", "Tanh")), f"v{max(0, i - draw.choice((0, 0, 0, 1, 2)))}"
        else:
            op, inputs = draw.choice(("Add", "Mul")), f"v{i}, v{max(0, i - draw.choice((1, 2, 3, 5, 40, 300)))}"
        lines.append(f"  [node{i}] v{i + 1} = {op}({inputs})")
    body = "\n".join(lines)
    return f'<ir_version: 8, opset_import: ["": 17]>\ntangle (float[8] v0) => (float[8] v{length}) {{\n{body}\n}}'


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not driver.PROGRAM:
            raise unittest.SkipTest("chromium is not installed")
        cls.folder = tempfile.TemporaryDirectory()
        cls.browser = driver.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def page(self, text, name="model"):
        path = pathlib.Path(self.folder.name)
        (path / f"{name}.onnxtxt").write_text(text)
        subprocess.run([INGOT, "report", path / f"{name}.onnxtxt", "-o", path / "site", "-q"], check=True)
        return f"file://{path}/site/{name}.onnxtxt.html"

    def node(self, name):
        return self.browser.value(f"(() => {{const v = {VIEW}; const n = v.nodes.find(n => n.name === '{name}');"
                                  "return v.placeOf(n.id);})()")


@unittest.skipIf(LARGE, "the large page alone")
class Others(Pages):
    """Pages beside those of models: differences, training, scoreboards, collections; and what hostile names do there."""

    def setUp(self):
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.assertEqual(self.browser.complaints, [])
        self.assertIsNone(self.browser.value("window.hacked"))

    def ingot(self, *words, code=0):
        done = subprocess.run([INGOT, *map(str, words)], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)

    def text(self, selector="body"):
        return self.browser.value(f"document.querySelector('{selector}').innerText")

    def hostile(self, name):
        """A model that runs and whose graph, node and values have names that would do harm."""
        text = SMALL.replace('["block1/product"]', f"[{bad(1)}]").replace("net (", f"{bad(2)} (").replace("m1", bad(3))
        (self.path / "bad.onnxtxt").write_text(text)
        self.ingot("convert", "bad.onnxtxt", "-o", name, "-q")

    def walk(self, page):
        """Opens all there is to open: tabs, blocks, graphs, nodes, searches."""
        self.browser.open(f"file://{self.path}/{page}")
        for tab in self.browser.value("[...document.querySelectorAll('[data-tab]')].map(t => t.dataset.tab)"):
            self.browser.click_on(f"[data-tab={tab}]")
        said = self.browser.value("""(() => {
          const said = [];
          for (const canvas of document.querySelectorAll('canvas')) {
            const view = canvas.ingotView, section = canvas.closest('.graph');
            view.setAll(true);
            for (const node of view.nodes) {
              view.show(node.id);
              if (node.hasBody) view.toggle(view.shown.find(b => b.node === node));
              view.paint();
              said.push(section.querySelector('.panel').textContent, ...view.shown.flatMap(b => [b.title, b.note]));
            }
            const search = section.querySelector('.search');
            search.value = 'hacked';
            search.dispatchEvent(new Event('input'));
            said.push(section.querySelector('.results').textContent);
          }
          return said.join(' ');
        })()""")
        made = "document.querySelectorAll('img, main script, [onclick], [onerror], iframe, object, embed, base').length"
        self.assertEqual(self.browser.value(made), 0, page)
        raw = "document.documentElement.textContent.split(document.querySelector('#data')?.textContent).join('')"
        self.assertNotIn("\u202e", self.browser.value(raw) + self.browser.value("document.title") + said, page)  # turns text around
        self.assertIsNone(self.browser.value("window.hacked"), page)
        return said

    def test_two_models_side_by_side(self):
        (self.path / "a.onnxtxt").write_text(SMALL)
        (self.path / "b.onnxtxt").write_text(SMALL.replace('["block3/relu"] h3 = Relu(m3)', '["block3/tanh"] h3 = Tanh(m3)'))
        self.ingot("diff", "a.onnxtxt", "b.onnxtxt", "--report", "diff.html", code=1)
        self.browser.open(f"file://{self.path}/diff.html")
        views = "[...document.querySelectorAll('canvas')].map(c => c.ingotView)"
        self.assertEqual(self.browser.value(views + ".length"), 2)
        marks = self.browser.value(f"{views}.map(v => v.nodes.filter(n => n.mark && n.mark !== 'same').map(n => n.name))")
        self.assertEqual(marks, [["block3/relu", "block4/product"], ["block3/tanh", "block4/product"]])  # which reads another
        boxes = self.browser.value("[...document.querySelectorAll('canvas')].map(c => c.getBoundingClientRect().left)")
        self.assertLess(boxes[0] + 200, boxes[1])  # beside, not below
        self.browser.value(f"{views}[0].show({views}[0].nodes.find(n => n.name === 'block5/relu').id)")
        self.browser.wait(f"{views}[1].selected?.name === 'block5/relu'")  # the other side follows
        self.browser.value(f"{views}[0].setAll(false)")
        marked = f"{views}[0].shown.filter(b => b.block?.mark === 'changed').map(b => b.title)"
        self.assertEqual(self.browser.value(marked), ["block3", "block4"])  # closed blocks tell that something differs in them
        for name in ("block3/relu", "block4/product", "block3/relu"):
            self.browser.click_on("[data-do=next]")
            self.browser.wait(f"{views}[0].selected?.name === '{name}'")
        self.browser.click_on("[data-tab=words]")
        self.assertIn("block3/tanh", self.text("#words"))

    def test_training_curves(self):
        lines = [{"step": i, "loss": 1 / i, "lr": 0.1} for i in range(1, 20)]
        (self.path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (self.path / "trained.onnxtxt").write_text(SMALL)
        self.ingot("report", "trained.onnxtxt", "-o", "site", "--training", "log.jsonl", "-q")
        self.browser.open(f"file://{self.path}/site/trained.onnxtxt.html")
        self.browser.click_on("[data-tab=training]")
        lines = "document.querySelectorAll('#training svg polyline, #training svg path')"
        self.assertGreaterEqual(self.browser.value(lines + ".length"), 1)
        self.assertGreater(self.browser.value(f"{lines}[0].getBoundingClientRect().width"), 100)

    @unittest.skipUnless(CASES.is_dir(), "libonnx-testdata is not installed")
    def test_a_scoreboard_leads_to_its_operators(self):
        words = ["scoreboard", CASES, "--filter", "test_abs", "--filter", "test_bernoulli", "--filter", "test_add*",
                 "--no-hidden-shapes", "-q"]
        self.ingot(*words, "--label", "one", "--json", "one.json")
        self.ingot(*words, "--label", "two", "--before", "one.json", "-o", "board")
        self.browser.open(f"file://{self.path}/board/index.html")
        self.assertIn("tflite and back", self.text("#operators"))
        self.browser.click_on("[data-tab=types]")
        self.assertIn("uint8", self.text("#types"))
        self.browser.click_on("[data-tab=history]")
        self.assertEqual(self.browser.value("document.querySelectorAll('#history table tr:nth-child(2) td').length"), 3)
        self.browser.click_on("[data-tab=operators]")
        self.browser.value("document.querySelector('a[href=\"op-Bernoulli.html\"]').click()")
        self.browser.wait("document.title === 'Bernoulli' && document.documentElement.dataset.ready === 'yes'")
        self.assertIn("test_bernoulli", self.text("#cases"))
        self.browser.click_on("[data-tab=reasons]")  # without a mouse, too
        self.assertRegex(self.text("#reasons"), r"ingot\s+failed\s+output 'y' element .* expected")

    def test_lists_lead_to_pages_of_any_name(self):
        names = ["a#b?c%20 d.onnxtxt", "javascript:window.hacked=1.onnxtxt", "\u202ex'\".onnxtxt"]
        for name in names:
            (self.path / name).write_text(SMALL)
        (self.path / "damaged.onnx").write_text("")
        self.ingot("report", *names, "damaged.onnx", "-o", "many", "-q", code=3)
        for i in range(len(names)):
            self.browser.open(f"file://{self.path}/many/index.html")
            self.assertIn("64\t256 B", self.text())
            self.browser.value(f"document.querySelectorAll('main a')[{i}].click()")
            self.browser.wait("document.documentElement?.dataset.ready === 'yes' && !!document.querySelector('canvas')")
        self.assertIsNone(self.browser.value("window.hacked"))

    def test_a_model_that_does_not_run_has_a_page(self):
        (self.path / "wrong.onnxtxt").write_text(SMALL.replace("Relu(m3)", "Rellu(m3)"))
        self.ingot("report", "wrong.onnxtxt", "-o", "site", "--verify", "-q")
        self.browser.open(f"file://{self.path}/site/wrong.onnxtxt.html")
        self.browser.click_on("[data-tab=verification]")
        self.assertIn("not verified", self.text("#verification"))
        self.assertIn("Rellu", self.text("#verification"))

    def test_hostile_names_are_text_everywhere(self):
        self.hostile("bad.onnx")
        (self.path / "good.onnxtxt").write_text(SMALL.replace("Neg(h8)", "Exp(h8)"))
        (self.path / "zoo").mkdir()
        name = "<img src=x onerror=window.hacked=4>.onnx"
        (self.path / "zoo" / name).write_bytes((self.path / "bad.onnx").read_bytes())
        self.ingot("diff", "good.onnxtxt", "bad.onnx", "--report", "diff.html", code=1)
        self.ingot("zoo-report", "zoo", "-o", "zoo-out", "--peers", "/nowhere", "-q")
        self.ingot("report", "bad.onnx", f"zoo/{name}", "-o", "site", "-q")
        self.ingot("convert", "bad.onnx", "-o", "bad2.onnx", "--opset", "21", "--report", "converted.html", "-q")
        for page in ("diff.html", "zoo-out/index.html", "site/index.html", "site/bad.onnx.html", "converted.html"):
            self.walk(page)

    def test_every_text_of_a_model_is_text(self):
        (self.path / "all.onnxtxt").write_text(HOSTILE)
        (self.path / "other.onnxtxt").write_text(HOSTILE.replace("Relu", "Neg").replace("{1, 2, 3}", "{1, 2, 4}"))
        self.ingot("report", "all.onnxtxt", "-o", "site", "-q")
        said = self.walk("site/all.onnxtxt.html")
        for number in (14, 27, 28, 29, 30, 35, 36, 37, 43, 48, 50, 55):
            self.assertTrue(re.search(rf"u202e{number}(?!\d)", said), number)  # the mark is written out, and all is shown
        self.assertTrue(re.search(r"u202e5(?!\d)", self.browser.value("document.querySelector('#facts').textContent")))
        self.ingot("diff", "all.onnxtxt", "other.onnxtxt", "--report", "both.html", code=1)
        self.walk("both.html")

    def test_the_policy_lets_nothing_else_run(self):
        self.browser.open(self.page(SMALL))
        before = len(self.browser.complaints)
        self.browser.value("(() => {const s = document.createElement('script'); s.textContent = 'window.hacked = 5';"
                           "document.body.append(s); const i = document.createElement('img');"
                           "i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i);"
                           "i.setAttribute('onerror', 'window.hacked = 6');})()")
        self.browser.wait("true")
        for _ in range(100):
            if len(self.browser.complaints) >= before + 2:
                break
            self.browser.value("new Promise(done => setTimeout(done, 20))")
        self.assertIsNone(self.browser.value("window.hacked"))
        refused = [text for text in self.browser.complaints if "Content Security Policy" in text]
        self.assertGreaterEqual(len(refused), 2, self.browser.complaints)
        self.browser.complaints.clear()


@unittest.skipIf(LARGE, "the large page alone")
class Use(Pages):
    def setUp(self):
        self.browser.open(self.page(SMALL))

    def tearDown(self):
        self.assertEqual(self.browser.complaints, [])

    def panel(self):
        return self.browser.value("document.querySelector('.panel').textContent")

    def test_a_click_tells_of_the_node(self):
        self.browser.value(VIEW + ".setAll(true)")
        place = self.node("block1/relu")
        self.browser.click(place["x"], place["y"])
        self.browser.wait("document.querySelector('.panel').textContent.includes('block1/relu')")
        self.assertIn("m1: float[1,8]", self.panel())
        self.browser.click_on(".panel li button")  # what it reads leads on
        self.browser.wait("document.querySelector('.panel').textContent.includes('block1/product')")
        self.assertIn("128", self.panel())  # 2 x 8 x 8 operations

    def test_search_finds_and_shows(self):
        self.browser.click_on(".search")
        self.browser.type("block7/rel")
        self.browser.wait("document.querySelectorAll('.results button').length === 1")
        self.browser.key("Enter")
        self.browser.wait("document.querySelector('.panel').textContent.includes('block7/relu')")
        place = self.node("block7/relu")
        self.assertTrue(0 < place["x"] < 1200 and 0 < place["y"] < 800)

    def test_blocks_close_and_open(self):
        shown = VIEW + ".shown.length"
        self.browser.click_on("[data-do=open]")
        everything = self.browser.value(shown)
        self.browser.click_on("[data-do=close]")
        closed = self.browser.value(shown)
        self.assertLessEqual(closed, everything - 8)
        place = self.node("block3/relu")  # of the block that hides it
        self.browser.click(place["x"], place["y"], 2)
        self.browser.wait(f"{shown} === {closed + 1}")

    def test_graphs_inside_open_in_place(self):
        shown = VIEW + ".shown.length"
        self.browser.value(VIEW + ".setAll(true)")
        before = self.browser.value(shown)
        self.browser.value("document.querySelector('canvas').focus()")
        self.browser.value(f"{VIEW}.show({VIEW}.nodes.find(n => n.op === 'If').id)")
        self.browser.key("Enter")
        self.browser.wait(f"{shown} === {before + 5}")  # two branches of a node and an output, and the end
        self.assertEqual(self.browser.value(VIEW + ".boxes.length"), 1)
        self.browser.key("Enter")
        self.browser.wait(f"{shown} === {before}")

    def test_drag_and_zoom(self):
        self.browser.click_on("[data-do=fit]")
        left, scale = self.browser.value(f"[{VIEW}.left, {VIEW}.scale]")
        self.browser.mouse("mousePressed", 300, 600, button="left", clickCount=1)
        self.browser.mouse("mouseMoved", 400, 650, button="left")
        self.browser.mouse("mouseReleased", 400, 650, button="left", clickCount=1)
        self.assertAlmostEqual(self.browser.value(VIEW + ".left"), left - 100 / scale, delta=1)
        self.browser.mouse("mouseWheel", 300, 400, deltaX=0, deltaY=-300, modifiers=2)
        self.browser.wait(f"{VIEW}.scale > {scale * 1.5}")
        self.browser.click_on("[data-do=out]")
        self.browser.click_on("[data-do=fit]")
        self.assertAlmostEqual(self.browser.value(VIEW + ".scale"), scale, places=6)

    def test_keys_alone_are_enough(self):
        self.browser.click_on("[data-do=open]")
        self.browser.key("/")
        self.assertTrue(self.browser.value("document.activeElement.classList.contains('search')"))
        self.browser.type("block2/product")
        self.browser.key("Enter")
        self.browser.wait(VIEW + ".selected?.name === 'block2/product'")
        self.browser.value("document.querySelector('canvas').focus()")
        self.browser.key("ArrowDown")
        self.browser.wait(VIEW + ".selected?.name === 'block2/relu'")
        self.browser.key("ArrowUp")
        self.browser.key("ArrowUp")
        self.browser.wait(VIEW + ".selected?.name === 'block1/relu'")
        self.browser.value(f"{VIEW}.show({VIEW}.nodes.find(n => n.name === 'neg').id)")  # opens the graph that it is in
        self.browser.key("ArrowRight")
        self.browser.key("ArrowLeft")
        self.browser.key("ArrowRight")
        self.browser.wait(f"['abs', 'neg'].includes({VIEW}.selected?.name)")
        scale = self.browser.value(VIEW + ".scale")
        self.browser.key("+")
        self.assertAlmostEqual(self.browser.value(VIEW + ".scale"), scale * 1.25, places=6)
        self.browser.key("0")
        self.browser.key("Escape")
        self.assertIsNone(self.browser.value(VIEW + ".selected"))
        self.assertEqual(self.browser.value("document.querySelector('canvas').tabIndex"), 0)

    def test_dark_mode(self):
        dark = "getComputedStyle(document.documentElement).getPropertyValue('--dark').trim()"
        self.browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertEqual(self.browser.value(dark), "1")
        self.browser.click_on("#theme")
        self.assertEqual(self.browser.value(dark), "0")
        self.browser.send("Emulation.setEmulatedMedia", features=[])

    def test_what_runs_one_after_the_other_stands_below_each_other(self):
        """Weights that are made by nodes of their own stand aside."""
        lines = "\n".join(f"  c{i} = Constant <value_float = 1.0> ()\n  [step{i}] v{i + 1} = Add(v{i}, c{i})" for i in range(40))
        self.browser.open(self.page(f'<ir_version: 8, opset_import: ["": 17]>\nlong (float[1] v0) => (float[1] v40) {{\n{lines}\n}}', "steps"))
        self.browser.value(VIEW + ".setAll(true)")
        places = self.browser.value(f"{VIEW}.nodes.filter(n => n.op === 'Add').map(n => {VIEW}.plan.x[{VIEW}.byKey.get(n.id)])")
        self.assertEqual(len(places), 40)
        self.assertLess(max(places) - min(places), 5)
        self.assertGreaterEqual(self.browser.value(VIEW + ".scale"), 0.45)  # at first it can be read
        self.browser.key("Escape")
        self.browser.value("document.querySelector('canvas').focus()")
        self.browser.key("0")
        self.assertLess(self.browser.value(VIEW + ".scale"), 0.45)  # and then all of it is seen

    def test_tabs_show_layers_and_weights(self):
        self.browser.click_on("[data-tab=layers]")
        self.assertEqual(self.browser.value("document.querySelectorAll('#costs tbody tr').length"), 19)
        self.browser.click_on("[data-tab=tensors]")
        self.assertEqual(self.browser.value("document.querySelectorAll('#weights .histogram').length"), 1)
        self.assertTrue(self.browser.value("document.querySelector('#layers').hidden"))

    def test_heads_of_columns_sort(self):
        self.browser.click_on("[data-tab=layers]")
        cells = "[...document.querySelectorAll('#costs tbody tr')].map(r => r.cells[{}].textContent)"
        before = self.browser.value(cells.format(0))
        self.browser.click_on("#costs th:nth-child(4) button")
        numbers = [int(n.replace(",", "")) for n in self.browser.value(cells.format(3)) if n != "?"]
        self.assertEqual(numbers, sorted(numbers, reverse=True))
        self.assertEqual(self.browser.value("document.querySelector('#costs th:nth-child(4)').ariaSort"), "descending")
        self.browser.value("document.querySelector('#costs th:nth-child(1) button').focus()")
        self.browser.key("Enter")
        self.browser.wait("document.querySelector('#costs th:nth-child(1)').ariaSort === 'ascending'")
        self.assertEqual(len(self.browser.value(cells.format(0))), len(before))

    def test_a_layer_leads_to_its_node(self):
        self.browser.click_on("[data-tab=layers]")
        for name in ("block2/product", "neg"):  # one that stands in a graph inside, too
            self.browser.value(f"[...document.querySelectorAll('#costs button.link')].find(b => b.textContent === '{name}').click()")
            self.browser.wait(f"!document.querySelector('#graph').hidden && {VIEW}.selected?.name === '{name}'")
            place = self.node(name)
            self.assertTrue(0 < place["x"] < 900 and 0 < place["y"] < 800, place)
            self.browser.click_on("[data-tab=layers]")
        left = self.browser.value(VIEW + ".left")
        self.browser.click_on("[data-tab=graph]")
        time.sleep(0.2)
        self.assertEqual(self.browser.value(VIEW + ".left"), left)  # where it was left

    def test_the_panel_names_the_blocks_around_a_node_and_closes_them(self):
        self.browser.click_on("[data-do=open]")
        self.browser.value(f"{VIEW}.show({VIEW}.nodes.find(n => n.name === 'block3/relu').id)")
        self.assertIn("inside block3", self.panel())
        self.browser.click_on(".panel p button")
        self.browser.wait(VIEW + ".selected?.title === 'block3' && !" + VIEW + ".selected.isOpen")

    def test_a_value_that_many_read_is_one_line_with_branches(self):
        lines = "\n".join(f"  [add{i}] v{i + 1} = Add(v{i}, mask)" for i in range(30))
        text = f'<ir_version: 8, opset_import: ["": 17]>\nlong (float[1] v0, float[1] x) => (float[1] v30) {{\n  mask = Neg(x)\n{lines}\n}}'
        self.browser.open(self.page(text, "mask"))
        self.browser.click_on("[data-do=open]")
        bends = self.browser.value(f"{VIEW}.plan.x.length - {VIEW}.plan.count")
        self.assertLess(bends, 40)  # and not one for each of 30 edges in each of 30 rows
        places = self.browser.value(f"{VIEW}.nodes.filter(n => n.op === 'Add').map(n => {VIEW}.plan.x[{VIEW}.byKey.get(n.id)])")
        self.assertLess(max(places) - min(places), 5)

    def test_types_beside_edges_do_not_cover_each_other(self):
        names = [f"x{i}" for i in range(12)]
        inputs = ", ".join(f"float[batch, 224, 224, 3] {n}" for n in names)
        text = f'<ir_version: 8, opset_import: ["": 17]>\nwide ({inputs}) => (y) {{y = Sum({", ".join(names)})}}'
        self.browser.open(self.page(text, "wide"))
        drawn = self.browser.value(f"""(() => {{
          const drawn = [], view = {VIEW}, c = view.context, fillText = c.fillText;
          c.fillText = (text, x, y, ...rest) => {{
            const width = c.measureText(text).width, left = c.textAlign === 'right' ? x - width : x;
            if (text.startsWith('float')) drawn.push([y, left, left + width]);
            fillText.call(c, text, x, y, ...rest);
          }};
          view.scale = 1;
          view.paint();
          delete c.fillText;
          return drawn;
        }})()""")
        self.assertGreater(len(drawn), 3)
        for y, left, right in drawn:
            self.assertEqual([d for d in drawn if d[0] == y and d[1] < right and left < d[2]], [[y, left, right]])

    def test_calls_and_loops_tell_what_they_cost(self):
        """Whatever the order of the nodes in the file; a function costs what its body does, a loop nobody knows what."""
        self.browser.open(self.page("""<ir_version: 9, opset_import: ["": 18, "my": 1]>
costs (float[8] x, bool c) => (float[8] z) {
  [late] z = Neg(y)
  [called] h = my.Layer(x)
  n = Constant <value_int = 3> ()
  [loop] y = Loop(n, c, h) <body = loop_body (int64 i, bool a, float[8] b) => (bool a2, float[8] b2) {
    a2 = Identity(a)
    [inner] b1 = Mul(b, b)
    b2 = Identity(b1)
  }>
  [product] m = MatMul(x, w)
  [lost] o = Relu(m)
}
<domain: "my", opset_import: ["": 18]>
Layer (a) => (b) { t0 = Relu(a) t1 = Sigmoid(t0) b = Tanh(t1) }""".replace("float[8] z)", "float[8] z, float[4] o)").replace(
            "bool c) =>", "bool c, float[8, 4] w) =>"), "costs"))
        flops = self.browser.value(f"Object.fromEntries({VIEW}.nodes.filter(n => n.kind === 'node').map(n => [n.name, n.data.flops]))")
        self.assertEqual({name: flops.get(name) for name in ("late", "called", "loop", "inner", "product", "lost", "n")},
                         {"late": 8, "called": 24, "loop": None, "inner": 8, "product": 64, "lost": 4, "n": 0})
        self.browser.click_on("[data-tab=layers]")
        cells = self.browser.value("[...document.querySelectorAll('#costs tbody tr')].map(r => [r.cells[0].textContent, r.cells[3].textContent])")
        self.assertIn(["product", "64"], cells)
        self.browser.value("[...document.querySelectorAll('#costs button.link')].find(b => b.textContent.includes('called/t1')).click()")
        self.browser.wait(f"{VIEW}.selected?.name === 'called'")

    def test_a_run_of_one_operator_is_one_block(self):
        body = "\n".join(f"  v{i + 1} = Relu(v{i})" for i in range(12)) + "\n  y = Neg(v12)"
        self.browser.open(self.page(f'<ir_version: 8, opset_import: ["": 17]>\nrun (float[1] v0) => (float[1] y) {{\n{body}\n}}', "run"))
        self.browser.click_on("[data-do=close]")
        self.assertEqual(self.browser.value(VIEW + ".shown.map(b => b.title)"), ["v0", "12 Relu", "Neg", "y"])

    def test_two_fingers_zoom(self):
        self.browser.click_on("[data-do=fit]")
        scale = self.browser.value(VIEW + ".scale")
        fingers = lambda apart: [{"x": 450 - apart, "y": 400, "id": 1}, {"x": 450 + apart, "y": 400, "id": 2}]
        self.browser.send("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        self.browser.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=fingers(50))
        for apart in (60, 80, 100):
            self.browser.send("Input.dispatchTouchEvent", type="touchMove", touchPoints=fingers(apart))
        self.browser.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.browser.send("Emulation.setTouchEmulationEnabled", enabled=False)
        self.assertAlmostEqual(self.browser.value(VIEW + ".scale") / scale, 2, delta=0.1)

    def test_a_narrow_window_shows_the_graph_below_the_buttons(self):
        self.browser.send("Emulation.setDeviceMetricsOverride", width=380, height=700, deviceScaleFactor=1, mobile=False)
        try:
            self.browser.open(self.page(SMALL))
            bottom = self.browser.value("document.querySelector('.tools').getBoundingClientRect().bottom")
            self.assertGreater(self.node("x")["y"] - 17 * self.browser.value(VIEW + ".scale"), bottom)
            self.assertGreater(self.browser.value("document.querySelector('canvas').getBoundingClientRect().height"), 400)
            self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), 380)
        finally:
            self.browser.send("Emulation.clearDeviceMetricsOverride")

    def test_opened_nodes_stay_where_they_were(self):
        self.browser.value(VIEW + ".setAll(true)")
        self.browser.value(f"{VIEW}.show({VIEW}.nodes.find(n => n.op === 'If').id)")
        before = self.node("tail/choice")
        self.browser.value("document.querySelector('canvas').focus()")
        self.browser.key("Enter")
        self.browser.wait(VIEW + ".boxes.length === 1")
        after = self.node("tail/choice")
        self.assertAlmostEqual(before["x"], after["x"], delta=2)
        self.assertAlmostEqual(before["y"], after["y"], delta=2)

    def test_the_graph_begins_below_the_buttons(self):
        bottom = self.browser.value("document.querySelector('.tools').getBoundingClientRect().bottom")
        self.assertGreater(self.node("x")["y"] - 17 * self.browser.value(VIEW + ".scale"), bottom)
        middle = self.browser.value("(() => {const b = document.querySelector('canvas').getBoundingClientRect();"
                                    "return b.left + b.width / 2;})()")
        self.assertLess(abs(self.node("x")["x"] - middle), 150)

    def test_layers_inside_are_counted_too(self):
        self.browser.click_on("[data-tab=layers]")
        names = self.browser.value("[...document.querySelectorAll('#costs tbody tr td:first-child')].map(c => c.textContent)")
        self.assertEqual([name for name in names if name.startswith("\u2003")], ["\u2003neg", "\u2003abs"])


@unittest.skipIf(LARGE, "the large page alone")
class View(unittest.TestCase):
    def test_only_this_machine_and_only_who_knows_the_address(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "m.onnxtxt"
            model.write_text(SMALL)
            server = subprocess.Popen([INGOT, "view", "--no-browser", "-q", model], stdout=subprocess.PIPE, text=True)
            try:
                address = server.stdout.readline().strip()
                host, path = address.removeprefix("http://").split("/", 1)

                def ask(where, **headers):
                    connection = http.client.HTTPConnection(host, timeout=10)
                    connection.request(headers.pop("method", "GET"), where, headers=headers)
                    answer = connection.getresponse()
                    return answer.status, answer.read().decode(), dict(answer.getheaders())

                status, page, headers = ask("/" + path)
                self.assertEqual(status, 200)
                self.assertIn("block1/relu", page)
                self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
                self.assertEqual(ask("/")[0], 404)
                self.assertEqual(ask("/" + path, Host="evil.example")[0], 403)
                self.assertEqual(ask("/" + path, method="POST")[0], 405)
                self.assertTrue(host.startswith("127.0.0.1:"))
                twice = f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n"
                with socket.create_connection(host.split(":"), timeout=10) as own:
                    own.send(twice.encode())
                    self.assertTrue(own.recv(100).startswith(b"HTTP/1.1 403"))
                idle = [socket.create_connection(host.split(":")) for _ in range(100)]  # browsers open some in advance
                begin = time.monotonic()
                self.assertEqual(ask("/" + path)[0], 200)
                self.assertLess(time.monotonic() - begin, 8)
                for one in idle:
                    one.close()
                with socket.create_connection(host.split(":")) as slow:  # a byte now and then keeps nobody waiting
                    begin, stop = time.monotonic(), threading.Event()

                    def drip():
                        while not stop.wait(0.2):
                            try:
                                slow.send(b"G")
                            except OSError:
                                return

                    thread = threading.Thread(target=drip)
                    thread.start()
                    self.assertEqual(ask("/" + path)[0], 200)
                    self.assertLess(time.monotonic() - begin, 8)
                    stop.set()
                    thread.join()
            finally:
                server.send_signal(signal.SIGINT)
                self.assertEqual(server.wait(20), 130)
                server.stdout.close()


@unittest.skipUnless(LARGE, "with --large")
class Large(Pages):
    def load(self, address):
        before = self.browser.work()
        passed = self.browser.open(address, 60)
        return passed, self.browser.work() - before

    def measure(self, text, name):
        address = self.page(text, name)
        loads = [self.load(address) for _ in range(3)]
        passed, worked = min(p for p, _ in loads), min(w for _, w in loads)
        self.assertGreater(self.browser.value(VIEW + ".nodes.length"), 20000)
        self.browser.value(VIEW + ".setAll(true)")
        for scale in (1, 0.03):  # near, and with thousands in sight
            before = self.browser.work()
            frames, seconds = self.browser.value(f"""new Promise(done => {{
              const view = {VIEW};
              view.scale = {scale};
              const begin = performance.now(), first = view.frames;
              const step = () => {{
                view.top += 40 / view.scale; view.draw();
                const passed = performance.now() - begin;
                if (passed < 2000) requestAnimationFrame(step); else done([view.frames - first, passed / 1000]);
              }};
              step();
            }})""")
            each = (self.browser.work() - before) / frames
            print(f"20,000 nodes ({name}): ready after {passed:.2f} s ({worked:.2f} s of work); at scale {scale} "
                  f"{frames / seconds:.0f} frames per second ({1000 * each:.1f} ms of work each)")
            self.assertLess(each, 1 / 30)
        self.assertGreater(worked, 0)
        self.assertLessEqual(min(passed, worked), 2)

    def test_twenty_thousand_nodes_load_and_scroll(self):
        self.measure(chain(20000), "chain")
        self.measure(tangle(20000), "tangle")
        self.assertEqual(self.browser.complaints, [])


if __name__ == "__main__":
    unittest.main()
