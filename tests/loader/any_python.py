"""The loader as its wheel installs it, on the Python that runs this: `any_python.py SITE REPOSITORY LIBRARY`.

SITE holds the installed kbuild, REPOSITORY the tests, LIBRARY is the fake driver. Python 3.8. Prints the version and
how many checks held; any failure is an exception.
"""

from __future__ import annotations

import gc
import struct
import sys
import threading
from pathlib import Path

sys.path.insert(0, sys.argv[1])
sys.path.append(sys.argv[2])
before = set(sys.modules)
import kbuild.loader as loader  # noqa: E402

HEAVY = {"dataclasses", "inspect", "importlib.metadata", "importlib.resources", "numpy", "ctypes", "difflib"}
early = HEAVY & set(sys.modules) - before

from kbuild.loader import bundle as bundles  # noqa: E402
from kbuild.loader import finder, resolve, types, values  # noqa: E402

late = (HEAVY - {"ctypes"}) & set(sys.modules) - before

from kbuild.loader import array as arrays  # noqa: E402
from kbuild.loader import builtins, dlpack, indexed, loans  # noqa: E402
from kbuild.loader.memory.books import memory_report  # noqa: E402
from tests.helpers.capsules import Consumer, Producer  # noqa: E402
from tests.helpers.driver_cases import SCENES  # noqa: E402
from tests.helpers.driver_failures import try_all  # noqa: E402
from tests.helpers.fake_cuda import FakeCuda, bundle_bytes, make_bundle  # noqa: E402

checks = 0


def check(held: object, what: str) -> None:
    global checks
    if not held:
        raise AssertionError(what)
    checks += 1


@types.struct
class Spring:
    rest: float
    points: arrays.array(dtype=values.vec3)  # type: ignore[valid-type]
    stiff: "values.float64"  # noqa: UP037 (a text of a text)


@types.kernel
def scale(a: arrays.array2d[float], spring: Spring, n: int):
    pass


def refuses(kernel, args, *parts):
    try:
        kernel.launch(1, args)
    except loader.LaunchError as error:
        for part in parts:
            check(part in str(error), "%r in %s" % (part, error))
    else:
        raise AssertionError("%r was not refused" % (args,))


def launches(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "array1[vec3[float32]]"), ("v", "vec3[float32]"), ("x", "float32"), ("n", "int32")])[
        "p.kernels:k"
    ]
    a = arrays.array([values.vec3(1, 2, 3)] * 4)
    for _ in range(3):
        kernel.launch((2, 5), (a, (1, 2, 3), 0.5, 7), stream=3)
        record = cuda.records[-1]
        found = struct.unpack_from("<IxxxxQii3ffi", bytes(record.bytes))
        check(found == (10, a.ptr, 4, 12, 1.0, 2.0, 3.0, 0.5, 7), found)
        check((record.grid, record.block, record.stream) == (1, 256, 3), "configuration")
        refuses(kernel, (a, (1, 2, 3), 0.5, 7.5), "parameter n: wanted int32, got float 7.5")
        refuses(kernel, (a, (1, 2, 3), "x", 7), "parameter x: wanted float32, got str 'x'")
        refuses(kernel, (a, (1, 2, 3), 0.5, 2**31), "2147483648 does not fit int32")
    many = make_bundle([("x", "float32")], ndim=3)["p.kernels:k"]
    many.launch((2, 3, 2**30), (1.0,))
    check(len(cuda.records) == 9, "a large launch goes in pieces")


def structs(cuda: FakeCuda) -> None:
    laid_out = types.abi_type(Spring)
    kernel = make_bundle([("s", laid_out.spelling)], structs={laid_out.name: laid_out.to_json()})["p.kernels:k"]
    spring = Spring(rest=0.5, points=arrays.zeros(3, values.vec3), stiff=2.5)
    for _ in range(2):
        kernel.launch(1, (spring,))
        found = struct.unpack_from("<fxxxxQiid", bytes(cuda.records[-1].bytes), 8)
        check(found == (0.5, spring.points.ptr, 3, 12, 2.5), found)
    check(arrays.array([spring]).tolist()[0].stiff == 2.5, "a struct comes back")


def seen_through_indices(cuda: FakeCuda) -> None:
    kernel = make_bundle([("a", "indexedarray2[float32]"), ("x", "float32")])["p.kernels:k"]
    data, rows = arrays.array([[1.0, 2.0], [3.0, 4.0]]), arrays.array([1, 0, 1])
    seen = indexed.indexedarray(data, [rows, None])
    wanted = (data.ptr, 2, 2, 8, 4, rows.ptr, 0, 3, 2, 0.5)
    for _ in range(3):
        kernel.launch(1, (seen, 0.5))
        check(struct.unpack_from("<Q4i2Q2if", bytes(cuda.records[-1].bytes), 8) == wanted, "the descriptor")
    check(seen.tolist() == [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]], "elements are gathered")
    refuses(kernel, (data, 0.5), "parameter a: wanted indexedarray2[float32], got array")


