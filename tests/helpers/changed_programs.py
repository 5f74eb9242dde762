"""Programs that are nearly right: a right one with a few things exchanged, added or taken out.

changed(text, random.Random(1)) → another text, which Python can parse and which may mean anything or nothing
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator


def changed(text: str, source: random.Random) -> str:
    """A program with one to three expressions, operators, statements or names exchanged."""
    while True:
        tree = ast.parse(text)
        for _ in range(source.choice([1, 1, 1, 2, 3])):
            source.choice(
                [
                    _exchange,
                    _exchange,
                    _operator,
                    _constant,
                    _name,
                    _statement,
                    _argument,
                    _wrapped,
                    _target,
                    _annotation,
                ]
            )(tree, source)
        try:
            result = ast.unparse(ast.fix_missing_locations(tree))
            compile(result, "changed", "exec")
        except (SyntaxError, ValueError):
            continue
        return result + "\n"


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _slots(tree: ast.AST) -> list[tuple[ast.AST, str, int | None, ast.expr]]:
    """Places in function bodies that hold an expression."""
    found: list[tuple[ast.AST, str, int | None, ast.expr]] = []
    for node in (n for f in _functions(tree) for s in f.body for n in ast.walk(s)):
        for name, value in ast.iter_fields(node):
            for position, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(item, ast.expr):
                    found.append((node, name, position, item))
    return found


def _put(slot: tuple[ast.AST, str, int | None, ast.expr], value: ast.expr) -> None:
    node, name, position, _ = slot
    if position is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[position] = value


_ODD = (
    "None",
    "'text'",
    "[1]",
    "(1, 2)",
    "-1",
    "1.5",
    "1e60",
    "a.shape",
    "a[0]",
    "a[0][0]",
    "len(a)",
    "kb.tid()",
    "kb.vec3()",
    "not a",
    "lambda: 0",
    "f(1)",
    "2 ** 70",
    "1 // 0",
    "kb.float64",
    "kb",
    "True",
    "range(3)",
    "type(a)",
    "a if a else 1",
    "0 < a < 1",
    "kb.atomic_add(a, 0, 1)",
    "kb.where(a, 1, 2)",
    "min(1, 2)",
    "int(a)",
    "kb.mat22(1.0) @ kb.vec2()",
    "print(a)",
    "kb.printf('%d', a)",
)


def _exchange(tree: ast.AST, source: random.Random) -> None:
    """One expression in another's place, or one of the odd ones."""
    slots = _slots(tree)
    slot = source.choice(slots)
    whole = [one[3] for one in slots if not isinstance(one[3], (ast.Slice, ast.Starred))]
    text = ast.unparse(source.choice(whole)) if source.random() < 0.7 else source.choice(_ODD)
    if isinstance(getattr(slot[3], "ctx", ast.Load()), ast.Load):
        _put(slot, ast.parse(text, mode="eval").body)


def _operator(tree: ast.AST, source: random.Random) -> None:
    sites = [
        n for n in ast.walk(tree) if isinstance(n, (ast.BinOp, ast.AugAssign, ast.Compare, ast.UnaryOp, ast.BoolOp))
    ]
    if not sites:
        return
    node = source.choice(sites)
    binary = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.BitAnd, ast.MatMult]
    match node:
        case ast.BinOp() | ast.AugAssign():
            node.op = source.choice(binary)()
        case ast.Compare():
            node.ops = [source.choice([ast.Lt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.In])() for _ in node.ops]
        case ast.UnaryOp():
            node.op = source.choice([ast.Not, ast.USub, ast.Invert, ast.UAdd])()
        case ast.BoolOp():
            node.op = source.choice([ast.And, ast.Or])()


def _constant(tree: ast.AST, source: random.Random) -> None:
    sites = [n for f in _functions(tree) for n in ast.walk(f) if isinstance(n, ast.Constant)]
    if sites:
        source.choice(sites).value = source.choice([0, 1, -1, 3, 2**31, 2**64, 0.0, 1.5, 1e39, True, None, "x", 1j])


def _name(tree: ast.AST, source: random.Random) -> None:
    sites = [n for f in _functions(tree) for n in ast.walk(f) if isinstance(n, ast.Name)]
    source.choice(sites).id = source.choice(sites).id


def _statement(tree: ast.AST, source: random.Random) -> None:
    """A statement repeated, moved, or taken out."""
    blocks = [b for f in _functions(tree) for n in ast.walk(f) if isinstance(b := getattr(n, "body", None), list) and b]
    block, other = source.choice(blocks), source.choice(blocks)
    statement = source.choice(block)
    copy = (
        ast.parse(ast.unparse(statement)) if not isinstance(statement, (ast.Return, ast.Break, ast.Continue)) else None
    )
    if source.random() < 0.5 and len(block) > 1:
        block.remove(statement)
    if copy is not None:
        other.insert(source.randrange(len(other) + 1), copy.body[0])


