"""`python -m tools.reference`: writes docs/reference.md from what the compiler itself knows of its language.

Types come from the loader's tables, functions from `kbuild.intrinsics.catalogue`, errors in ulps from
benchmarks/results/ulps.json where that has been measured. Only the text about types and constructs is written here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbuild.intrinsics import catalogue
from kbuild.loader import values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kbuild.intrinsics.catalogue import Entry
    from kbuild.intrinsics.row import Row

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference.md"
ULPS = ROOT / "benchmarks" / "results" / "ulps.json"

HEAD = """\
# The kernel language

Made by `python -m tools.reference` from the compiler's own tables; a test fails when the two differ. What a diagnostic
code means says `python -m kbuild explain KB103`; what differs from Warp is in
[coming-from-warp.md](coming-from-warp.md); what arithmetic means to the last bit is in
[design/numbers.md](design/numbers.md).
"""

CONSTRUCTS = """\
## Constructs

| construct | in a kernel |
|---|---|
| `@kb.kernel`, `@kb.kernel(fmad=False, block_dim=128)` | an entry for `kb.launch`; every parameter has a type |
| `@kb.kernel(launch_bounds=256, fast_math=True)` | what the [compiler](compiler-options.md) may rely on and do |
| `@kb.kernel(launch_dim="n")`, `shape=("n", 3)` in annotations | what [holds at every launch](stating.md) |
| `@kb.func` | a function that kernels call; several of one name are told apart by their parameters' types |
| `Any` as a parameter's type | each combination of types is compiled apart; a kernel needs `kb.overload` for each |
| `@kb.func_grad(f)` | how f is differentiated; `kb.adjoint[x] += …` adds to the adjoint of its parameter x |
| `@kb.func_replay(f)` | what stands in for f where gradients run a kernel forward again |
| `@kb.func_native("…")` | a function in CUDA C++: [cuda.md](cuda.md) |
| `@kb.cuda_kernel("blur.cu")` | a kernel in a file of CUDA C++, declared: [cuda.md](cuda.md) |
| `@kb.struct` | a record of annotated fields; `S()` is zero, `S(a, b)` and `S(x=a)` set fields |
| `if`, `elif`, `else`, `while`, `break`, `continue`, `return` | as in Python; a function returns one type, or several |
| `for i in range(a, b, step)`, `reversed(range(…))` | bounds are taken once; other loops, and `else`, are refused |
| `x = …`, `x: float = …`, `x += …`, `a, b = f(…)` | a variable keeps the type it got first |
| `a[i]`, `a[i, j] = …`, `row = a[i]` | an element of an array; with fewer indices a view of what is left |
| `a[-1]` | with a constant index: from the end |
| `a.shape[0]`, `len(a)`, `a.dtype` | extents and element type of an array |
| `if a:`, `a is None` | whether there is an array; a launch may have None for those that a kernel asks for so |
| `TABLE = kb.constant([…])` outside, `TABLE[i]` | a [table](constants.md) in the GPU's constant memory |
| `a[i] += x`, `-=`, `&=`, `\\|=`, `^=` | atomic on an array's element |
| `v[i]`, `v.x`, `v[1:3]`, `m[i, j]`, `m[i]` | elements, slices with constant bounds, rows; all may be assigned |
| `t.p`, `t.q` | position and rotation of a transform |
| `+ - * / // % **`, `@` | both sides of one type; integers divide and leave remainders as in C |
| `& \\| ^ ~ << >>` | integers |
| `f(*pair)`, `kb.vec3(*v, 1.0)` | the parts of a tuple, vector or matrix as arguments |
| `x, y = a[0:2]`, `f(*a[0:4:2])` | elements of an array; start, stop and step are constants, none below zero |
| `f = kb.static(…)`, `vec = kb.types.vector(3, float)` | a local name for a function or a type |
| `assert condition, "text"` | compiled where `asserts = true`; see [debugging.md](debugging.md) |
| `== != < <= > >=`, chained too; `and or not`, `x if c else y` | as in Python; only what decides is computed |
| `kb.float64(x)`, `kb.int32(x)`, `type(x)(y)` | conversions; nothing converts by itself |
| `kb.static(expression)` | Python, computed while building |
| numbers, enums, strings, tuples, vectors, functions from outside | constants, as the build's import finds them |
| `abs min max pow len range` of Python | as `kb.abs` and so on |

