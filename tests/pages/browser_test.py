#!/usr/bin/env python3
"""Pages of `ingot report` in a real browser: real clicks, real keys. browser_test.py INGOT [--large]"""
import http.client
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import browser as driver  # noqa: E402

INGOT = sys.argv.pop(1)
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
VIEW = "document.querySelector('canvas').ingotView"


def chain(length):
    nodes = "\n".join(f"  [node{i}] v{i + 1} = {('Relu', 'Neg', 'Abs', 'Exp', 'Tanh', 'Sin', 'Cos')[i * i % 7]}(v{i})"
                      for i in range(length))
    return f'<ir_version: 8, opset_import: ["": 17]>\nlong (float[8] v0) => (float[8] v{length}) {{\n{nodes}\n}}'


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

    def test_dark_mode(self):
        dark = "getComputedStyle(document.documentElement).getPropertyValue('--dark').trim()"
        self.browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertEqual(self.browser.value(dark), "1")
        self.browser.click_on("#theme")
        self.assertEqual(self.browser.value(dark), "0")
        self.browser.send("Emulation.setEmulatedMedia", features=[])

    def test_tabs_show_layers_and_weights(self):
        self.browser.click_on("[data-tab=layers]")
        self.assertEqual(self.browser.value("document.querySelectorAll('#costs tbody tr').length"), 17)
        self.browser.click_on("[data-tab=tensors]")
        self.assertEqual(self.browser.value("document.querySelectorAll('#weights .histogram').length"), 1)
        self.assertTrue(self.browser.value("document.querySelector('#layers').hidden"))

    def test_names_are_never_executed(self):
        # The text syntax has no such names: others of the same length are replaced in the file.
        bad, path = BAD_NAME.encode(), pathlib.Path(self.folder.name)
        plain = "q" * len(bad)
        (path / "plain.onnxtxt").write_text(SMALL.replace("[\"block1/product\"]", f"[{plain}]").replace("net (", f"{plain} (")
                                            .replace("m1", plain))
        subprocess.run([INGOT, "convert", path / "plain.onnxtxt", "-o", path / "plain.onnx", "-q"], check=True)
        contents = (path / "plain.onnx").read_bytes()
        self.assertGreaterEqual(contents.count(plain.encode()), 4)
        (path / "hostile.onnx").write_bytes(contents.replace(plain.encode(), bad))
        subprocess.run([INGOT, "report", path / "hostile.onnx", "-o", path / "site", "-q"], check=True)
        address = f"file://{path}/site/hostile.onnx.html"
        self.browser.open(address)
        self.assertIsNone(self.browser.value("window.hacked"))
        self.assertEqual(self.browser.value("document.querySelectorAll('script').length"), 2)
        self.assertEqual(self.browser.value("document.querySelectorAll('img').length"), 0)
        self.browser.value(f"{VIEW}.show({VIEW}.nodes.find(n => n.name.includes('hacked')).id)")
        self.browser.wait("document.querySelector('.panel').textContent.includes('window.hacked')")
        self.browser.click_on("[data-tab=layers]")
        self.browser.click_on("[data-tab=facts]")
        self.assertIsNone(self.browser.value("window.hacked"))


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
            finally:
                server.send_signal(signal.SIGINT)
                self.assertEqual(server.wait(20), 130)
                server.stdout.close()


@unittest.skipUnless(LARGE, "with --large")
class Large(Pages):
    def test_twenty_thousand_nodes_load_and_scroll(self):
        address = self.page(chain(20000), "large")
        seconds = min(self.browser.open(address, 60) for _ in range(3))
        self.assertGreater(self.browser.value(VIEW + ".nodes.length"), 20000)
        self.browser.value(VIEW + ".setAll(true)")
        frames = self.browser.value(f"""new Promise(done => {{
          const view = {VIEW}, begin = performance.now(), first = view.frames;
          const step = () => {{
            view.top += 40; view.draw();
            const passed = performance.now() - begin;
            if (passed < 2000) requestAnimationFrame(step); else done((view.frames - first) / passed * 1000);
          }};
          step();
        }})""")
        print(f"20,000 nodes: ready after {seconds:.2f} s, {frames:.0f} frames per second")
        self.assertLessEqual(seconds, 2)
        self.assertGreaterEqual(frames, 30)
        self.assertEqual(self.browser.complaints, [])


if __name__ == "__main__":
    unittest.main()
