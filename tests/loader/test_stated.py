"""What kernels state of their launches: held against every launch, however it is made; the driver is a stand-in."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import array as arrays
from kbuild.loader import bound, format, graphs, indexed, resolve
from kbuild.loader.bundle import from_bytes
from kbuild.loader.errors import BundleError, LaunchError
from kbuild.loader.kernel import BundleKernel
from tests.helpers import fake_torch
from tests.helpers.fake_cuda import FakeCuda, bundle_bytes, make_bundle
from tests.helpers.situations import happens

PARAMETERS = [("a", "array2[float32]"), ("b", "array1[float32]"), ("n", "int32")]
ROWS = [
    ("a.shape[1]", "==", "3", "a.shape[1] == 3"),
    ("b.shape[0]", "==", "a.shape[0]", 'b.shape[0] == a.shape[0] ("rows")'),
    ("n", ">", "0", "n > 0"),
    ("dim[0]", "==", "a.shape[0]", "dim == a.shape[0] (launch_dim)"),
]
TEXT = "k: {}, but line 12 of p.kernels says `{}`{}\n  help: {}, or change what the kernel says, and build again"


def stating(parameters: Any = PARAMETERS, rows: Any = ROWS, **options: Any) -> BundleKernel:
    return make_bundle(parameters, stated=rows, **options)["p.kernels:k"]


def given(rows: int = 5, columns: int = 3, length: int = 5, n: int = 1) -> list[Any]:
    return [arrays.zeros((rows, columns)), arrays.zeros(length), n]


WRONG = [
    (
        5,
        {"columns": 4},
        "parameter a: a.shape[1] is 4",
        "a.shape[1] == 3",
        "",
        "give an array that has 3 along axis 1",
    ),
    (
        5,
        {"length": 4},
        "parameter b: b.shape[0] is 4",
        'b.shape[0] == a.shape[0] ("rows")',
        ", and a.shape[0] is 5",
        "give an array that has 5 along axis 0",
    ),
    (5, {"n": -3}, "parameter n: n is -3", "n > 0", "", "give arguments that agree with it"),
    (
        6,
        {},
        "dim is 6",
        "dim == a.shape[0] (launch_dim)",
        ", and a.shape[0] is 5",
        "launch it over 5 threads",
    ),
]


@happens(
    "A launch",
    "a launch does not agree with what its kernel states of shapes, of `dim` or of numbers",
    "`LaunchError` that names the kernel, the parameter, both sizes, the line and the cure; nothing is launched, in "
    "the simulator neither.",
)
@pytest.mark.parametrize(("dim", "changed", "what", "said", "other", "cure"), WRONG)
def test_launches_are_held_against_it(
    cuda: FakeCuda, dim: int, changed: dict[str, int], what: str, said: str, other: str, cure: str
) -> None:
    kernel, wrong = stating(), given(**changed)
    for _ in range(3):  # thorough launches, then the quick one
        with pytest.raises(LaunchError) as refused:
            kernel.launch(dim, wrong)
        assert str(refused.value) == "p.kernels:" + TEXT.format(what, said, other, cure)
        kernel.launch(5, given())
    assert kernel.launch != kernel.thorough
    assert cuda.launches == 3
    with pytest.raises(LaunchError, match=r"but line 12 of p\.kernels says"):
        bound.bind(kernel, dim, wrong)
    with pytest.raises(LaunchError, match=r"but line 12 of p\.kernels says"):
        resolve.launch(kernel, dim, wrong, record_cmd=True)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes a launch so often that it is quick, and then launches that must be."""

    def launch(kernel: BundleKernel, *launches: tuple[Any, Any]) -> None:
        for _ in range(2):
            kernel.launch(*launches[0])
        with monkeypatch.context() as patch:
            patch.setattr(BundleKernel, "packing", None)  # the thorough way needs it
            for one in launches:
                kernel.launch(*one)

    return launch


def test_right_launches_are_quick_and_stay_so(cuda: FakeCuda, quick: Callable[..., None]) -> None:
    quick(stating(), (5, given()), (7, given(7, length=7)), (5, given(n=3)))
    assert cuda.launches == 5


def test_a_kernel_that_states_nothing_pays_nothing(fake_library: Any) -> None:
    """Not an instruction, not an import."""
    text = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.helpers.fake_cuda import FakeCuda, make_bundle\n"
        "from kbuild.loader import array as arrays\n"
        f"with FakeCuda({str(fake_library)!r}) as cuda:\n"
        "    kernel = make_bundle([('a', 'array1[float32]')])['p.kernels:k']\n"
        "    a = arrays.zeros(3)\n"
        "    for _ in range(4):\n"
        "        kernel.launch(3, [a])\n"
        "    assert kernel.launch != kernel.thorough\n"
        "    assert 'stated' not in kernel.launch.__globals__\n"
        "    assert 'stated' not in kernel.launch.__code__.co_names\n"
        "    assert 'kbuild.loader.stated' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


