#!/usr/bin/env python3
"""Tokenizers of ai.onnx.contrib beside Hugging Face's (npm's `tokenizers`), on texts in many languages.

usage: contrib_tokenizers.py PATH_TO_INGOT [COUNT]

The extensions differ from Hugging Face by rules of their own. Each has a name here and says which texts it concerns; all
other texts must get the same numbers.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import onnx_wire as wire  # noqa: E402
from multilingual_texts import texts  # noqa: E402

INGOT = sys.argv[1]
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 600
SHARED = pathlib.Path(os.environ.get("INGOT_SHARED", ROOT.parent / "shared"))
FOLDER = SHARED / "corpus" / "contrib" / "extensions"
PEERS = pathlib.Path(os.environ.get("INGOT_PEERS") or ROOT / "build" / "peers")
if PEERS.name == "node_modules":
    PEERS = PEERS.parent
LONGEST = 4096


def text_of(name):
    return (FOLDER / name).read_text(encoding="utf-8")


# What the extensions make of single characters, where that decides.
def within(code, *ranges):
    return any(first <= code <= last for first, last in ranges)


def extension_class(c):
    code = ord(c)
    if within(code, (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF),
              (0x2F800, 0x2FA1F)):
        return "alone"
    if within(code, (33, 47), (58, 64), (91, 96), (123, 126), (161, 161), (167, 167), (171, 171), (182, 183), (187, 187),
              (191, 191), (894, 894), (903, 903), (8208, 8231), (8240, 8259), (8261, 8273), (8275, 8286), (12289, 12291),
              (12296, 12305), (12308, 12319), (12336, 12336), (12349, 12349)):
        return "alone"
    if within(code, (9, 10), (13, 13), (32, 32), (160, 160), (8192, 8202), (8239, 8239), (8287, 8287), (12288, 12288)):
        return "space"
    if within(code, (0, 8), (11, 12), (14, 31), (128, 159), (173, 173), (8203, 8207), (8234, 8238), (8288, 8302)):
        return "dropped"
    return "letter"


def bert_class(c):
    category = unicodedata.category(c)
    if c in "\t\n\r" or category == "Zs" or c in "\u2028\u2029\x85":
        return "space"
    if category in ("Cc", "Cf", "Cn", "Co"):
        return "dropped"
    if category[0] == "P" or within(ord(c), (33, 47), (58, 64), (91, 96), (123, 126)) or extension_class(c) == "alone" and \
            category == "Lo":
        return "alone"
    return "letter"


def extension_lower(c):
    code = ord(c)
    if within(code, (65, 90), (0xC0, 0xD6), (0xD8, 0xDE), (0x1F08, 0x1F68), (0x410, 0x42F)) or c in "ΙΚΛΜΝΟΠ":
        return chr(code + 32)
    return c


RULES = {
    "lower case is a small table": lambda t: any(c.lower() != extension_lower(c) for c in t),
    "classes of characters are small tables": lambda t: any(extension_class(c) != bert_class(c) for c in t),
    "U+0085 is no white space": lambda t: "\x85" in t,
    "no normal form is made": lambda t: unicodedata.normalize("NFC", t) != t,
    "numbers stay whole": lambda t: any(a.isnumeric() and b.isnumeric() for a, b in zip(t, t[1:])),
    "white space but blanks is kept": lambda t: any(c.isspace() and c != " " for c in t),
    "words are cut before they are merged": lambda t: any(not a.isalpha() or not b.isalpha() for a, b in zip(t, t[1:])),
    "rules see characters, not clusters": lambda t: any(unicodedata.combining(c) or unicodedata.category(c)[0] in "MC"
                                                        or within(ord(c), (0x1100, 0x11FF), (0x1F3FB, 0x1F3FF)) for c in t),
    "no text begins behind a special token": lambda t: any(s in t for s in ("<unk>", "</s>", "<pad>")),
    "a blank and an apostrophe are a word": lambda t: " '" in t,
    "a blank text has no end": lambda t: not t.strip(),
    "an unknown character ends its word": None,  # see `same_but_for_ends`
}


def same_but_for_ends(ours, theirs, unknown, continues):
    """Whether pieces before an unknown end of a word explain all differences: Hugging Face has one number for the word."""
    i = 0
    for number in theirs:
        if number == unknown:
            if i < len(ours) and ours[i] != unknown and not (ours[i] in continues):
                i += 1
                while i < len(ours) and ours[i] in continues:
                    i += 1
        if i >= len(ours) or ours[i] != number:
            return False
        i += 1
    return i == len(ours)


def byte_level(vocabulary, merges, specials, ends=None, **parts):
    """A tokenizer.json of GPT-2's kind."""
    file = {"version": "1.0", "truncation": None, "padding": None, "normalizer": None,
            "added_tokens": [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
                              "normalized": False, "special": True} for t, i in specials.items()],
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None, "decoder": None,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "vocab": vocabulary, "merges": merges}}
    file.update(parts)
    if ends:
        file["post_processor"] = template(ends, specials)
    return file


