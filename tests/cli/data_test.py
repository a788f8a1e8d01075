#!/usr/bin/env python3
"""Models and their data as a user meets them: classes, preparation, pictures, many rows. Usage: data_test.py PATH_TO_INGOT"""
import csv
import io
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
import zlib

INGOT = os.path.abspath(sys.argv.pop(1))
rng = random.Random(5)
KINDS = ["iris", "rose", "tulip"]


def numbers(count, size=0.3):
    return ", ".join(f"{rng.uniform(-size, size):.6f}" for _ in range(count))


def mlp(batch="N"):
    return f"""<ir_version: 10, opset_import: ["" : 21]>
net (float[{batch}, 4] x) => (float[{batch}, 3] y)
<float[4, 16] w1 = {{{numbers(64)}}}, float[16] b1 = {{{numbers(16)}}},
 float[16, 3] w2 = {{{numbers(48)}}}, float[3] b2 = {{0, 0, 0}}>
{{ h = Gemm(x, w1, b1) a = Relu(h) y = Gemm(a, w2, b2) }}
"""


PICTURES = """<ir_version: 10, opset_import: ["" : 21]>
net (float[N, 3, 8, 8] x) => (float[N, 1000] y)
<float[4, 3, 3, 3] w = {%s}, float[1000, 4] v = {%s}, float[1000] b = {%s}>
{ c = Conv<pads = [1, 1, 1, 1]>(x, w) r = Relu(c) p = GlobalAveragePool(r) f = Flatten(p) y = Gemm<transB = 1>(f, v, b) }
"""

MIXED = """<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 3]>
net (float[N, 1] age, string[N, 1] city, int64[N, 1] children) => (float[N, 1] y)
{
  code = ai.onnx.ml.LabelEncoder <keys_strings = ["Oslo", "Rome"], values_floats = [10.0, 20.0], default_float = -1.0> (city)
  number = Cast <to = 1> (children)
  some = Add (age, code)
  y = Add (some, number)
}
"""


def npy(dims, values, kind="<f4"):
    codes = {"<f4": "f", "|u1": "B", "<i8": "q"}
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({', '.join(map(str, dims))},), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}{codes[kind]}", *values))


def read_npy(data):
    size = struct.unpack("<H", data[8:10])[0]
    head = eval(data[10:10 + size])
    body = data[10 + size:]
    kind = head["descr"]
    if kind[1] == "U":
        width = 4 * int(kind[2:])
        return head["shape"], [body[i:i + width].decode("utf-32-le").rstrip("\0") for i in range(0, len(body), width)]
    code = {"<f4": "f", "<i8": "q", "<f8": "d"}[kind]
    return head["shape"], list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body))


def png(width, height, pixel):
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def bmp(width, height, pixel):
    row = (width * 3 + 3) // 4 * 4
    rows = b"".join(b"".join(bytes(pixel(x, y))[::-1] for x in range(width)).ljust(row, b"\0")
                    for y in reversed(range(height)))
    return (b"BM" + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54) +
            struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(rows), 0, 0, 0, 0) + rows)


