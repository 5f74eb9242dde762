"""Runs a generated kernel over sample rows and compares every element with what its expression means."""

from __future__ import annotations

import kbuild as kb
from kbuild.loader.abi import SCALARS
from tests.gpu import meaning


def dtype(type):
    """The type object of a name: `int8`, `vec3h`, `mat22d`."""
    return getattr(kb, "bool_" if type == "bool" else type)


def element_of(type):
    """The scalar type inside `vec3h` or `mat22d`."""
    return type if type in SCALARS else dtype(type)._kb_type_.element.spelling


def run(kernel, types, rows, out_type, expressions):
    """Launches one thread a row; `types` are those of the columns. One list of results for each expression."""
    columns = [kb.array(list(column), dtype=dtype(type)) for type, column in zip(types, zip(*rows))]
    out = kb.zeros((len(expressions), len(rows)), dtype=dtype(out_type))
    kb.launch(kernel, dim=len(rows), inputs=columns, outputs=[out])
    return out.tolist()


def host_values(types, rows):
    """The rows as Numbers, Vectors and Matrices."""
    return [[meaning.from_host(element_of(type), value) for type, value in zip(types, row)] for row in rows]


def check(kernel, letters, types, rows, out_type, expressions, fused=None, equal=meaning.same):
    """Asserts that every element of every expression is right; `fused` says what an expression means otherwise."""
    results = run(kernel, types, rows, out_type, expressions)
    values = host_values(types, rows)
    wrong = []
    for expression, result in zip(expressions, results):
        evaluate = meaning.compiled((fused or {}).get(expression, expression))
        is_equal = loosely if expression.startswith(("kb.min", "kb.max", "kb.clamp")) else equal
        for row, value, got in zip(rows, values, result):
            wanted = meaning.flat(evaluate(dict(zip(letters, value))))
            found = meaning.flat(meaning.from_host(element_of(out_type), got))
            if len(wanted) != len(found) or not all(map(is_equal, found, wanted)):
                wrong.append("%s at %s: got %r, means %r" % (expression, dict(zip(letters, row)), found, wanted))
    assert not wrong, "%d of %d are wrong:\n%s" % (len(wrong), len(rows) * len(expressions), "\n".join(wrong[:20]))


def loosely(a, b):
    """Equal, where the sign of a zero is nobody's promise (the smaller of two zeros)."""
    return (a == b == 0.0 and isinstance(a, float)) or meaning.same(a, b)
