#!/usr/bin/env python3
"""Packs the folder of a built package as a wheel, by the standard library alone; the same files give the same bytes.

    pack_wheel.py <build>/python <directory>     prints the path of the wheel
"""
import argparse
import base64
import hashlib
import pathlib
import sysconfig
import zipfile

METADATA = """Metadata-Version: 2.1
Name: ingot
Version: {version}
Summary: Carries machine-learning models between frameworks through ONNX: converts, runs, trains, verifies
License: {license}
Requires-Python: ==3.{minor}.*
Requires-Dist: numpy (>=1.20)
"""
ENTRY_POINTS = "[console_scripts]\ningot = ingot.__main__:main\n"


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    args = parser.parse_args()
    package = args.build / "ingot"
    module = next(package.glob("_ingot.*.so"))  # _ingot.cpython-311-x86_64-linux-gnu.so
    tag = module.name.split(".")[1].split("-")  # cpython, 311, x86_64, ...
    python, platform = f"cp{tag[1]}", sysconfig.get_platform().replace("-", "_").replace(".", "_")

    files = {}
    for path in sorted(package.iterdir()):
        if path.suffix in (".py", ".pyi", ".so") or path.name == "py.typed":
            files[f"ingot/{path.name}"] = path.read_bytes()
    info = f"ingot-{args.version}.dist-info"
    metadata = METADATA.format(version=args.version, license="Apache-2.0", minor=tag[1][1:])
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: ingot\nRoot-Is-Purelib: false\n"
                              f"Tag: {python}-{python}-{platform}\n").encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()

    args.output.mkdir(parents=True, exist_ok=True)
    wheel = args.output / f"ingot-{args.version}-{python}-{python}-{platform}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 6)
    print(wheel)


if __name__ == "__main__":
    main()