def template(ends, specials):
    first, last = ends
    return {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": first, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": last, "type_id": 0}}],
            "pair": [], "special_tokens": {t: {"id": t, "ids": [specials[t]], "tokens": [t]} for t in ends}}


def bert(vocabulary):
    ids = {t: i for i, t in enumerate(vocabulary)}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                           "strip_accents": False, "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": template(("[CLS]", "[SEP]"), ids),
            "decoder": None, "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                                       "max_input_chars_per_word": 100, "vocab": ids}}


def batch_model(op, attributes):
    return wire.node_model(op, [("texts", "string", 1)], [("ids", "int64", 2), ("mask", "int64", 2)], attributes)


def looped_model(op, attributes, outputs):
    """One text after the other: operators that take one at a time."""
    node = lambda op, x, y, domain="", more=b"": wire.block(1, b"".join(wire.block(1, n) for n in x) + b"".join(
        wire.block(2, n) for n in y) + wire.block(4, op) + (wire.block(7, domain) if domain else b"") + more)
    held = b"".join(wire.block(5, wire.attribute(k, v)) for k, v in attributes.items())
    body = node("Identity", ["go"], ["on"]) + node("Gather", ["texts", "k"], ["text"])
    body += node("Unsqueeze", ["text", "zero"], ["one"])
    body += node(op, ["one"], ["found"] + [f"other{i}" for i in range(1, outputs)], "ai.onnx.contrib", held)
    body += node("Shape", ["found"], ["size"]) + node("Sub", ["longest", "size"], ["rest"])
    body += node("Concat", ["zero", "rest"], ["pads"], "", wire.block(5, wire.attribute("axis", 0)))
    body += node("Pad", ["found", "pads", "none"], ["row"]) + wire.block(2, "body")
    body += wire.block(11, wire.value_info("k", "int64", 0)) + wire.block(11, wire.value_info("go", "bool", 0))
    body += wire.block(12, wire.value_info("on", "bool", 0)) + wire.block(12, wire.value_info("row", "int64", 1))
    graph = node("Size", ["texts"], ["count"])
    graph += node("Loop", ["count", "yes"], ["ids"], "",
                  wire.block(5, wire.block(1, "body") + wire.block(6, body) + wire.number(20, 5)))
    constants = {"zero": ("int64", [1], [0]), "longest": ("int64", [1], [LONGEST]), "none": ("int64", [], [-1]),
                 "yes": ("bool", [], [True])}
    graph += wire.block(2, "graph") + b"".join(wire.block(5, wire.tensor(*t, name=n)) for n, t in constants.items())
    graph += wire.block(11, wire.value_info("texts", "string", 1)) + wire.block(12, wire.value_info("ids", "int64", 2))
    return (wire.number(1, 8) + wire.block(7, graph) + wire.block(8, wire.number(2, 17))
            + wire.block(8, wire.block(1, "ai.onnx.contrib") + wire.number(2, 1)))