def test_several_axes(cuda: FakeCuda, quick: Callable[..., None]) -> None:
    rows = [
        ("dim[0]", "==", "a.shape[0]", "dim[0] == a.shape[0] (launch_dim)"),
        ("dim[1]", "==", "a.shape[1]", "dim[1] == a.shape[1] (launch_dim)"),
        ("dim[2]", "==", "4", "dim[2] == 4 (launch_dim)"),
    ]
    kernel = stating(rows=rows, ndim=3)
    for _ in range(4):
        kernel.launch((5, 3, 4), given())
        kernel.launch((7, 3, 4), given(rows=7))
        for dim, axis in (((6, 3, 4), 0), ((5, 4, 4), 1), ((3, 5, 4), 0), ((5, 3, 8), 2), ((5, 3), 2), ((60,), 0)):
            with pytest.raises(LaunchError, match=rf"(?s)dim\[{axis}\] is .* over \d threads along axis {axis}"):
                kernel.launch(dim, given())
    quick(kernel, ((5, 3, 4), given()), ((7, 3, 4), given(rows=7)), ((1, 3, 4), given(rows=1)))


def test_a_dim_of_several_numbers_counts_as_many_threads(cuda: FakeCuda) -> None:
    kernel = stating()
    for _ in range(4):
        kernel.launch((2, 3), given(6, length=6))
        with pytest.raises(LaunchError, match="dim is 6"):
            kernel.launch((2, 3), given())


def test_launches_in_blocks(cuda: FakeCuda) -> None:
    kernel = stating(whole_blocks=True, block_dim=64)
    for _ in range(4):
        resolve.launch(kernel, grid=2, block=32, inputs=given(64, length=64))
        resolve.launch(kernel, grid=(2, 1), inputs=given(128, length=128))
        resolve.launch(kernel, 128, given(128, length=128))
        with pytest.raises(LaunchError, match="dim is 128"):
            resolve.launch(kernel, grid=4, block=32, inputs=given(64, length=64))
        with pytest.raises(LaunchError, match="dim is 128"):
            resolve.launch(kernel, grid=2, inputs=given(64, length=64))


def test_blocks_as_suit_the_gpu(cuda: FakeCuda) -> None:
    """Where a grid names no block, the device decides how many threads that is."""
    kernel = stating(any_block_dim=True, registers=72)  # blocks of 128
    block = kernel.load(arrays.zeros(1).device).block_dim
    assert block != kernel.block_dim
    for _ in range(4):
        resolve.launch(kernel, grid=3, inputs=given(3 * block, length=3 * block))


def test_launches_without_threads_run_nothing(cuda: FakeCuda) -> None:
    kernel = stating()
    for _ in range(3):
        kernel.launch(0, given(0, length=0, n=0))
        kernel.launch(0, given(0, length=7))
        with pytest.raises(LaunchError, match="dim is 0"):
            kernel.launch(0, given())
    step = bound.bind(kernel, 0, given(0, 0, 0, 0))
    step()
    assert cuda.launches == 0


def test_several_grids(cuda: FakeCuda) -> None:
    kernel = stating()
    for _ in range(3):
        kernel.launch(1000, given(1000, length=1000), max_blocks=1)
        with pytest.raises(LaunchError, match="dim is 999"):
            kernel.launch(999, given(1000, length=1000), max_blocks=1)
    assert cuda.launches == 12


OPTIONAL = [
    ("b.shape[0]", "==", "a.shape[0]", 'b.shape[0] == a.shape[0] ("rows")'),
    ("b.shape[0]", ">", "1", "b.shape[0] > 1"),
]


def test_arrays_that_are_none_have_no_shape(cuda: FakeCuda, quick: Callable[..., None]) -> None:
    kernel = stating(rows=OPTIONAL, optional=["b"])
    a, b, _ = given()
    for _ in range(4):
        kernel.launch(9, [a, None, 0])
        kernel.launch(9, [a, b, 0])
        with pytest.raises(LaunchError, match=r"b\.shape\[0\] is 4"):
            kernel.launch(9, [a, arrays.zeros(4), 0])
    quick(kernel, (9, [a, None, 0]), (9, [a, b, 0]))