class Data(unittest.TestCase):
    def setUp(self):
        rng.seed(5)
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)
        self.file("net.onnxtxt", mlp())
        self.rows = [self.row(KINDS[i % 3]) for i in range(90)]
        self.table("flowers.csv", self.rows)

    def row(self, kind):
        return {**{name: round(10 * rng.gauss(1.5 if KINDS.index(kind) == i else 0, 0.6), 3)
                   for i, name in enumerate("abcd")}, "kind": kind}

    def file(self, name, content):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def table(self, name, rows, columns=("a", "b", "c", "d", "kind")):
        lines = [",".join(columns)] + [",".join(str(row[c]) for c in columns) for row in rows]
        self.file(name, "\n".join(lines) + "\n")

    def ingot(self, *args, code=0):
        done = subprocess.run([INGOT, *map(str, args)], cwd=self.path, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, f"{args}\n{done.stdout}{done.stderr}")
        return done

    def read(self, name):
        return list(csv.DictReader(io.StringIO((self.path / name).read_text())))

    def arrays(self, name):
        with zipfile.ZipFile(self.path / name) as archive:
            return {member[:-4]: read_npy(archive.read(member)) for member in archive.namelist()}

    def train(self, *more, export="out.onnx"):
        return self.ingot("train", "net.onnxtxt", "--data", "flowers.csv", "--target", "kind", "--optimizer", "adam", "--lr",
                          "0.02", "--epochs", "15", "--scale", "10", "--export", export, *more)

    def accuracy(self, *args, model="out.onnx"):
        return json.loads(self.ingot("eval", model, *args, "--json").stdout)["accuracy"]

    # Classes and preparation.

    def test_a_table_without_one_class_is_judged_by_the_same_numbers(self):
        self.train()
        self.assertGreater(self.accuracy("--data", "flowers.csv"), 0.85)
        some = [row for row in self.rows if row["kind"] != "iris"]
        self.table("some.csv", some)
        judged = json.loads(self.ingot("eval", "out.onnx", "--data", "some.csv", "--json").stdout)
        self.assertEqual(judged["classes"], KINDS)
        self.assertEqual(judged["examples"], len(some))
        self.assertGreater(judged["accuracy"], 0.8)
        self.assertEqual(sum(judged["confusion"][0]), 0, "no iris is in the table")
        text = self.train("--val-data", "some.csv").stderr
        self.assertGreater(float(text.rsplit("accuracy ", 1)[1].split()[0]), 0.8)

    def test_a_class_that_the_model_does_not_know_is_named(self):
        self.train()
        self.table("other.csv", [{**self.rows[0], "kind": "daisy"}, self.rows[1]])
        text = self.ingot("eval", "out.onnx", "--data", "other.csv", code=3).stderr
        self.assertIn("'daisy'", text)
        self.assertIn("'iris', 'rose', 'tulip'", text)

    def test_without_names_in_the_model_a_part_of_the_classes_is_refused(self):
        self.train()
        self.ingot("convert", "out.onnx", "-o", "out.onnxtxt")
        text = (self.path / "out.onnxtxt").read_text()
        self.assertIn("ingot.classes", text)
        self.file("bare.onnxtxt", text.replace("ingot.classes", "gone"))
        self.table("some.csv", [row for row in self.rows if row["kind"] != "iris"])
        arguments = ["--data", "some.csv", "--target", "kind"]
        text = self.ingot("eval", "bare.onnxtxt", *arguments, code=3).stderr
        self.assertIn("2 classes, the model tells 3 apart", text)
        self.assertIn("--labels", text)
        self.assertGreater(self.accuracy(*arguments, "--labels", "iris,rose,tulip", model="bare.onnxtxt"), 0.8)
        self.file("labels.txt", "0 iris\n1 rose\n2 tulip\n")
        self.assertGreater(self.accuracy(*arguments, "--labels", "labels.txt", model="bare.onnxtxt"), 0.8)

    def test_columns_are_found_by_name_in_any_order(self):
        self.train()
        whole = self.accuracy("--data", "flowers.csv")
        self.table("turned.csv", [{**row, "note": 7} for row in self.rows], ("d", "kind", "note", "b", "a", "c"))
        self.assertEqual(self.accuracy("--data", "turned.csv"), whole)
        self.table("short.csv", self.rows, ("a", "b", "kind"))
        self.assertIn("'c', 'd'", self.ingot("eval", "out.onnx", "--data", "short.csv", code=3).stderr)

    def test_the_preparation_of_inputs_stays_with_the_model(self):
        self.train("--mean", "0.2", "--std", "0.9")
        whole = self.accuracy("--data", "flowers.csv")
        self.assertGreater(whole, 0.85)
        self.assertEqual(whole, self.accuracy("--data", "flowers.csv", "--scale", "10", "--mean", "0.2", "--std", "0.9"))
        self.assertLess(self.accuracy("--data", "flowers.csv", "--mean", "9"), whole)
        self.ingot("run", "out.onnx", "--data", "flowers.csv", "--out", "p.csv")
        right = sum(p["class"] == row["kind"] for p, row in zip(self.read("p.csv"), self.rows))
        self.assertEqual(right / len(self.rows), whole)

    def test_preprocessing_becomes_part_of_the_graph_on_request(self):
        self.train("--mean", "0.2", "--std", "0.9")
        self.train("--mean", "0.2", "--std", "0.9", "--with-preprocessing", export="whole.onnx")
        self.ingot("check", "whole.onnx")
        self.assertEqual(self.accuracy("--data", "flowers.csv", model="whole.onnx"), self.accuracy("--data", "flowers.csv"))
        self.ingot("run", "out.onnx", "--data", "flowers.csv", "--out", "a.csv")
        self.ingot("run", "whole.onnx", "--data", "flowers.csv", "--out", "b.csv")
        self.assertEqual([row["class"] for row in self.read("a.csv")], [row["class"] for row in self.read("b.csv")])
        inputs = json.loads(self.ingot("inspect", "whole.onnx", "--json").stdout)["inputs"]
        self.assertEqual([i["name"] for i in inputs], ["a", "b", "c", "d"])

    def test_pixels_become_part_of_the_graph_as_whole_numbers(self):
        pixels = [rng.randrange(256) for _ in range(24 * 4)]
        self.file("x.npy", npy((24, 4), pixels, "|u1"))
        self.file("y.npy", npy((24,), [i % 3 for i in range(24)], "<i8"))
        common = ["train", "net.onnxtxt", "--data", "x.npy", "--target", "y.npy", "--scale", "255", "--mean",
                  "0.1,0.2,0.3,0.4", "--steps", "5"]
        self.ingot(*common, "--export", "a.onnx")
        self.ingot(*common, "--export", "b.onnx", "--with-preprocessing")
        self.assertIn("uint8", self.ingot("inspect", "b.onnx").stdout)
        for name in "ab":
            self.ingot("run", f"{name}.onnx", "--data", "x.npy", "--out", f"{name}.npy")
        a, b = (read_npy((self.path / f"{name}.npy").read_bytes())[1] for name in "ab")
        self.assertEqual(len(a), 72)
        for u, v in zip(a, b):
            self.assertAlmostEqual(u, v, places=5)

    def test_channels_are_moved_and_never_taken_for_something_else(self):
        self.file("pictures.onnxtxt", """<ir_version: 10, opset_import: ["" : 21]>
net (float[N, 3, 2, 4] x) => (float[N, 3, 1, 1] y)
{ y = GlobalAveragePool(x) }""")
        values = [c for _ in range(8) for c in (1, 20, 30)]  # [2, 4, 3]: each channel has one value
        self.file("x.npy", npy((1, 2, 4, 3), values))
        self.ingot("run", "pictures.onnxtxt", "--data", "x.npy", "--out", "y.npy")
        self.assertEqual(read_npy((self.path / "y.npy").read_bytes())[1], [1, 20, 30])
        self.file("x.npy", npy((1, 4, 6, 1), values))
        self.assertIn("the model wants float[N,3,2,4]",
                      self.ingot("run", "pictures.onnxtxt", "--data", "x.npy", "--out", "y.npy", code=3).stderr)

    # A run goes on.

    def test_more_epochs_need_no_force(self):
        how = ["train", "net.onnxtxt", "--data", "flowers.csv", "--target", "kind", "--optimizer", "adam"]
        self.ingot(*how, "--epochs", "4", "--export", "whole.onnx")
        self.ingot(*how, "--epochs", "2", "--checkpoint", "runs")
        done = self.ingot(*how, "--epochs", "4", "--checkpoint", "runs", "--resume", "--export", "out.onnx")
        self.assertIn("resumed after step 6", done.stdout)
        self.assertIn("2 epochs and now takes 4 epochs", done.stderr)
        self.assertEqual((self.path / "whole.onnx").read_bytes(), (self.path / "out.onnx").read_bytes())
        done = self.ingot(*how, "--epochs", "3", "--checkpoint", "runs", "--resume")
        self.assertIn("nothing is left to do", done.stdout)
        self.assertIn("batch: then 32, now 8",
                      self.ingot(*how, "--epochs", "6", "--batch", "8", "--checkpoint", "runs", "--resume", code=2).stderr)

    # Pictures.

    def photos(self, counts=(("sea", 12), ("wood", 12)), folder="photos"):
        def pixel(kind, shade):
            base = {"sea": (30, 60, 200), "wood": (40, 190, 30), "sand": (220, 200, 90)}[kind]
            return lambda x, y: [max(0, min(255, c + shade + 3 * (x + y) % 17)) for c in base]
        for kind, count in counts:
            for i in range(count):
                write, end = (png, "png") if i % 2 else (bmp, "bmp")
                size = (8, 8) if i % 3 else (20, 13)
                self.file(f"{folder}/{kind}/{i:02}.{end}", write(*size, pixel(kind, rng.randrange(-25, 25))))

    def picture_model(self):
        self.file("big.onnxtxt", PICTURES % (numbers(108), numbers(4000), numbers(1000)))

    def fine_tune(self, *more, classes=2, epochs=20, export="mine.onnx", code=0):
        return self.ingot("train", "big.onnxtxt", "--data", "photos", "--classes", classes, "--scale", "255", "--optimizer",
                          "adam", "--lr", "0.05", "--epochs", epochs, "--batch", "8", "--export", export, *more, code=code)

    def test_folders_of_pictures_are_classes(self):
        self.photos()
        self.picture_model()
        text = self.ingot("train", "big.onnxtxt", "--data", "photos", "--scale", "255", "--steps", "1").stderr
        self.assertIn("2 classes, the model tells 1000 apart", text)
        done = self.fine_tune()
        self.assertIn("for 2 classes in place of 1000", done.stderr)
        self.ingot("check", "mine.onnx")
        self.assertGreater(self.accuracy("--data", "photos", model="mine.onnx"), 0.9)
        shown = self.ingot("run", "mine.onnx", "--in", "x=photos/wood/00.bmp").stdout
        self.assertIn("y[0]: wood ", shown)
        self.assertIn("y[0]: sea ", self.ingot("run", "mine.onnx", "--in", "x=photos/sea/01.png").stdout)
        told = json.loads(self.ingot("run", "mine.onnx", "--in", "x=photos/sea/01.png", "--json").stdout)
        self.assertEqual([entry["class"] for entry in told["classes"][0]], ["sea", "wood"])
        self.assertIn("--keep does nothing by itself",
                      self.ingot("run", "mine.onnx", "--in", "x=photos/sea/01.png", "--keep", "id", code=2).stderr)
        self.ingot("run", "mine.onnx", "--data", "photos", "--batch", "5", "--out", "p.csv")
        rows = self.read("p.csv")
        self.assertEqual(len(rows), 24)
        right = sum(pathlib.Path(row["file"]).parent.name == row["class"] for row in rows)
        self.assertGreater(right, 21)
        self.assertAlmostEqual(float(rows[0]["probability_sea"]) + float(rows[0]["probability_wood"]), 1, places=5)

    def test_a_class_without_pictures_does_not_renumber_the_others(self):
        self.photos()
        self.picture_model()
        self.fine_tune()
        self.photos((("wood", 6),), "later")
        self.assertGreater(self.accuracy("--data", "later", model="mine.onnx"), 0.8)
        self.photos((("sand", 2),), "strange")
        self.assertIn("'sand'", self.ingot("eval", "mine.onnx", "--data", "strange", code=3).stderr)

    def test_more_classes_than_the_model_has_need_a_new_head(self):
        self.photos((("sea", 4), ("wood", 4), ("sand", 4)))
        self.picture_model()
        self.fine_tune(classes=3)
        text = self.ingot("train", "mine.onnx", "--data", "photos", "--steps", "1", "--classes", "2", code=3).stderr
        self.assertIn("3 classes, the model tells 2 apart", text)
        self.assertIn("--classes 3", text)

    def test_augmentation_follows_the_seed(self):
        self.photos()
        self.picture_model()
        how = ["--augment", "flip,crop:0.7,rotate:20,brightness,contrast"]
        self.fine_tune(*how, epochs=3, export="a.onnx")
        self.fine_tune(*how, "--threads", "1", epochs=3, export="b.onnx")
        self.fine_tune(*how, "--seed", "9", epochs=3, export="c.onnx")
        self.fine_tune(epochs=3, export="d.onnx")
        a, b, c, d = ((self.path / f"{name}.onnx").read_bytes() for name in "abcd")
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)
        self.assertNotEqual(a, d)
        self.fine_tune("--augment", "flip", epochs=4, export="e.onnx")
        self.fine_tune("--augment", "flip", "--checkpoint", "runs", epochs=2)
        self.fine_tune("--augment", "flip", "--checkpoint", "runs", "--resume", epochs=4, export="f.onnx")
        self.assertEqual(*((self.path / f"{name}.onnx").read_bytes() for name in "ef"))
        self.assertIn("blur", self.fine_tune("--augment", "blur", code=2).stderr)

    def test_a_damaged_picture_is_named(self):
        self.photos()
        self.file("photos/wood/99.png", b"\x89PNG\r\n\x1a\n and then nothing")
        self.picture_model()
        self.assertIn("wood/99.png", self.fine_tune(code=3).stderr)

    def test_a_picture_without_preparation_is_noted(self):
        self.file("p.png", png(4, 4, lambda x, y: (10, 20, 30)))
        self.file("mean.onnxtxt", """<ir_version: 10, opset_import: ["" : 21]>
net (float[1, 3, H, W] x) => (float[1, 3, 1, 1] y) { y = GlobalAveragePool(x) }""")
        self.assertIn("--resize", self.ingot("run", "mean.onnxtxt", "--in", "x=p.png", code=3).stderr)
        done = self.ingot("run", "mean.onnxtxt", "--in", "x=p.png", "--resize", "6x5")
        self.assertIn("[10, 20, 30]", done.stdout)
        self.assertIn("does not say how pixels are prepared", done.stderr)
        done = self.ingot("run", "mean.onnxtxt", "--in", "x=p.png", "--resize", "6x5", "--scale", "10", "--std", "1,2,3")
        self.assertIn("[1, 1, 1]", done.stdout)
        self.assertEqual(done.stderr, "")

    # Many rows.

    def test_rows_of_a_table_become_rows_of_a_table(self):
        self.train()
        done = self.ingot("run", "out.onnx", "--data", "flowers.csv", "--batch", "7", "--out", "p.csv", "--keep", "kind")
        self.assertEqual(done.stderr, "wrote p.csv: 90 rows\n")
        rows = self.read("p.csv")
        self.assertEqual(list(rows[0]), ["kind", "class", "probability_iris", "probability_rose", "probability_tulip"])
        self.assertEqual([row["kind"] for row in rows], [row["kind"] for row in self.rows])
        self.ingot("run", "out.onnx", "--data", "flowers.csv", "--batch", "64", "--out", "again.csv", "--raw")
        raw = self.read("again.csv")
        self.assertEqual(list(raw[0]), ["y_0", "y_1", "y_2"])

    def test_npz_and_npy_give_what_a_single_run_gives(self):
        values = [rng.uniform(-1, 1) for _ in range(40)]
        self.file("x.npy", npy((10, 4), values))
        self.ingot("run", "net.onnxtxt", "--in", "x=x.npy", "--out", "once")
        once = read_npy((self.path / "once/y.npy").read_bytes())
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            with zipfile.ZipFile(self.path / "x.npz", "w", method) as archive:
                archive.write(self.path / "x.npy", "x.npy")
            for data in ("x.npy", "x.npz"):
                self.ingot("run", "net.onnxtxt", "--data", data, "--batch", "3", "--out", "y.npz")
                self.assertEqual(self.arrays("y.npz")["y"], once)
                self.ingot("run", "net.onnxtxt", "--data", data, "--batch", "4", "--out", "y.npy")
                self.assertEqual(read_npy((self.path / "y.npy").read_bytes()), once)

    def test_rows_that_depend_on_one_another_go_in_at_once(self):
        self.file("prepare.py", "def prepare(df):\n    df['before'] = df['a'].shift(1)\n    return df[['before']]\n")
        self.file("a.csv", "a\n" + "".join(f"{i}\n" for i in range(200)))
        self.ingot("convert", "prepare.py", "--schema", "a:float", "-o", "prepare.onnx")
        done = self.ingot("run", "prepare.onnx", "--data", "a.csv", "--batch", "7", "--out", "p.csv")
        self.assertIn("rows depend on one another, so all of them went in at once", done.stderr)
        self.assertEqual([row["before"] for row in self.read("p.csv")][1:], [str(i) for i in range(199)])

    def test_a_model_of_four_rows_gets_four_and_the_last_are_filled_up(self):
        rng.seed(5)
        self.file("four.onnxtxt", mlp(4))
        values = [random.Random(1).uniform(-1, 1) for _ in range(40)]
        self.file("x.npy", npy((10, 4), values))
        self.ingot("run", "net.onnxtxt", "--data", "x.npy", "--out", "a.npy")
        done = self.ingot("run", "four.onnxtxt", "--data", "x.npy", "--out", "b.npy")
        self.assertIn("takes 4 rows at a time", done.stderr)
        a, b = (read_npy((self.path / f"{name}.npy").read_bytes()) for name in "ab")
        self.assertEqual(a[0], (10, 3))
        self.assertEqual(b[0], (10, 3))
        for u, v in zip(a[1], b[1]):
            self.assertAlmostEqual(u, v, places=6)

    def test_what_stands_in_for_missing_rows_changes_no_answer(self):
        self.file("mean.onnxtxt", """<ir_version: 10, opset_import: ["" : 21]>
net (float[4, 2] x) => (float[4, 2] y) <int64[1] rows = {0}> { m = ReduceMean<keepdims = 1>(x, rows) y = Sub(x, m) }
""")
        self.table("six.csv", [{"a": i, "b": i * i} for i in range(6)], columns=("a", "b"))
        done = self.ingot("run", "mean.onnxtxt", "--data", "six.csv", "--out", "p.csv", code=4)
        self.assertIn("a multiple of 4", done.stderr)
        self.assertFalse((self.path / "p.csv").exists())
        self.table("eight.csv", [{"a": i, "b": i * i} for i in range(8)], columns=("a", "b"))
        self.ingot("run", "mean.onnxtxt", "--data", "eight.csv", "--out", "p.csv")

    def test_columns_of_numbers_words_and_counts_find_their_inputs(self):
        self.file("mixed.onnxtxt", MIXED)
        self.file("people.csv", 'name,city,children,age\n"Berg, Anna",Oslo,2,30.5\nBo,Rome,0,\nCy,"Paris",1,4\n')
        done = self.ingot("run", "mixed.onnxtxt", "--data", "people.csv", "--out", "p.csv", "--keep", "name")
        rows = self.read("p.csv")
        self.assertEqual([row["name"] for row in rows], ["Berg, Anna", "Bo", "Cy"])
        self.assertEqual([row["y"] for row in rows], ["42.5", "nan", "4"])
        self.assertIn("1 field is empty", done.stderr)
        self.file("people.csv", "city,children\nOslo,2\n")
        text = self.ingot("run", "mixed.onnxtxt", "--data", "people.csv", "--out", "p.csv", code=3).stderr
        self.assertIn("'age'", text)
        self.assertIn("'city', 'children'", text)
        self.file("people.csv", "city,children,age\nOslo,2,1\nRome,one,1\n")
        text = self.ingot("run", "mixed.onnxtxt", "--data", "people.csv", "--out", "q.csv", code=3).stderr
        self.assertIn("row 2, column 'children'", text)
        self.assertFalse((self.path / "q.csv").exists(), "an error leaves no file")
        self.assertEqual([p.name for p in self.path.iterdir() if p.name.startswith(".")], [])

    def test_memory_does_not_grow_with_the_rows(self):
        wide = 512
        self.file("wide.onnxtxt", f"""<ir_version: 10, opset_import: ["" : 21]>
net (float[N, {wide}] x) => (float[N, {wide}] y) {{ y = Neg(x) }}""")
        peaks = []
        for rows in (2000, 80000):
            head = npy((rows, wide), [])
            with open(self.path / "x.npy", "wb") as file:  # zeros that take no room
                file.write(head)
                file.truncate(len(head) + 4 * wide * rows)
            child = subprocess.Popen([INGOT, "run", "wide.onnxtxt", "--data", "x.npy", "--out", "y.npz", "--batch", "256",
                                      "--max-memory", "48M"], cwd=self.path, stderr=subprocess.PIPE)
            text = child.stderr.read().decode()
            child.stderr.close()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(child.returncode, 0, text)
            peaks.append(usage.ru_maxrss / 1024)
        self.assertLess(peaks[1], peaks[0] + 60, f"MiB; the data has {4 * wide * 80000 >> 20}")
        with zipfile.ZipFile(self.path / "y.npz") as archive:
            self.assertEqual(archive.infolist()[0].file_size, 128 + 4 * wide * 80000)
        text = self.ingot("run", "wide.onnxtxt", "--data", "x.npy", "--out", "z.npz", "--batch", "60000", "--max-memory",
                          "48M", code=5).stderr
        self.assertIn("IG1201", text)
        self.assertFalse((self.path / "z.npz").exists())

    def test_what_is_not_one_answer_per_row_is_refused(self):
        self.file("sum.onnxtxt", """<ir_version: 10, opset_import: ["" : 21]>
net (float[N, 4] x) => (float[1, 1] y) { y = ReduceSum(x) }""")
        self.file("x.npy", npy((8, 4), [1] * 32))
        text = self.ingot("run", "sum.onnxtxt", "--data", "x.npy", "--out", "y.csv", code=4).stderr
        self.assertIn("does not say one thing of each row", text)
        self.assertIn("--data", self.ingot("run", "sum.onnxtxt", "--in", "x=x.npy", "--out", "y.csv", code=2).stderr)
        self.assertFalse((self.path / "y.csv").exists())

    def test_a_table_of_texts_with_newlines_and_semicolons_is_read(self):
        self.file("mixed.onnxtxt", MIXED)
        self.file("people.csv", '\ufeffage;city;children\r\n1.5;"Ro\nme";1\r\n')
        self.ingot("run", "mixed.onnxtxt", "--data", "people.csv", "--out", "p.csv", "--keep", "city")
        self.assertEqual(self.read("p.csv"), [{"city": "Ro\nme", "y": "1.5"}])

    # Where the time goes.

    def test_profile_shows_nodes_of_warm_runs(self):
        done = self.ingot("run", "net.onnxtxt", "--random", 1, "--input-shape", "x:5,4", "--profile", "--json")
        profile = json.loads(done.stdout)["profile"]
        self.assertGreater(profile["runs"], 1, "one run warms up, others are measured")
        shares = [node["share"] for node in profile["nodes"]]
        self.assertAlmostEqual(sum(shares), 1, places=6)
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertTrue(all(node["calls"] == 1 for node in profile["nodes"]))
        self.assertTrue(any("float[5,3]" in node["outputs"] for node in profile["nodes"]))
        shown = self.ingot("run", "net.onnxtxt", "--random", 1, "--profile").stderr
        self.assertIn("slowest nodes", shown)
        self.assertIn("float[1,3]", shown)


if __name__ == "__main__":
    unittest.main(verbosity=1)
