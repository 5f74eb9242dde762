"""Every public call of the loader that talks to the driver, as something that can be done again and compared.

A scene is a function of the fake driver that prepares what a call needs and returns the call; the call's result can be
compared, and holds no GPU memory. Preparing may use the driver: its failures are counted from the call on. Python 3.8.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from kbuild import loader
from kbuild.loader import __main__ as command_line
from kbuild.loader import array as arrays
from kbuild.loader import (
    bound,
    conditional,
    context,
    copying,
    dlpack,
    driver,
    foreign,
    format,
    graphs,
    hosts,
    indexed,
    loans,
    peers,
    readiness,
    resolve,
)
from kbuild.loader import bundle as bundles
from kbuild.loader.types import int32, struct
from kbuild.loader.values import vec3
from kbuild.primitives import conditions
from kbuild.warp import launching, memory
from tests.helpers.capsules import Consumer, Producer
from tests.helpers.fake_cuda import bundle_bytes, code, cubin_row, kernel_rows, make_bundle, make_manifest
from tests.helpers.fake_torch import FakeTorch

if TYPE_CHECKING:
    from tests.helpers.fake_cuda import FakeCuda

try:
    import numpy
except ImportError:  # on old machines there may be none
    numpy = None

Act = Callable[[], Any]
SCENES: dict[str, Callable[[Any], Act]] = {}
PARAMETERS = [("a", "array1[float32]"), ("x", "float32")]


def scene(function: Callable[[FakeCuda], Act]) -> Callable[[FakeCuda], Act]:
    """Enters a function into the table, under its name."""
    SCENES[function.__name__.replace("_", " ")] = function
    return function


@struct
class Pair:
    mass: float
    at: vec3  # type: ignore[valid-type]


class Tensor:
    """Another library's array over memory of ours."""

    def __init__(self, block: Any, **described: Any) -> None:
        self.block = block
        self.__cuda_array_interface__ = {**block.__cuda_array_interface__, "stream": None, **described}


def strided(block: Any) -> Any:
    """Every second element of each row, bottom row first."""
    return arrays.array(ptr=block.ptr + 16, shape=(2, 2), strides=(-16, 8), dtype=int32, owner=block, device=0)


def launched(cuda: FakeCuda, launch: Act) -> Act:
    """A launch whose result is what newly arrived at the driver, but for addresses."""

    def act() -> Any:
        before = len(cuda.records)
        launch()
        return [(r.grid, r.block, r.size) for r in cuda.records[before:]]

    return act


# Devices


@scene
def get_devices(cuda: FakeCuda) -> Act:
    return lambda: [(str(d), d.name, d.target, d.driver) for d in hosts.get_devices()]


@scene
def get_device(cuda: FakeCuda) -> Act:
    return lambda: str(context.get_device("cuda:1"))


@scene
def context_of_a_device(cuda: FakeCuda) -> Act:
    return lambda: context.get_device(1).context


@scene
def synchronize(cuda: FakeCuda) -> Act:
    return context.synchronize


@scene
def synchronize_the_second_GPU(cuda: FakeCuda) -> Act:
    return lambda: context.synchronize(1)


@scene
def explain_on_a_device(cuda: FakeCuda) -> Act:
    bundle = make_bundle(PARAMETERS)
    return lambda: loader.explain(bundle, context.get_device(0))


# Making arrays


@scene
def empty(cuda: FakeCuda) -> Act:
    return lambda: arrays.empty((3, 2)).shape


@scene
def zeros(cuda: FakeCuda) -> Act:
    return lambda: arrays.zeros(3).tolist()


@scene
def ones(cuda: FakeCuda) -> Act:
    return lambda: arrays.ones(2, vec3, device="cuda:1").tolist()


@scene
def full(cuda: FakeCuda) -> Act:
    return lambda: arrays.full((2, 2), 7).tolist()


@scene
def array_of_lists(cuda: FakeCuda) -> Act:
    return lambda: arrays.array([[1.0, 2.0], [3.0, 4.0]]).tolist()


@scene
def array_of_a_buffer(cuda: FakeCuda) -> Act:
    return lambda: bytes(arrays.array(b"abc").tobytes())


def array_of_numpy(cuda: FakeCuda) -> Act:
    return lambda: arrays.array(numpy.arange(6).reshape(2, 3).T).numpy().tolist()


if numpy is not None:
    scene(array_of_numpy)


