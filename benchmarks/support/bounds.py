"""How far a function may be from the right result, in units of the last place: what NVIDIA documents.

The CUDA C++ Programming Guide (13.0) lists, in "Mathematical Functions / Standard Functions", the largest difference
between a function's result and the correctly rounded one that extensive tests found. kbuild calls these functions; the
rest is exact by its definition, or rounds once.
"""

from __future__ import annotations

# Name: float32, float64.
DOCUMENTED: dict[str, tuple[int, int]] = {
    "sqrt": (0, 0),
    "rsqrt": (2, 1),
    "cbrt": (1, 1),
    "pow": (4, 2),
    "exp": (2, 1),
    "exp2": (2, 1),
    "log": (1, 1),
    "log2": (1, 1),
    "log10": (2, 1),
    "sin": (2, 2),
    "cos": (2, 2),
    "tan": (4, 2),
    "asin": (2, 2),
    "acos": (2, 2),
    "atan": (2, 2),
    "atan2": (3, 2),
    "sinh": (3, 2),
    "cosh": (2, 1),
    "tanh": (2, 1),
    "erf": (2, 2),
    "erfc": (4, 5),
    "erfinv": (2, 5),
    "erfcinv": (4, 6),
    "floor": (0, 0),
    "ceil": (0, 0),
    "trunc": (0, 0),
    "round": (0, 0),
    "rint": (0, 0),
    "mod": (0, 0),
    "add": (0, 0),
    "sub": (0, 0),
    "mul": (0, 0),
    "div": (0, 0),
    "fma": (0, 0),
}
# By kbuild's definition: no rounding, or two (of the constant and of the product).
OWN: dict[str, int] = {"abs": 0, "min": 0, "max": 0, "copysign": 0, "frac": 0, "degrees": 2, "radians": 2}


def bound(function: str, type: str) -> int:
    """Largest distance from the correctly rounded result. A float16 is computed as float32, and rounded once more."""
    documented = DOCUMENTED.get(function)
    single, double = documented if documented is not None else (OWN[function], OWN[function])
    return {"float16": min(single, 1), "float32": single, "float64": double}[type]