def _argument(tree: ast.AST, source: random.Random) -> None:
    """An argument less, more, named, starred, or in another place."""
    sites = [n for f in _functions(tree) for s in f.body for n in ast.walk(s) if isinstance(n, ast.Call)]
    if not sites:
        return
    call = source.choice(sites)
    arguments = call.args
    way = source.randrange(6)
    if way == 0 and arguments:
        arguments.remove(source.choice(arguments))
    elif way == 1:
        arguments.insert(source.randint(0, len(arguments)), ast.parse(source.choice(_ODD), mode="eval").body)
    elif way == 2 and arguments:
        name = source.choice(["x", "dtype", "p", "length", "shape", "mass"])
        call.keywords.append(ast.keyword(name, arguments.pop()))
    elif way == 3 and arguments:
        arguments[-1] = ast.Starred(arguments[-1], ast.Load())
    elif way == 4:
        source.shuffle(arguments)
    else:
        call.func = ast.parse(source.choice(_CALLED), mode="eval").body


_CALLED = (
    *(
        "kb.atomic_add",
        "kb.atomic_cas",
        "kb.randf",
        "kb.svd3",
        "kb.tid",
        "kb.fma",
        "kb.vec3",
        "kb.quat",
        "kb.transform",
    ),
    *(
        "kb.types.vector",
        "kb.matrix",
        "kb.identity",
        "kb.static",
        "kb.lower_bound",
        "kb.select",
        "kb.array",
        "kb.launch",
    ),
    *(
        "range",
        "len",
        "type",
        "float",
        "min",
        "print",
        "a",
        "kb",
        "kb.mat33",
        "kb.no_such_name",
        "kb.Function",
        "object",
    ),
    *("kb.types.vector(2, float)", "kb.dot", "kb.outer", "kb.min", "kb.sample_cdf", "kb.noise", "kb.mesh_query_point"),
)


def _wrapped(tree: ast.AST, source: random.Random) -> None:
    """An expression as part of a larger one."""
    slot = source.choice(_slots(tree))
    if not isinstance(getattr(slot[3], "ctx", ast.Load()), ast.Load):
        return
    inner = ast.unparse(slot[3])
    wrapping = source.choice(_WRAPPINGS)
    try:
        _put(slot, ast.parse(wrapping.replace("_", f"({inner})"), mode="eval").body)
    except SyntaxError:
        return


_WRAPPINGS = (
    *(
        "_.x",
        "_.shape",
        "_[0]",
        "_[-1]",
        "_[0, 1]",
        "_[1:2]",
        "_[:]",
        "_[0][0]",
        "_.p",
        "_.q",
        "_.no_such_field",
        "_[()]",
    ),
    *(
        "(_, _)",
        "[_]",
        "-_",
        "~_",
        "not _",
        "+_",
        "_ @ _",
        "_ ** 2",
        "_ < _ < _",
        "_ and _",
        "_ if _ else _",
        "kb.static(_)",
    ),
    *("(_)()", "len(_)", "type(_)(_)", "float(_)", "kb.int8(_)", "kb.vec3(_)", "kb.where(_, _, _)", "kb.max(_, _)"),
    *("kb.atomic_add(_, 0, 1)", "kb.atomic_add(_, 1)", "kb.fma(_, _, _)", "kb.randf(_)", "*_", "_[_]", "f'{_}'"),
)


def _target(tree: ast.AST, source: random.Random) -> None:
    """Another target of an assignment or loop."""
    sites = [n for f in _functions(tree) for n in ast.walk(f) if isinstance(n, (ast.Assign, ast.For))]
    if not sites:
        return
    node = source.choice(sites)
    written = [ast.unparse(n.targets[0] if isinstance(n, ast.Assign) else n.target) for n in sites]
    text = source.choice(
        [*written, "a, b", "(a, (b, c))", "a[0], b", "a.x", "a[0][0]", "a.shape", "_", "*a, b", "[a]", "kb"]
    )
    try:
        stored = ast.parse(f"{text} = 0").body[0]
    except SyntaxError:
        return
    assert isinstance(stored, ast.Assign)
    if isinstance(node, ast.Assign):
        node.targets = [stored.targets[0], *node.targets[: source.randint(0, 1)]]
    else:
        node.target = stored.targets[0]


def _annotation(tree: ast.AST, source: random.Random) -> None:
    """Another type of a parameter, or none."""
    sites = [n for f in _functions(tree) for n in ast.walk(f.args) if isinstance(n, ast.arg)]
    if not sites:
        return
    known = [ast.unparse(n.annotation) for n in sites if n.annotation is not None]
    text = source.choice(
        [*known, *known, "kb.vec2", "float", "kb.array(dtype=kb.mat22)", "'int'", "'nothing'", "Any", "str"]
    )
    source.choice(sites).annotation = ast.parse(text, mode="eval").body
