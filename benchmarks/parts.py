"""Brings a large wheel to a machine that takes little at a time and has no network.

    parts.py pack WHEEL FOLDER       FOLDER/0/part, FOLDER/1/part, …: each small enough to travel on its own
    parts.py unpack FOLDER TARGET    joins FOLDER/*.part, brought together there as 0.part, 1.part, …

Left out are files that the benchmarks do without: Warp's own compiler for the host, examples and tests.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import lzma
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

SIZE = 40 << 20
LEFT_OUT = ("warp/bin/warp-clang.so", "warp/examples/", "warp/tests/", "warp/_src/tests/")


def main() -> None:
    """One of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("pack", "unpack"))
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    {"pack": pack, "unpack": unpack}[arguments.command](arguments.source, arguments.target)


def pack(wheel: Path, folder: Path) -> None:
    """Numbered parts, and beside the first the digest of all."""
    shutil.rmtree(folder, ignore_errors=True)
    filters = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 64 << 20}]
    whole = io.BytesIO()
    with (
        zipfile.ZipFile(wheel) as source,
        lzma.LZMAFile(whole, "w", filters=filters) as packed,
        tarfile.open(fileobj=packed, mode="w|") as archive,
    ):
        for row in source.infolist():
            if not row.is_dir() and not row.filename.startswith(LEFT_OUT):
                entry = tarfile.TarInfo(row.filename)
                entry.size = row.file_size
                archive.addfile(entry, source.open(row))
    data = whole.getvalue()
    for number, start in enumerate(range(0, len(data), SIZE)):
        part = folder / str(number) / f"{number}.part"
        part.parent.mkdir(parents=True)
        part.write_bytes(data[start : start + SIZE])
        print(f"{part}: {part.stat().st_size >> 20} MiB")
    (folder / "0" / "sha256").write_text(hashlib.sha256(data).hexdigest() + "\n", encoding="utf-8")


def unpack(folder: Path, target: Path) -> None:
    """Joins and unpacks. Exits where a part is missing or damaged."""
    parts = sorted(folder.glob("*.part"), key=lambda path: int(path.stem))
    data = b"".join([path.read_bytes() for path in parts])
    if hashlib.sha256(data).hexdigest() != (folder / "sha256").read_text(encoding="utf-8").strip():
        sys.exit(f"{[path.name for path in parts]} in {folder} are not all the parts, or one is damaged")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:xz") as archive:
        archive.extractall(target, filter="data")


if __name__ == "__main__":
    main()