@scene
def array_of_structs(cuda: FakeCuda) -> Act:
    return lambda: repr(arrays.array([Pair(mass=1.0, at=vec3(1, 2, 3))]).tolist())  # type: ignore[call-arg]


@scene
def array_of_shape(cuda: FakeCuda) -> Act:
    return lambda: arrays.array(shape=(2,), dtype=int).tolist()


@scene
def array_over_an_address(cuda: FakeCuda) -> Act:
    block = arrays.array([1, 2, 3])
    return lambda: arrays.array(ptr=block.ptr, shape=3, dtype=int, owner=block).tolist()


@scene
def array_of_a_foreign_array(cuda: FakeCuda) -> Act:
    tensor = Tensor(arrays.array([1, 2, 3]))
    return lambda: arrays.array(tensor).tolist()


@scene
def asarray(cuda: FakeCuda) -> Act:
    tensor = Tensor(arrays.array([1, 2, 3]))
    return lambda: foreign.asarray(tensor).shape


@scene
def asarray_of_what_is_being_written(cuda: FakeCuda) -> Act:
    tensor = Tensor(arrays.array([1, 2, 3]), stream=cuda.make_stream())
    return lambda: foreign.asarray(tensor).shape


# Arrays seen through index arrays


def seen() -> Any:
    """Elements 2 and 0 of each row, bottom row first."""
    data = arrays.array([[1, 2, 3], [4, 5, 6]])
    return indexed.indexedarray(data, [arrays.array([1, 0]), arrays.array([2, 0])])


@scene
def indexed_tolist(cuda: FakeCuda) -> Act:
    return seen().tolist


@scene
def indexed_contiguous(cuda: FakeCuda) -> Act:
    made = seen()
    return lambda: made.contiguous().tolist()


@scene
def indexed_assign(cuda: FakeCuda) -> Act:
    made, given = seen(), arrays.array([[10, 20], [30, 40]])

    def act() -> Any:
        made.assign(given)
        made.fill_(7)
        made.zero_()
        return made.data.tolist()

    return act


@scene
def launch_of_indexed(cuda: FakeCuda) -> Act:
    made, kernel = seen(), make_bundle([("a", "indexedarray2[int32]")])["p.kernels:k"]
    return launched(cuda, lambda: kernel.launch(1, (made,)))


# Others' arrays and streams


def with_torch(torch: FakeTorch, act: Act) -> Act:
    """The act where `import torch` gives that module."""

    def acted() -> Any:
        real = sys.modules.get("torch")
        sys.modules["torch"] = torch
        try:
            return act()
        finally:
            del sys.modules["torch"]
            if real is not None:
                sys.modules["torch"] = real

    return acted


@scene
def launch_of_a_tensor(cuda: FakeCuda) -> Act:
    kernel, torch, held = make_bundle(PARAMETERS)["p.kernels:k"], FakeTorch(), arrays.zeros(3)
    torch.current[0] = cuda.make_stream()
    tensor = torch.over(held)
    return with_torch(torch, launched(cuda, lambda: kernel.launch(300, (tensor, 1.0))))


@scene
def launch_of_a_tensor_elsewhere(cuda: FakeCuda) -> Act:
    kernel, torch, held = make_bundle(PARAMETERS)["p.kernels:k"], FakeTorch(), arrays.zeros(3)
    torch.current[0], stream = cuda.make_stream(), cuda.make_stream()
    tensor = torch.over(held)
    return with_torch(torch, launched(cuda, lambda: kernel.launch(300, (tensor, 1.0), stream)))


@scene
def asarray_of_a_tensor(cuda: FakeCuda) -> Act:
    torch, held = FakeTorch(), arrays.array([1, 2, 3])
    torch.current[0] = cuda.make_stream()
    tensor = torch.over(held)
    return with_torch(torch, lambda: foreign.asarray(tensor).tolist())


@scene
def lend(cuda: FakeCuda) -> Act:
    held, stream = arrays.array([1, 2, 3]), cuda.make_stream()

    def act() -> Any:
        consumer = Consumer(held.__dlpack__(stream=stream, max_version=(1, 0)))
        consumer.give_back()
        return consumer.shape, consumer.device, loans.count()

    return act


@scene
def lend_to_the_host(cuda: FakeCuda) -> Act:
    held = arrays.array([1, 2, 3])

    def act() -> Any:
        consumer = Consumer(held.__dlpack__(dl_device=(1, 0)))
        consumer.give_back()
        return consumer.shape, consumer.device, loans.count()

    return act


