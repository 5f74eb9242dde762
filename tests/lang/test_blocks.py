"""Shared arrays in the front end: constant shapes, functions made for them, memory of one function alone."""

from __future__ import annotations

from pathlib import Path

from kbuild.ir import nodes
from kbuild.ir.traverse import callees, walk
from kbuild.ir.types import FLOAT32, INT32, Shared
from tests.helpers import kernels


def test_functions_are_made_for_the_shapes_that_they_get(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(
        tmp_path,
        """
        @kb.func
        def first(values: kb.array(dtype=float)):
            return values[values.shape[0] - 1] + float(len(values))

        @kb.kernel
        def k(a: kb.array(dtype=float)):
            small = kb.shared_array(4, float)
            large = kb.shared_array((3, 8), float)
            a[0] = first(small) + first(large[1]) + first(large[2]) + first(a)
        """,
    )
    types = [function.parameters[0].type for function in callees(kernel.function)]
    assert [str(type) for type in types] == ["shared[float32, 4]", "shared[float32, 8]", "array1[float32]"]
    extents = [any(isinstance(n, nodes.Extent) for n in walk(f.body)) for f in callees(kernel.function)]
    assert extents == [False, False, True]


def test_shapes_from_everything_that_is_constant(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(
        tmp_path,
        """
        import enum

        class Size(enum.IntEnum):
            ROWS = 3

        COLUMNS = 4
        SHAPE = (2, 5)

        def make(n, kind):
            @kb.kernel
            def k(a: kb.array(dtype=float)):
                one = kb.shared_array((Size.ROWS, COLUMNS + 1), float)
                two = kb.shared_array(SHAPE, kind)
                three = kb.shared_array(n, dtype=kb.int32)
                if kb.static(n > 2):
                    four = kb.shared_array(kb.static(n * n), int)
                    four[0] = 1
                five = kb.shared_array(one.shape[1] * len(two), int)
                if one:
                    a[0] = 1.0
            return k

        k = make(7, kb.float32)
        """,
    )
    shapes = [(s.name, s.type) for s in kernel.function.shared]
    wanted = [("one", (3, 5), FLOAT32), ("two", (2, 5), FLOAT32), ("three", (7,), INT32)]
    wanted += [("four", (49,), INT32), ("five", (10,), INT32)]
    assert shapes == [(name, Shared(element, shape)) for name, shape, element in wanted]
    assert not any(isinstance(node, nodes.Present) for node in walk(kernel.function.body))


def test_functions_of_equal_text_keep_memory_of_their_own(tmp_path: Path) -> None:
    text = """
        def make(mark):
            @kb.func
            def turn(x: float):
                line = kb.shared_array(4, float)
                line[kb.thread_idx()] = x
                kb.syncthreads()
                return line[3 - kb.thread_idx()]
            return turn

        first = make(1)
        second = make(2)

        @kb.kernel
        def k(a: kb.array(dtype=float)):
            x = first(a[0])
            a[1] = x + second(a[0])
        """
    source = kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source
    assert source.count("__shared__ float line_memory[4];") == 2
    plain = text.replace("line = kb.shared_array(4, float)", "line = x").replace(
        "line[kb.thread_idx()] = x", "line = x"
    )
    plain = plain.replace("line[3 - kb.thread_idx()]", "line")
    assert kernels.emit_kernels(kernels.lower_text(tmp_path, plain)).source.count("float turn") == 1
