"""What is refused, before the driver or by it, and what the message says."""

import copy
import subprocess
import sys

import pytest
from gpukernels import launching, shapes

import kbuild as kb
from kbuild import loader
from kbuild.loader import bundle as bundles
from kbuild.loader import format

pytestmark = pytest.mark.gpu


@pytest.fixture
def numbers():
    return kb.zeros(4, dtype=float)


def refused(kernel, inputs, *words):
    """The launch is refused with a message that has the words, and the GPU is none the worse."""
    with pytest.raises(kb.LaunchError) as caught:
        kb.launch(kernel, dim=1, inputs=inputs)
    for word in words:
        assert word in str(caught.value)
    kb.synchronize()


@pytest.mark.parametrize("warm", [False, True], ids=["first launch", "later launch"])
def test_arguments_that_do_not_fit(numbers, warm):
    if warm:
        kb.launch(launching.fill, dim=1, inputs=[numbers, 1.0])
    name = "gpukernels.launching:fill"
    refused(launching.fill, [numbers], name, "2 arguments", "got 1")
    refused(launching.fill, [numbers, "x"], name, "value", "float32", "'x'")
    refused(launching.fill, [numbers, None], name, "value", "None")
    refused(launching.fill, [None, 1.0], name, "out", "array1[float32]", "None")
    refused(launching.fill, [numbers.ptr, 1.0], name, "out", "array1[float32]", "int")
    refused(launching.fill, [[1.0, 2.0], 1.0], name, "out", "kb.array")
    refused(launching.fill, [bytearray(16), 1.0], name, "out", "kb.array")
    refused(launching.fill, [kb.zeros(4, dtype=int), 1.0], name, "out", "int32")
    refused(launching.fill, [kb.zeros((2, 2), dtype=float), 1.0], name, "out", "shape (2, 2)")
    refused(launching.fill, [kb.zeros(4, dtype=kb.vec2), 1.0], name, "out")
    refused(shapes.index1, [numbers], "gpukernels.shapes:index1", "int64")


def test_host_arrays_of_numpy(numbers):
    numpy = pytest.importorskip("numpy")
    refused(launching.fill, [numpy.zeros(4, dtype=numpy.float32), 1.0], "out", "kb.array")


def test_integers_that_do_not_fit(numbers):
    cells = kb.zeros(1, dtype=kb.int64)
    refused(launching.bump, [cells, 2**31, 0, (1, 0)], "cell", "2147483648", "int32")
    refused(launching.bump, [cells, 0, 2**63, (1, 0)], "amount", "int64")
    refused(launching.bump, [cells, 0, 0.5, (1, 0)], "amount", "0.5")
    refused(launching.bump, [cells, 0, 0, (1, 2, 3)], "factor", "3 values")


def test_freed_arrays(numbers):
    kb.launch(launching.fill, dim=4, inputs=[numbers, 1.0])
    kb.synchronize()
    numbers.free()
    refused(launching.fill, [numbers, 1.0], "out", "freed")


@pytest.mark.parametrize("dim", [-1, (2, -3), "4", 2.5, (), 2**31, (2**16, 2**16)], ids=str)
def test_dimensions_of_a_kernel_with_one_index(numbers, dim):
    with pytest.raises(kb.LaunchError, match=r"gpukernels\.launching:fill: dim"):
        kb.launch(launching.fill, dim=dim, inputs=[numbers, 1.0])


def test_more_axes_than_indices():
    with pytest.raises(kb.LaunchError, match="3 axes"):
        kb.launch(shapes.index2, dim=(1, 1, 1), inputs=[kb.zeros((1, 1), dtype=kb.int64)])


def test_blocks_that_are_too_large(numbers):
    with pytest.raises(kb.LaunchError, match="block_dim is 1 to 1024"):
        kb.launch(launching.fill, dim=4, inputs=[numbers, 1.0], block_dim=1025)


def test_too_much_memory():
    with pytest.raises(kb.DriverError, match=r"(?s)CUDA_ERROR_OUT_OF_MEMORY.*memory: \d+ of \d+ MiB are free"):
        kb.zeros((2000000, 2000000), dtype=kb.uint8)


