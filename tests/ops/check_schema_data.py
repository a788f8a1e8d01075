#!/usr/bin/env python3
"""Fails when ingot/ops/schema_data.inc is not what tools/generate_schemas.py makes of the specification."""
import os
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
spec = pathlib.Path(os.environ.get("INGOT_SHARED", root.parent / "shared")) / "spec"
facts = [spec / "onnx-operators.json", spec / "onnx-operators-extras.json"]
missing = [str(path) for path in facts if not path.exists()]
if missing:
    print("SKIPPED: set INGOT_SHARED; not found:", ", ".join(missing))
    sys.exit(77)
made = subprocess.run([sys.executable, root / "tools/generate_schemas.py", *facts], check=True, stdout=subprocess.PIPE)
if made.stdout != (root / "ingot/ops/schema_data.inc").read_bytes():
    sys.exit("ingot/ops/schema_data.inc is out of date: run tools/generate_schemas.py")
print("schema data in sync")