def test_numbers_of_every_kind(cuda: FakeCuda, quick: Callable[..., None]) -> None:
    parameters = [("dt", "float32"), ("x", "float64"), ("u", "uint64"), ("i", "int8"), ("h", "float16")]
    rows = [
        ("dt", "<", "0.1", "dt < 0.1"),
        ("x", ">=", "-1e-300", "x >= -1e-300"),
        ("u", "!=", "18446744073709551615", "u != 18446744073709551615"),
        ("i % 4", "==", "0", "i % 4 == 0"),
        ("h", "<=", "x", "h <= x"),
    ]
    kernel = stating(parameters, rows)
    right = [0.05, 1.0, 2**64 - 2, -4, 0.5]
    wrong = [(0, 0.5), (0, float("nan")), (1, -1.0), (2, 2**64 - 1), (3, 6), (3, -3), (4, 1.5)]
    for _ in range(4):
        kernel.launch(1, right)
        for place, value in wrong:
            with pytest.raises(LaunchError, match=r"but line 12 of p\.kernels says"):
                kernel.launch(1, [*right[:place], value, *right[place + 1 :]])
    quick(kernel, (1, right))


SUMS = [
    ("a.shape[0]", "==", "n + 1", "a.shape[0] == n + 1"),
    ("b.shape[0]", ">=", "a.shape[0] * a.shape[1] + -2 * n", "b.shape[0] >= a.shape[0] * a.shape[1] - 2 * n"),
    ("n * n", ">", "-1", "n * n > -1"),
    ("n + a.shape[1] % 4", "==", "0", "(n + a.shape[1]) % 4 == 0"),
]


def test_sums_of_products(cuda: FakeCuda, quick: Callable[..., None]) -> None:
    kernel = stating(rows=SUMS)
    wrong = [
        (
            given(6, 4, 99, 4),
            r"a\.shape\[0\] is 6, .*`a\.shape\[0\] == n \+ 1`, and n \+ 1 is 5\n  help: give an array",
        ),
        (
            given(5, 4, 11, 4),
            r"b\.shape\[0\] is 11, .*and a\.shape\[0\] \* a\.shape\[1\] - 2 \* n is 12\n  help: give arg",
        ),
        (given(5, 3, 99, 4), r"k: n \+ a\.shape\[1\] % 4 is 3"),
    ]
    for _ in range(4):
        kernel.launch(1, given(5, 4, 12, 4))
        for args, said in wrong:
            with pytest.raises(LaunchError, match=said):
                kernel.launch(1, args)
    quick(kernel, (1, given(5, 4, 12, 4)), (1, given(9, 4, 99, 8)))


@pytest.mark.parametrize(
    ("kind", "row", "right", "wrong"),
    [
        ("int32", ("x * x", "<", "0"), 46341, 46340),
        ("int32", ("x + 2147483647", "==", "-2147483648"), 1, 2),
        ("uint32", ("x + -1", "==", "4294967295"), 0, 1),
        ("int8", ("2 * x", "==", "-2"), 127, 126),
        ("uint16", ("x * x", "==", "0"), 256, 255),
        ("int64", ("x * x * x", ">", "0"), 2097151, 2097152),
        ("uint64", ("x + -2 % 16", "==", "0"), 2, 1),
    ],
)
def test_sums_wrap_as_in_kernels(cuda: FakeCuda, kind: str, row: Any, right: int, wrong: int, quick: Any) -> None:
    kernel = stating([("x", kind)], [(*row, "x")])
    for _ in range(4):
        kernel.launch(1, [right])
        with pytest.raises(LaunchError, match="but line 12 of"):
            kernel.launch(1, [wrong])
    quick(kernel, (1, [right]))


@kb.struct
class Model:
    count: int
    masses: kb.array(dtype=float)  # type: ignore[valid-type]


def test_fields_of_structs(cuda: FakeCuda, quick: Callable[..., None]) -> None:
    name = f"{Model.__module__}:Model"
    structs = {name: {"size": 24, "align": 8, "fields": [["count", "int32", 0], ["masses", "array1[float32]", 8]]}}
    rows = [("model.masses.shape[0]", "==", "model.count", "x"), ("model.count", "<", "n", "x")]
    kernel = stating([("n", "int32"), ("model", f"struct:{name}")], rows, structs=structs)
    right, wrong = Model(count=4, masses=arrays.zeros(4)), Model(count=4, masses=arrays.zeros(5))
    for _ in range(4):
        kernel.launch(1, [5, right])
        with pytest.raises(LaunchError, match=r"parameter model: model\.masses\.shape\[0\] is 5.*model\.count is 4"):
            kernel.launch(1, [5, wrong])
        with pytest.raises(LaunchError, match=r"parameter model: model\.count is 4.*n is 4"):
            kernel.launch(1, [4, right])
    quick(kernel, (1, [5, right]))