@scene
def borrow(cuda: FakeCuda) -> Act:
    held = arrays.array([1.0, 2.0, 3.0])
    producer = Producer(data=held.ptr, device=2, shape=(3,))
    return lambda: (held.ptr and dlpack.from_dlpack(producer.capsule())).tolist()


# Using arrays


@scene
def tolist(cuda: FakeCuda) -> Act:
    return arrays.array([[1, 2], [3, 4]]).tolist


@scene
def to_host(cuda: FakeCuda) -> Act:
    tensor = Tensor(arrays.array([1, 2, 3]))
    return lambda: copying.to_host(tensor)


@scene
def tolist_with_gaps(cuda: FakeCuda) -> Act:
    return strided(arrays.array(list(range(8)))).tolist  # type: ignore[no-any-return]


@scene
def assign(cuda: FakeCuda) -> Act:
    block = arrays.array([1, 2, 3])
    return lambda: block.assign([4, 5, 6])


@scene
def assign_with_gaps(cuda: FakeCuda) -> Act:
    view = strided(arrays.array(list(range(8))))
    return lambda: view.assign([[1, 2], [3, 4]])


@scene
def copy(cuda: FakeCuda) -> Act:
    to, source = arrays.zeros(3), arrays.ones(3)
    return lambda: copying.copy(to, source)


@scene
def copy_with_gaps(cuda: FakeCuda) -> Act:
    to, source = strided(arrays.zeros(8, int)), strided(arrays.ones(8, int))
    return lambda: copying.copy(to, source)


@scene
def copy_from_another_GPU(cuda: FakeCuda) -> Act:
    to, source = arrays.zeros(3), arrays.ones(3, device=1)
    return lambda: copying.copy(to, source)


@scene
def copy_from_a_foreign_array(cuda: FakeCuda) -> Act:
    to, source = arrays.zeros(3), Tensor(arrays.ones(3), stream=cuda.make_stream())
    return lambda: copying.copy(to, source)


@scene
def free(cuda: FakeCuda) -> Act:
    stock = [arrays.zeros(3) for _ in range(4)]
    return lambda: stock.pop().free()


@scene
def last_reference(cuda: FakeCuda) -> Act:
    stock = [arrays.zeros(3, device=1) for _ in range(4)]
    return lambda: stock.pop() and None


# Launches


@scene
def launch(cuda: FakeCuda) -> Act:
    kernel, held = make_bundle(PARAMETERS)["p.kernels:k"], arrays.zeros(3)
    return launched(cuda, lambda: kernel.launch(300, (held, 1.0)))


@scene
def launch_without_arrays(cuda: FakeCuda) -> Act:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    return launched(cuda, lambda: kernel.launch(300, (1.0,)))


@scene
def launch_on_the_second_GPU(cuda: FakeCuda) -> Act:
    kernel, held, stream = make_bundle(PARAMETERS)["p.kernels:k"], arrays.zeros(3, device=1), cuda.make_stream()
    return launched(cuda, lambda: kernel.launch((2, 3), (held, 1.0), stream, "cuda:1", 32))


@scene
def launch_in_pieces(cuda: FakeCuda) -> Act:
    kernel = make_bundle([("x", "float32")], ndim=2)["p.kernels:k"]
    return launched(cuda, lambda: kernel.launch((3, 2**30), (1.0,)))


@scene
def launch_with_a_foreign_array(cuda: FakeCuda) -> Act:
    kernel, tensor = make_bundle(PARAMETERS)["p.kernels:k"], Tensor(arrays.zeros(3))
    return launched(cuda, lambda: kernel.launch(300, (tensor, 1.0)))


@scene
def launch_after_another_stream(cuda: FakeCuda) -> Act:
    kernel, tensor = make_bundle(PARAMETERS)["p.kernels:k"], Tensor(arrays.zeros(3), stream=cuda.make_stream())
    stream = cuda.make_stream()
    return launched(cuda, lambda: kernel.launch(300, (tensor, 1.0), stream))


@scene
def launch_of_nothing(cuda: FakeCuda) -> Act:
    kernel, tensor = make_bundle(PARAMETERS)["p.kernels:k"], Tensor(arrays.zeros(3))
    return launched(cuda, lambda: kernel.launch(0, (tensor, 1.0)))


