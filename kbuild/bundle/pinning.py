"""Noting the digest that an application trusts in one of its own files: `DIGEST = "sha256:…"`."""

from __future__ import annotations

import re
from pathlib import Path

from kbuild.errors import UsageError

_LINE = re.compile(r"^DIGEST\s*(?::\s*[\w.\[\]]+\s*)?=.*$", re.MULTILINE)


def pin(path: Path, digest: str) -> None:
    """Put the digest into a Python file: in place of the line that is there, else at the end, else into a new file."""
    line = f'DIGEST = "{digest}"'
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        changed = _with_line(text, line)
        if changed != text:
            path.write_text(changed, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--pin {path}: {error}", help="name a Python file that can be written") from None


def _with_line(text: str, line: str) -> str:
    if _LINE.search(text):
        return _LINE.sub(line, text, count=1)
    return text + ("\n" if text and not text.endswith("\n") else "") + line + "\n"
