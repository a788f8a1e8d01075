"""Writes HDF5 files in every form that the reader knows: write_files.py DIRECTORY. The test knows the values."""
import os
import sys

import h5py
import numpy as np


def fill(group, counts):
    x = (np.arange(24, dtype="<f4") * 0.5 - 3).reshape(2, 3, 4)
    group.create_dataset("plain", data=x)
    for name in ("<f8", "<f2", ">f4", ">i8", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8"):
        group.create_dataset("as " + name, data=np.arange(5).astype(name))
    group.create_dataset("bool", data=np.array([True, False, True]))
    group.create_dataset("scalar", data=np.float32(2.5))
    group.create_dataset("empty", data=np.zeros((0, 3), "<f4"))
    group.create_dataset("raw", data=np.array([b"ab", b"cd"], dtype="V2"))
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple((2, 3, 4))
    h5py.h5d.create(group.id, b"compact", h5py.h5t.NATIVE_FLOAT, space, plist).write(
        h5py.h5s.ALL, h5py.h5s.ALL, x)
    y = np.arange(7 * 10, dtype="<f4").reshape(7, 10)
    group.create_dataset("chunks", data=y, chunks=(3, 4))
    group.create_dataset("packed", data=y, chunks=(3, 4), compression="gzip", shuffle=True, fletcher32=True)
    group.create_dataset("one chunk", data=y, chunks=(7, 10), compression="gzip")
    group.create_dataset("many chunks", data=np.arange(3000, dtype="<i4"), chunks=(1,))
    group.create_dataset("both grow", data=y, chunks=(3, 4), maxshape=(None, None), compression="gzip")
    group.create_dataset("fixed texts", data=np.array([b"a", b"bcd", b""], dtype="S5"))
    group.create_dataset("texts", data=["x", "y\u00e4", ""], dtype=h5py.string_dtype())
    group.attrs["names"] = np.array([b"conv", b"dense"])
    group.attrs["text"] = "t" * 70000  # in a heap of its own
    group.attrs["number"] = 7
    many = group.create_group("many")
    for i in range(counts):
        many.create_group(f"member_{i}").attrs["index"] = i
    noted = group.create_group("noted")
    for i in range(counts):
        noted.attrs[f"note_{i}"] = f"value {i}"
    group["a/b/kernel:0"] = np.ones((2, 2), "<f4")
    group["again"] = group["plain"]  # a second link to the same object


def main():
    directory = sys.argv[1]
    for name, versions in (("old", "earliest"), ("new", "latest"), ("v108", ("earliest", "v108"))):
        with h5py.File(os.path.join(directory, name + ".h5"), "w", libver=versions) as file:
            fill(file, 700)
    with h5py.File(os.path.join(directory, "user_block.h5"), "w", userblock_size=1024) as file:
        fill(file, 3)
    with h5py.File(os.path.join(directory, "links.h5"), "w") as file:
        file["self"] = file["/"]
        file["outside"] = h5py.ExternalLink("/etc/passwd", "/")
    with h5py.File(os.path.join(directory, "committed.h5"), "w") as file:
        file["type"] = np.dtype("<f4")
        file.create_dataset("x", data=np.ones(3, "<f4"), dtype=file["type"])
    with h5py.File(os.path.join(directory, "external.h5"), "w") as file:
        file.create_dataset("x", (4,), "<f4", external=[("/etc/passwd", 0, 16)])
    with h5py.File(os.path.join(directory, "bomb.h5"), "w") as file:
        file.create_dataset("x", (1 << 40,), "<f4", chunks=(1 << 20,), compression="gzip")
    with h5py.File(os.path.join(directory, "cycle.h5"), "w") as file:
        file.create_group("g")["again"] = file["/"]


main()