@scene
def launch_of_two_kernels(cuda: FakeCuda) -> Act:
    kernels = [kernel_rows("p.kernels:" + name, PARAMETERS, 1, {}, 256) for name in "ab"]
    data = format.dump(make_manifest(kernels, [cubin_row("sm_90", [0, 1], 0)]), [code(kernels)])
    bundle, held = bundles.from_bytes(data, "memory"), arrays.zeros(3)
    return launched(cuda, lambda: [bundle[name].launch(5, (held, 1.0)) for name in bundle] and None)


@scene
def launch_of_the_second_best_code(cuda: FakeCuda) -> Act:
    kernel = kernel_rows("p.kernels:k", PARAMETERS, 1, {}, 256)
    rows = [cubin_row("sm_90", [0], 0), cubin_row("sm_90@12.4", [0], 1, arch="sm_90", cuda=[12, 4])]
    data = format.dump(make_manifest([kernel], rows), [code([kernel], 209), code([kernel])])
    held, made = arrays.zeros(3), bundles.from_bytes(data, "memory")["p.kernels:k"]
    return launched(cuda, lambda: made.launch(5, (held, 1.0)))


@scene
def launch_with_max_blocks(cuda: FakeCuda) -> Act:
    kernel, held = make_bundle(PARAMETERS)["p.kernels:k"], arrays.zeros(3)
    return launched(cuda, lambda: kernel.launch(700, (held, 1.0), max_blocks=1))


@scene
def launch_in_blocks_of_any_size(cuda: FakeCuda) -> Act:
    kernel, held = make_bundle(PARAMETERS, any_block_dim=True, registers=72)["p.kernels:k"], arrays.zeros(3)
    return launched(cuda, lambda: kernel.launch(700, (held, 1.0)))


PACKAGE = "package_of_driver_cases"


@scene
def kb_launch(cuda: FakeCuda) -> Act:
    kernel, held = _package_kernel(), arrays.zeros(3)
    return launched(cuda, lambda: resolve.launch(kernel, 300, [held], [1.0]))


# Before a launch


@scene
def preload_of_a_bundle(cuda: FakeCuda) -> Act:
    kernels = [kernel_rows("p.kernels:" + name, PARAMETERS, 1, {}, 256) for name in "ab"]
    rows = [cubin_row("sm_90", [0], 0, unit="a"), cubin_row("sm_90", [1], 1, unit="b")]
    data = format.dump(make_manifest(kernels, rows), [code(kernels[:1]), code(kernels[1:])])
    bundle = bundles.from_bytes(data, "memory")
    return lambda: bundle.preload("cuda:1")


@scene
def preload_of_one_kernel(cuda: FakeCuda) -> Act:
    bundle = make_bundle(PARAMETERS)
    return lambda: bundle.preload(kernels=["p.kernels:k"])


@scene
def preload_by_an_older_driver(cuda: FakeCuda) -> Act:
    bundle = make_bundle(PARAMETERS)

    def act() -> int:
        cuda_driver = driver.get()
        cuda_driver.version = (12, 3)
        return bundle.preload()

    return act


@scene
def kb_preload(cuda: FakeCuda) -> Act:
    kernel = _package_kernel()
    return lambda: (readiness.preload(kernel), readiness.preload(PACKAGE))


@scene
def get_grid(cuda: FakeCuda) -> Act:
    kernel = make_bundle(PARAMETERS, any_block_dim=True)["p.kernels:k"]
    return lambda: readiness.get_grid(kernel, 1000)


@scene
def require(cuda: FakeCuda) -> Act:
    bundle = make_bundle(PARAMETERS)
    return lambda: bundle.require(["p.kernels:k"], 1)


@scene
def coverage(cuda: FakeCuda) -> Act:
    bundle = make_bundle(PARAMETERS)
    return bundle.coverage


@scene
def properties_of_a_kernel(cuda: FakeCuda) -> Act:
    kernel = make_bundle(PARAMETERS)["p.kernels:k"]
    return lambda: readiness.properties(kernel, context.get_device())


@scene
def suggested_block_size(cuda: FakeCuda) -> Act:
    kernel = make_bundle(PARAMETERS)["p.kernels:k"]
    return lambda: launching.get_suggested_block_size(kernel, "cuda:0")


@scene
def who_a_device_is(cuda: FakeCuda) -> Act:
    return lambda: (context.get_device("cuda:1").uuid, context.get_device("cuda:1").pci_bus_id)


@scene
def can_access_a_peer(cuda: FakeCuda) -> Act:
    return lambda: peers.can_access("cuda:0", "cuda:1")