def rows(model, samples, folder):
    (folder / "model.onnx").write_bytes(model)
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "input_0.pb").write_bytes(wire.tensor("string", [len(samples)], samples))
    subprocess.run([INGOT, "-q", "run", str(folder / "model.onnx"), "--in", str(folder / "in"), "--out", str(folder / "out")],
                   check=True, stdout=subprocess.DEVNULL, timeout=600)
    (count, width), numbers = wire.read_tensor((folder / "out" / "output_0.pb").read_bytes())
    mask = folder / "out" / "output_1.pb"
    kept = wire.read_tensor(mask.read_bytes())[1] if mask.exists() else [n >= 0 for n in numbers]
    mask.unlink(missing_ok=True)
    return [[n for n, k in zip(numbers[r * width:(r + 1) * width], kept[r * width:(r + 1) * width]) if k]
            for r in range(count)]


def cases():
    """Name, model, tokenizer.json of the peer, names of the rules that may differ, more for the comparison."""
    vocabulary, merges = json.loads(text_of("gpt2.vocab")), text_of("gpt2.merges.txt")
    pairs = [line for line in merges.split("\n") if line and not line.startswith("#version")]
    end = {"<|endoftext|>": vocabulary["<|endoftext|>"]}
    yield "GPT2Tokenizer", batch_model("GPT2Tokenizer", {"vocab": json.dumps(vocabulary), "merges": merges}), byte_level(
        vocabulary, pairs, end), ["U+0085 is no white space"], {}
    more = {**vocabulary, "<s>": 50257, "</s>": 50258, "<unk>": 50259, "<pad>": 50260}
    specials = {t: more[t] for t in ("<unk>", "<s>", "</s>", "<pad>")}
    yield "RobertaTokenizer", batch_model("RobertaTokenizer", {"vocab": json.dumps(more), "merges": merges}), byte_level(
        more, pairs, specials, ("<s>", "</s>")), ["U+0085 is no white space"], {}
    for folder in ("phi-2", "phi-3"):
        file = json.loads(text_of(f"{folder}/tokenizer.json"))
        yield f"HfJsonTokenizer of {folder}", batch_model("HfJsonTokenizer", {
            "tokenizer_config": text_of(f"{folder}/tokenizer_config.json"),
            "tokenizer_vocab": text_of(f"{folder}/tokenizer.json")}), file, {
                "phi-2": ["U+0085 is no white space"], "phi-3": ["words are cut before they are merged"]}[folder], {
                    "first": 1} if folder == "phi-3" else {}
    clip = json.loads(text_of("tokenizer/clip/tokenizer.json"))
    config = {"tokenizer_class": "CLIPTokenizer", "bos_token": "<|startoftext|>", "eos_token": "<|endoftext|>",
              "unk_token": "<|endoftext|>", "pad_token": "<|endoftext|>", "add_bos_token": True, "add_eos_token": True}
    yield "HfJsonTokenizer of CLIP", batch_model("HfJsonTokenizer", {
        "tokenizer_config": json.dumps(config), "tokenizer_vocab": json.dumps(clip)}), clip, [
            "no normal form is made", "white space but blanks is kept"], {}
    merges = clip["model"]["merges"]
    lines = "\n".join(m if isinstance(m, str) else " ".join(m) for m in merges)
    yield "CLIPTokenizer", batch_model("CLIPTokenizer", {"vocab": json.dumps(clip["model"]["vocab"]), "merges": lines}), clip, [
        "no normal form is made", "white space but blanks is kept", "numbers stay whole",
        "a blank and an apostrophe are a word"], {}
    t5 = json.loads(text_of("tokenizer/t5-small/tokenizer.json"))
    yield "HfJsonTokenizer of T5", looped_model("HfJsonTokenizer", {
        "tokenizer_config": text_of("tokenizer/t5-small/tokenizer_config.json"),
        "tokenizer_vocab": text_of("tokenizer/t5-small/tokenizer.json")}, 1), t5, ["rules see characters, not clusters",
                                                                         "no text begins behind a special token",
                                                                         "a blank text has no end"], {}
    words = [w for w in text_of("bert_basic_cased_vocab.txt").split("\n") if w]
    marked = {i for i, w in enumerate(words) if w.startswith("##")}
    yield "BertTokenizer", looped_model("BertTokenizer", {"vocab_file": "\n".join(words)}, 3), bert(words), [
        "lower case is a small table", "classes of characters are small tables",
        "an unknown character ends its word"], {"unknown": words.index("[UNK]"), "continues": marked}


