"""What NVRTC's own wheels say of themselves, by the digest of their files: nobody has to load and ask those again.

pip's build isolation installs them anew for every build, so a cache under paths and times knows nothing there. The
digest is over every byte, so these are the answers that the library would give; a test asks it.
"""

from __future__ import annotations

from typing import Any

_BOTH = ("--no-source-include", "--no-cache")

# Digest of library and builtins: build, architectures, options it takes of toolchain.OPTIONAL_OPTIONS.
_WHEELS: dict[str, tuple[str, tuple[int, ...], tuple[str, ...]]] = {
    # Linux on x86-64
    "7af78783a669163c73944b76784e2eeccf8bd9b14acaab106c4316179919281a": (
        "11.8.89",
        (35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90),
        ("--no-source-include",),
    ),
    "4ed64b7be37c9b5042ce72427ae6e08339d7f175f2f57aa7771901449be56461": (
        "12.9.86",
        (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121),
        _BOTH,
    ),
    "6b47856f58a44ccf3d5bd0aedfb52d286766f7bc71e61929baa4626606f9b635": (
        "13.0.88",
        (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121),
        _BOTH,
    ),
}


def facts(digest: str) -> dict[str, Any] | None:
    """What a probe of these files would find; None for files that are not known."""
    known = _WHEELS.get(digest)
    if known is None:
        return None
    build, architectures, options = known
    major, minor, _ = map(int, build.split("."))
    return {
        "version": [major, minor],
        "architectures": list(architectures),
        "options": list(options),
        "build": build,
        "digest": digest,
    }