def test_tensors_of_another_library(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = fake_torch.install(monkeypatch)
    kernel = stating()
    memory = arrays.zeros((5, 3)), arrays.zeros(5), arrays.zeros(6)
    a, b, long = (torch.over(one) for one in memory)
    for _ in range(5):
        kernel.launch(5, [a, b, 1])
        with pytest.raises(LaunchError, match=r"b\.shape\[0\] is 6"):
            kernel.launch(5, [a, long, 1])
    assert kernel._takes_tensors
    assert kernel.launch != kernel.thorough


def test_float32_is_looked_at_as_the_kernel_sees_it(cuda: FakeCuda) -> None:
    """0.1 as a float32 is a little more than 0.1."""
    kernel = stating([("dt", "float32")], [("dt", "==", "0.10000000149011612", "dt == 0.1")])
    for _ in range(4):
        kernel.launch(1, [0.1])


def test_arrays_seen_through_index_arrays(cuda: FakeCuda) -> None:
    rows = [("a.shape[1]", "==", "2", "a.shape[1] == 2"), ("dim[0]", "==", "a.shape[0]", "dim (launch_dim)")]
    kernel = stating([("a", "indexedarray2[float32]")], rows)
    picked = kb.array([0, 2, 4], dtype=int, device="cuda:0")
    seen = indexed.indexedarray(arrays.zeros((9, 2)), [picked, None])
    for _ in range(4):
        kernel.launch(3, [seen])
        with pytest.raises(LaunchError, match=r"dim is 9.*a\.shape\[0\] is 3"):
            kernel.launch(9, [seen])


def test_a_bound_launch_is_held_against_it_when_it_is_launched(cuda: FakeCuda) -> None:
    """Sizes change one after another."""
    kernel = stating()
    step = bound.bind(kernel, 5, given())
    step()
    step.set(a=arrays.zeros((7, 3)))
    with pytest.raises(LaunchError, match=r"b\.shape\[0\] is 5.*a\.shape\[0\] is 7"):
        step()
    step.set("b", arrays.zeros(7))
    with pytest.raises(LaunchError, match="dim is 5"):
        step.launch()
    step.set_dim(7)
    step()
    step()
    step.set(n=0)
    with pytest.raises(LaunchError, match="n is 0"):
        step()
    assert cuda.launches == 3


def test_a_launch_in_a_graph_is_held_against_it_when_it_is_updated(cuda: FakeCuda) -> None:
    kernel = stating()
    step = bound.bind(kernel, 5, given())
    with graphs.capture() as graph:
        step()
    step.set(b=arrays.zeros(6))
    with pytest.raises(LaunchError, match=r"b\.shape\[0\] is 6"):
        graph.update(step)
    step.set(b=arrays.zeros(5), n=7)
    graph.update(step)
    step.set(n=0)
    with pytest.raises(LaunchError, match="n is 0"), graphs.capture():
        step()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("c.shape[0]", "==", "3", "x"), "'c' is no parameter"),
        (("a.shape[2]", "==", "3", "x"), "'a.shape[2]' is none of 2 axes"),
        (("a.shape[-1]", "==", "3", "x"), "is none of 2 axes"),
        (("n.shape[0]", "==", "3", "x"), "'n.shape[0]' is of no array"),
        (("a", "==", "3", "x"), "'a' is no number"),
        (("n.x", "==", "3", "x"), "'n.x' is no field of a parameter"),
        (("dim[1]", "==", "3", "x"), "'dim[1]' is none of 1 axes"),
        (("n", "is", "3", "x"), "'is' compares nothing"),
        (("n", "==", "1e999", "x"), "'1e999' is no number"),
        (("n", "==", "03", "x"), "'03' is no number"),
        (("n % 0", "==", "0", "x"), "'n % 0' has no divisor"),
        (("3", "==", "n", "x"), "'3' stands on the left"),
        (("n + x", "==", "n", "x"), "'x' is no parameter"),
        (("n + ", "==", "n", "x"), "'' is no number"),
        (("n * f", "==", "n", "x"), "'n * f' computes with f and i"),
        (("f * f", "==", "f", "x"), "'f * f' computes with f"),
        (("f % 4", "==", "0", "x"), "'f % 4' is no integer"),
        (("n % 4.0", "==", "0", "x"), "'n % 4.0' has no divisor"),
        (("n", "==", "", "x"), "a printable text"),
        (("n", "==", "3"), "[term, operator, term, text]"),
    ],
)
def test_rows_that_cannot_be(cuda: FakeCuda, row: Any, said: str) -> None:
    data = bundle_bytes([*PARAMETERS, ("f", "float32")], stated=[row])
    with pytest.raises(BundleError) as refused:
        format.parse(data)
    assert str(refused.value).startswith("manifest.kernels[0].stated")
    assert said in str(refused.value)
    with pytest.raises(BundleError, match=r"manifest\.kernels\[0\]\.stated"):
        from_bytes(data, "memory")["p.kernels:k"].launch(5, [*given(), 1.0])
    assert cuda.launches == 0


def test_plain_kernels_state_nothing() -> None:
    with pytest.raises(BundleError, match=r"manifest\.kernels\[0\]\.stated is not of plain kernels"):
        format.parse(bundle_bytes([("n", "int32")], plain=True, stated=[("n", ">", "0", "n > 0")]))