def states(cuda: FakeCuda) -> None:
    """A state of random numbers goes to a kernel as its uint32, as it is at each launch."""
    kernel = make_bundle([("s", "uint32")])["p.kernels:k"]
    state = builtins.rand_init(42)
    for _ in range(3):
        builtins.randu(state)
        kernel.launch(1, (state,))
        (found,) = struct.unpack_from("<I", bytes(cuda.records[-1].bytes), 8)
        check(found == int(state), (found, state))


def threads(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "float64"), ("n", "int64")])["p.kernels:k"]
    cuda.library.fake_delay(20)

    def work(me: int) -> None:
        for i in range(50):
            kernel.launch(1, (float(me * 1000 + i), me * 1000 + i))

    workers = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    pairs = {struct.unpack_from("<dq", bytes(r.bytes), 8) for r in cuda.records}
    check(len(pairs) == 200 and all(x == n for x, n in pairs), "no launch is torn")


def failures(cuda: FakeCuda) -> None:
    """Each public call through each failing driver call, with one code; all codes are tried on one Python only."""
    for name in set(SCENES) - {"array of numpy"}:
        check(try_all(cuda, name, (400,), [(False, False), (True, True)]), name)


def library() -> None:
    """The functions of the kernel language on the host: imported at their first call, and the same on every Python."""
    check(
        builtins.normalize(values.vec3(0.0, 3.0, 4.0)) == (0.0, values.float32(0.6), values.float32(0.8)), "normalize"
    )
    rare = {"kbuild.loader.host_" + name for name in ("calls", "library", "math", "random")}
    check(not rare & set(sys.modules), "nobody has called them yet")
    state = builtins.rand_init(42)
    check(builtins.randf(state) == 0.6485052108764648, "randf")
    check(
        tuple(builtins.sample_unit_sphere(state)) == (-0.22041606903076172, -0.4225303530693054, -0.8205028772354126),
        "sphere",
    )
    check(builtins.noise(state, values.vec3(0.3, 0.2, 0.1)) == -0.23011894524097443, "noise")
    check(builtins.inverse(values.mat22d(2.0, 0.0, 0.0, 4.0)) == ((0.5, 0.0), (0.0, 0.25)), "inverse")
    check(builtins.fma(1e-30, 1e30, -1.0) == 1.0322104544624199e-16, "fma")
    check(rare <= set(sys.modules), "now they are there")


def lending(cuda):
    """Memory out and in by DLPack, given back with an exception on its way too."""
    mine, producer = arrays.zeros((2, 3)), Producer()
    consumer = Consumer(mine.__dlpack__(stream=1))
    check((consumer.shape, consumer.tensor.data, loans.count()) == ((2, 3), mine.ptr, 1), "lent")
    consumer.give_back()
    check(loans.count() == 0, "given back")
    try:
        check(mine.__dlpack__(max_version=(1, 0)), 1 / 0)
    except ZeroDivisionError:
        check(loans.count() == 0, "never consumed")
    made = dlpack.from_dlpack(producer.capsule())
    check(made.tolist() == [0.0] * 4 and not producer.deleted, "borrowed")
    del made
    check(len(producer.deleted) == 1, "given back once")


def reports(cuda):
    """Memory is held by a line, which is found when somebody asks."""
    first, held = reports.__code__.co_firstlineno, []
    for _ in range(2):
        held += [
            arrays.zeros(8),
            arrays.zeros(8),
        ]
    held.append(arrays.zeros(64))
    found = sorted((count, size, line - first) for size, count, _, line in reporting())
    check(found == [(1, 256, 8), (2, 64, 5), (2, 64, 6)], found)


def reporting():
    return memory_report().holders


def main() -> None:
    library()
    check(not early, "`import kbuild.loader` loads %s" % early)
    check(not late, "the loader loads %s" % late)
    check(loader.Bundle is bundles.Bundle and callable(resolve.launch) and finder.BUNDLE_NAME, "names")
    check(scale.name == "__main__:scale", scale.name)
    check(loader.__file__.startswith(sys.argv[1]), "the loader is the installed one: %s" % loader.__file__)
    for test in (launches, structs, seen_through_indices, states, threads, lending, reports):
        gc.disable()  # what is in no cycle goes without
        with FakeCuda(Path(sys.argv[3])) as cuda:
            test(cuda)
            check(not cuda.breaches, cuda.breaches)
            check(not cuda.leaks, "%s leaves %s" % (test.__name__, cuda.leaks))
        gc.enable()
    with FakeCuda(Path(sys.argv[3]), devices="9.0,9.0") as cuda:
        failures(cuda)
    check(bundles.from_bytes(bundle_bytes([("x", "int8")]), "memory").digest.startswith("sha256:"), "digest")
    print("%d.%d %d checks" % (sys.version_info[0], sys.version_info[1], checks))


main()