OUT_OF_RANGE = """
import sys
import kbuild as kb
from gpukernels import launching
out = kb.zeros(4, dtype=float)
kb.launch(launching.fill, dim=1, inputs=[out, 1.0])
kb.launch(launching.out_of_range, dim=1, inputs=[out, 2**31 - 1])
try:
    kb.synchronize()
    sys.exit("nothing went wrong")
except kb.DriverError as error:
    print(error.code, error)
try:
    kb.launch(launching.fill, dim=1, inputs=[out, 1.0])
    sys.exit("nothing went wrong")
except kb.DriverError as error:
    print(error.code, error)
"""


def test_a_write_outside_every_array():
    """The next call tells: `synchronize` with the device, a launch with its kernel; both with the cure."""
    done = subprocess.run([sys.executable, "-c", OUT_OF_RANGE], capture_output=True, check=False)
    text = done.stdout.decode()
    assert done.returncode == 0, text + done.stderr.decode()
    assert text.count("700 ") == 2
    assert text.count("CUDA_ERROR_ILLEGAL_ADDRESS") == 3  # the second error tells of the first
    assert text.count("read or wrote outside its arrays") == 2
    assert "gpukernels.launching:fill on cuda:0" in text


def altered(change):
    """gpukernels' bundle after `change(manifest, rows of cubins, blobs)`; blobs are one for each row."""
    parsed = loader.open("gpukernels").parsed
    manifest = copy.deepcopy(parsed.manifest)
    blobs = manifest.pop("blobs", None)
    assert blobs is None or isinstance(blobs, list)
    pairs = change([(row, parsed.blob(row["blob"])) for row in manifest["cubins"]])
    manifest["cubins"] = [dict(row, blob=i) for i, (row, _) in enumerate(pairs)]
    manifest["targets"] = list(dict.fromkeys(row["target"] for row, _ in pairs))
    return bundles.from_bytes(format.dump(manifest, [data for _, data in pairs]), "altered")


def same_major(row):
    return row["arch"].startswith("sm_%d" % kb.get_devices()[0].major)


def test_a_bundle_for_other_gpus(numbers):
    bundle = altered(lambda pairs: [(row, data) for row, data in pairs if not same_major(row)])
    with pytest.raises(kb.BundleError) as caught:
        bundle["gpukernels.launching:fill"].launch(dim=4, args=(numbers, 1.0))
    device = kb.get_devices()[0]
    for word in (
        device.name,
        device.target,
        "sm_80",
        "jetson-orin-jp6",
        "[tool.kbuild] targets",
        '"%s"' % device.target,
    ):
        assert word in str(caught.value)


def test_code_that_the_driver_refuses_is_followed_by_the_next(numbers):
    """A newer toolchain's row whose code is another GPU's: the driver says 209, and the row behind it runs."""
    arch = kb.get_devices()[0].target

    def change(pairs):
        wrong = [(dict(row, arch=arch, toolchain="12.9.999"), data) for row, data in pairs if row["target"] == "sm_80"]
        return wrong + [(row, data) for row, data in pairs if row["arch"] == arch]

    bundle = altered(change)
    rows = [row for row in loader.explain(bundle, kb.get_devices()[0]) if row["unit"] == "gpukernels.launching"]
    assert [row["target"] for row in rows] == ["sm_80"]
    bundle["gpukernels.launching:fill"].launch(dim=4, args=(numbers, 7.0))
    assert numbers.tolist() == [7.0] * 4


def test_code_that_the_driver_refuses_with_nothing_behind_it(numbers):
    arch = kb.get_devices()[0].target
    bundle = altered(lambda pairs: [(dict(row, arch=arch), data) for row, data in pairs if row["target"] == "sm_80"])
    with pytest.raises(kb.BundleError, match="NO_BINARY_FOR_GPU"):
        bundle["gpukernels.launching:fill"].launch(dim=4, args=(numbers, 1.0))


def test_a_digest_that_is_not_the_trusted_one():
    digest = loader.open("gpukernels").digest
    assert loader.open("gpukernels", digest=digest).digest == digest
    with pytest.raises(kb.BundleError, match="not the bundle that is trusted"):
        loader.open("gpukernels", digest="sha256:" + "0" * 64)