@scene
def let_a_peer_in(cuda: FakeCuda) -> Act:
    return lambda: peers.set_peer_access("cuda:0", "cuda:1")


@scene
def let_a_peer_out(cuda: FakeCuda) -> Act:
    return lambda: peers.set_peer_access("cuda:0", "cuda:1", False)


@scene
def what_the_pool_holds(cuda: FakeCuda) -> Act:
    return lambda: memory.get_mempool_used_mem_current("cuda:0")


def _package_kernel() -> Any:
    """A live kernel of a package with a bundle, imported anew, as a process would at its start."""
    folder = Path(tempfile.gettempdir()) / ("kbuild-driver-cases-%d" % os.getpid())
    if not folder.exists():
        (folder / PACKAGE).mkdir(parents=True)
        (folder / PACKAGE / "__init__.py").write_text(
            "from kbuild.loader.types import kernel\n@kernel\ndef k(a, x): pass\n"
        )
        (folder / PACKAGE / "_kbuild.kbundle").write_bytes(bundle_bytes(PARAMETERS, name=PACKAGE + ":k"))
    resolve._opened.clear()
    sys.modules.pop(PACKAGE, None)
    sys.path.insert(0, str(folder))
    try:
        return __import__(PACKAGE).k
    finally:
        sys.path.remove(str(folder))


# Graphs


def _captured(cuda: FakeCuda) -> tuple[Any, Any, Any]:
    """A graph of two launches and a fill; the bound launch and the array."""
    kernel, held = make_bundle(PARAMETERS)["p.kernels:k"], arrays.zeros(3)
    step = bound.BoundLaunch(kernel, 300, (held, 1.0), None, None, None)
    with graphs.capture() as graph:
        step()
        kernel.launch(5, (held, 2.0))
        held.fill_(3.0)
    return graph, step, held


@scene
def capture(cuda: FakeCuda) -> Act:
    held, made = arrays.zeros(3), make_bundle(PARAMETERS)["p.kernels:k"]
    step = bound.BoundLaunch(made, 300, (held, 1.0), None, None, None)

    def act() -> Any:
        with graphs.capture() as graph:
            step()
            made.launch(5, (held, 1.0))
        return graph.is_captured

    return act


@scene
def capture_of_copies(cuda: FakeCuda) -> Act:
    to, source = arrays.zeros(3), arrays.ones(3)

    def act() -> Any:
        with graphs.capture() as graph:
            copying.copy(to, source)
            arrays.zeros(4)
        return graph.is_captured

    return act


@scene
def launch_of_a_graph(cuda: FakeCuda) -> Act:
    graph, _, _ = _captured(cuda)
    return launched(cuda, graph.launch)


@scene
def launch_of_a_graph_on_a_stream(cuda: FakeCuda) -> Act:
    graph, _, _ = _captured(cuda)
    stream = cuda.make_stream()
    return launched(cuda, lambda: graph.launch(stream))


@scene
def upload_of_a_graph(cuda: FakeCuda) -> Act:
    return _captured(cuda)[0].upload  # type: ignore[no-any-return]


@scene
def update_of_a_graph(cuda: FakeCuda) -> Act:
    graph, step, _ = _captured(cuda)
    step.set(x=5.0)
    return lambda: graph.update(step)


@scene
def capture_of_a_loop(cuda: FakeCuda) -> Act:
    parameters = [("condition", "array1[int32]"), ("low", "int32"), ("high", "int32"), ("inverted", "int32")]
    name = "kbuild.primitives.conditions:set_condition"
    conditions.set_condition.target = make_bundle(parameters, name=name)[name]
    condition, held = arrays.ones(1, int), arrays.zeros(3)

    def act() -> Any:
        with graphs.capture() as graph:
            conditional.capture_while(condition, lambda: held.fill_(1.0))
        return graph.is_captured

    return act


# The command line


@scene
def doctor(cuda: FakeCuda) -> Act:
    return lambda: _said("doctor")


@scene
def coverage_command(cuda: FakeCuda) -> Act:
    _package_kernel()
    return lambda: _said("coverage", "--json", PACKAGE)


@scene
def doctor_of_a_bundle(cuda: FakeCuda) -> Act:
    _package_kernel()
    return lambda: _said("doctor", "--json", PACKAGE)


def _said(*arguments: str) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = command_line.main(list(arguments))
    return status, said.getvalue()