def judge(name, ours, theirs, samples, rules, more):
    same, explained, wrong = 0, {}, []
    first = more.pop("first", None)  # a number that the extensions put before all texts, and the peer's file does not
    for text, a, b in zip(samples, ours, theirs):
        b = b if first is None else [first] + b
        if a == b:
            same += 1
            continue
        why = next((r for r in rules if RULES[r] and RULES[r](text)), None)
        if not why and more and same_but_for_ends(a, b, **more):
            why = "an unknown character ends its word"
        if why:
            explained[why] = explained.get(why, 0) + 1
        else:
            wrong.append(f"  {text!r}\n    ours   {a[:40]}\n    theirs {b[:40]}")
    print(f"{name}: {same} of {len(samples)} texts have the same numbers"
          + "".join(f"; {count} differ: {why}" for why, count in sorted(explained.items())))
    if wrong:
        print(f"  {len(wrong)} differ for no reason that is known:\n" + "\n".join(wrong[:6]))
    return not wrong


def sentencepiece(samples, folder):
    """SentencepieceTokenizer beside Google's own program, on texts of one line."""
    if not shutil.which("spm_encode"):
        print("SentencepieceTokenizer: not compared, spm_encode is not here (Debian's package sentencepiece)")
        return True
    lines = [t for t in samples if t.splitlines() == [t] and t.strip()]
    model = FOLDER / "en.wiki.bpe.vs100000.model"
    constants = {"n": ("int64", [1], [0]), "alpha": ("float", [1], [0.0]), "no": ("bool", [1], [False])}
    inputs = [("texts", "string", 1), ("n", "int64", 1), ("alpha", "float", 1)] + [("no", "bool", 1)] * 3
    (folder / "model.onnx").write_bytes(wire.node_model(
        "SentencepieceTokenizer", inputs, [("ids", "int32", 1), ("rows", "int64", 1)], {"model": model.read_bytes()},
        constants=constants))
    (folder / "in" / "input_0.pb").write_bytes(wire.tensor("string", [len(lines)], lines))
    subprocess.run([INGOT, "-q", "run", str(folder / "model.onnx"), "--in", str(folder / "in"), "--out", str(folder / "out")],
                   check=True, stdout=subprocess.DEVNULL, timeout=600)
    ids, splits = (wire.read_tensor((folder / "out" / f"output_{k}.pb").read_bytes())[1] for k in (0, 1))
    ours = [ids[a:b] for a, b in zip(splits, splits[1:])]
    done = subprocess.run(["spm_encode", f"--model={model}", "--output_format=id"], input="".join(t + "\n" for t in lines),
                          capture_output=True, text=True, check=True, timeout=600)
    theirs = [[int(n) for n in line.split()] for line in done.stdout.split("\n")][:len(lines)]
    return judge("SentencepieceTokenizer", ours, theirs, lines, [], {})


def main():
    missing = [str(p) for p in (FOLDER, PEERS / "node_modules" / "tokenizers") if not p.exists()]
    if missing:
        print("SKIPPED: not found:", ", ".join(missing))
        sys.exit(77)
    samples = texts(COUNT)
    all_cases = list(cases())
    is_good = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        job = {"tokenizers": {}, "texts": samples, "out": str(folder / "ids.json")}
        for k, case in enumerate(all_cases):
            path = folder / f"tokenizer{k}.json"
            path.write_text(json.dumps(case[2]))
            job["tokenizers"][case[0]] = str(path)
        (folder / "job.json").write_text(json.dumps(job))
        script = pathlib.Path(__file__).with_name("tokenize.cjs")
        subprocess.run(["node", str(script), str(PEERS), str(folder / "job.json")], check=True, timeout=900)
        theirs = json.loads((folder / "ids.json").read_text())
        for name, model, _, rules, more in all_cases:
            is_good = judge(name, rows(model, samples, folder), theirs[name], samples, rules, more) and is_good
        is_good = sentencepiece(samples, folder) and is_good
    sys.exit(not is_good)


main()