A number without a type takes the type of its context (`float64(x) * 0.1` uses 0.1 in double precision), else int32 or
float32. The annotations `float`, `int` and `bool` mean float32, int32 and bool.
"""

FUNCTIONS = """\
## Functions

All are reached as `kb.NAME`. In signatures `Float`, `Integer` and `Number` stand for one scalar type of that kind
throughout the signature (`Float`: float16, float32, float64; `Number`: these and the integers), and `Vec[Float]` is
made of it. `Vec` is a vector of any length, a quaternion or a transform, `Mat` a matrix of any shape, `Square` one with
as many rows as columns, `Composite` any of these, `Array` a one-dimensional array, `Value` any type, one throughout.

- **derivative**: where the function has one that is not zero by construction: *yes*; *no*, and then nothing flows back
  through it; or *parts*: everywhere but at isolated points, where a formula changes or the slope is infinite. Beside it
  stands what each argument gets of `g`, the adjoint of the result `r`, and what is taken at the isolated points. What
  is written in the kernel language is differentiated as a program's own functions are, or has a gradient *in closed
  form*.
- **CUDA**: what a call becomes in CUDA C. A name with `f` is float32, the one beside it float64, and float16 computes
  in float32 and rounds; `kb_…` is kbuild's own function of that name, made for the type. *kernel language*: written in
  the kernel language itself (`kbuild/intrinsics`), so only what a kernel reaches is compiled. *inline*: no call at all.
- **PTX**: the instructions at its heart, for float32 (or int32).
- **ulps**: the largest error found against a reference of high precision, in units in the last place of float32 /
  float64; "-" where it has not been measured.
