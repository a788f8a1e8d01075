#!/usr/bin/env python3
"""Fails when a table of schemas is not what its generator makes of the specification."""
import os
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
spec = pathlib.Path(os.environ.get("INGOT_SHARED", root.parent / "shared")) / "spec"
tables = [("tools/generate_schemas.py", ["onnx-operators.json", "onnx-operators-extras.json"], "ingot/ops/schema_data.inc"),
          ("tools/generate_vendor_schemas.py", ["com-microsoft.json"], "ingot/ops/vendor/schema_data.inc")]
missing = [name for _, facts, _ in tables for name in facts if not (spec / name).exists()]
if missing:
    print("SKIPPED: set INGOT_SHARED; not found:", ", ".join(missing))
    sys.exit(77)
for generator, facts, table in tables:
    command = [sys.executable, root / generator, *(spec / name for name in facts)]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    if made.stdout != (root / table).read_bytes():
        sys.exit(f"{table} is out of date: run {generator}")
print("schema data in sync")