- **host**: it computes on the host too, with Python's double precision, and rounds to the type of its arguments.
"""

STATEFUL = """
Functions whose first parameter is `state` advance the variable that stands there: `x = kb.randf(state)`. So they do on
the host, where `state = kb.rand_init(seed)` is an object; it draws the numbers that a kernel draws from this seed, and
can be given to a kernel as its uint32.
"""
NOTES = {
    "Random numbers": STATEFUL,
    "Decompositions": "\nEach also takes variables for its results: `kb.svd3(a, u, sigma, v)`.\n",
    "Atomic operations": "\nEach returns the value before; the order among threads is not defined. Elements may also "
    "be vectors or\nmatrices of such numbers, which are changed one number at a time (not `atomic_cas`).\n"
    "Instead of array and indices there may be the place, or a part of it: `kb.atomic_max(bodies[i].energy, x)`.\n",
}


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print("written: %s" % PAGE)


def page() -> str:
    """The text of docs/reference.md."""
    ulps = json.loads(ULPS.read_text(encoding="utf-8"))["functions"] if ULPS.is_file() else {}
    sections = [_group(title, entries, ulps) for title, entries in catalogue.groups().items()]
    return "\n".join([HEAD, types(), CONSTRUCTS, FUNCTIONS, *sections])


def types() -> str:
    """The section about types; every public type name is in it."""
    scalars = [name for name in values.__all__ if name.rstrip("0123456789_") in ("bool", "int", "uint", "float")]
    rows = [
        ("numbers", _names(scalars), "`bool`, `int`, `float` mean `bool_`, `int32`, `float32`"),
        ("vectors", _names(_starting("vec")), "`v.x … v.w`; `types.vector(length, dtype)` for any length"),
        ("matrices", _names(_starting("mat")), "rows × columns; `types.matrix(shape, dtype)` for any shape"),
        ("quaternions", _names(_starting("quat")), "(x, y, z, w); `a * b` turns by b, then by a"),
        ("rigid motions", _names(_starting("transform")), "position `p`, rotation `q`; without arguments no motion"),
        ("spatial vectors", _names(_starting("spatial")), "vectors of 6, angular part first, and 6 × 6 matrices"),
        (
            "arrays",
            _names(["array", "array1d", "array2d", "array3d", "array4d"]),
            "`kb.array(dtype=float)`, `kb.array2d[kb.vec3]`; elements may be structs",
        ),
        (
            "arrays seen through index arrays",
            _names(["indexedarray", *["indexedarray%dd" % ndim for ndim in range(1, 5)]]),
            "`kb.indexedarray(dtype=float)`: `a[i, j]` is `data[indices0[i], indices1[j]]`; in kernels as arrays",
        ),
        ("structs", "classes made with `@kb.struct`", "fields of any type, arrays and structs included"),
    ]
    suffixes = (
        "`h` float16, `f` or none float32, `d` float64, `b` int8, `ub` uint8, `s` int16, `us` uint16, `i` int32, "
    )
    text = "## Types\n\n| what | names | |\n|---|---|---|\n" + "".join(map(_row, rows))
    return "%s\nSuffixes: %s`ui` uint32,\n`l` int64, `ul` uint64.\n" % (text, suffixes)


def _starting(head: str) -> list[str]:
    return [name for name in values.__all__ if name.startswith(head)]


def _names(names: Iterable[str]) -> str:
    return ", ".join("`%s`" % name for name in names)


def _row(cells: Iterable[str]) -> str:
    return "| %s |\n" % " | ".join(cells)


def _group(title: str, entries: list[Entry], ulps: dict[str, Any]) -> str:
    head = "| function | meaning | derivative | CUDA | PTX | ulps | host |\n|---|---|---|---|---|---|---|\n"
    return "### %s\n%s\n%s%s" % (title, NOTES.get(title, ""), head, "".join(_lines(entries, ulps)))


def _lines(entries: list[Entry], ulps: dict[str, Any]) -> Iterable[str]:
    for entry in entries:
        facts = [_derivative(entry), _cuda(entry), _ptx(entry.row), _ulps(ulps.get(entry.name)), _host(entry)]
        for signatures, doc in _uses(entry):
            calls = "<br>".join("`%s%s`" % (entry.name, signature) for signature in signatures)
            yield _row(_cell(text) for text in (calls, doc, *facts))
            facts = [""] * len(facts)  # once a function


def _uses(entry: Entry) -> list[tuple[list[str], str]]:
    """Signatures with one meaning together."""
    found: list[tuple[list[str], str]] = []
    for use in entry.uses:
        if found and found[-1][1] == use.doc:
            found[-1][0].append(str(use.signature))
        else:
            found.append(([str(use.signature)], use.doc))
    return found


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _derivative(entry: Entry) -> str:
    rules = "; ".join("`%s`" % rule for rule in entry.row.partials) if entry.row is not None else ""
    about = [part for part in (rules, "in closed form" if entry.has_gradient else "", entry.subgradient) if part]
    return "%s: %s" % (entry.derivative, "; ".join(about)) if about else entry.derivative


def _cuda(entry: Entry) -> str:
    if entry.row is None:
        return "kernel language" if entry.is_library else "inline"
    return ", ".join("`%s`" % name for name in dict.fromkeys(entry.row.cuda.values()))


def _ptx(row: Row | None) -> str:
    return "" if row is None else _names(row.ptx.split())


def _ulps(measured: dict[str, Any] | None) -> str:
    if not measured:
        return "-"
    found = (measured.get(kind, {}).get("ulps", "-") for kind in ("float32", "float64"))
    return " / ".join(number if isinstance(number, str) else "%.3g" % number for number in found)


def _host(entry: Entry) -> str:
    from kbuild.loader.builtins import TABLE

    return "yes" if TABLE[entry.name].is_on_host else ""


if __name__ == "__main__":
    main()
