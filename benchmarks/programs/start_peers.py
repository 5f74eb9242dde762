"""The start of a program on other packages: `start_peers.py PEER CUBINS COUNT [FOLDER]`.

Moves COUNT particles with the hand-written kernels in CUBINS or the peer's own, and reads them back. Prints the first
particle, then its time as JSON. FOLDER is searched for packages last. Exit code 3: the peer is not there.
"""

import time

START = time.perf_counter()

import contextlib  # noqa: E402
import sys  # noqa: E402

GRAVITY, DT = (0.0, -9.81, 0.0), 0.5


def data(count):
    return [(float(i), 1.0, 0.5) for i in range(count)]


def packed(count):
    import struct

    return struct.pack("<%df" % (3 * count), *[number for one in data(count) for number in one])


def good(answer):
    if int(answer[0]):
        raise RuntimeError(answer[0])
    return answer[1] if len(answer) > 1 else None


def bindings(cubins, count):
    import ctypes
    import struct

    from cuda.bindings import driver as cu

    class Vector(ctypes.Structure):
        _fields_ = [("at", ctypes.c_float * 3)]

    good(cu.cuInit(0))
    context = good(cu.cuDevicePrimaryCtxRetain(good(cu.cuDeviceGet(0))))
    good(cu.cuCtxSetCurrent(context))
    size, host = 12 * count, packed(count)
    pos, vel = good(cu.cuMemAlloc(size)), good(cu.cuMemAlloc(size))
    good(cu.cuMemcpyHtoD(pos, host, size))
    good(cu.cuMemcpyHtoD(vel, host, size))
    with open(cubins + "/robosim.kernels.cubin", "rb") as file:
        module = good(cu.cuModuleLoadData(file.read()))
    function = good(cu.cuModuleGetFunction(module, b"integrate"))
    values = (int(pos), int(vel), count, Vector(GRAVITY), DT)
    kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, None, ctypes.c_float)
    good(cu.cuLaunchKernel(function, (count + 255) // 256, 1, 1, 256, 1, 1, 0, 0, (values, kinds), 0))
    result = bytearray(size)
    good(cu.cuMemcpyDtoH(result, pos, size))
    return struct.unpack_from("<3f", result)


def core(cubins, count):
    import struct

    import numpy
    from cuda import core
    from cuda.bindings import driver as cu

    if not hasattr(core, "launch"):
        from cuda.core import experimental as core
    device = core.Device(0)
    device.set_current()
    stream, size, host = device.default_stream, 12 * count, packed(count)
    buffers = [device.allocate(size, stream=stream) for _ in range(2)]
    addresses = [int(buffer.handle) for buffer in buffers]
    for address in addresses:
        good(cu.cuMemcpyHtoD(address, host, size))
    with open(cubins + "/flat.cubin", "rb") as file:
        kernel = core.ObjectCode.from_cubin(file.read()).get_kernel("integrate")
    config = core.LaunchConfig(grid=(count + 255) // 256, block=256)
    numbers = [numpy.float32(number) for number in (*GRAVITY, DT)]
    core.launch(stream, config, kernel, *addresses, numpy.int32(count), *numbers)
    result = bytearray(size)
    good(cu.cuMemcpyDtoH(result, addresses[0], size))
    return struct.unpack_from("<3f", result)


def cupy(cubins, count):
    import cupy
    import numpy

    host = numpy.array(data(count), numpy.float32)
    pos, vel = cupy.asarray(host), cupy.asarray(host)
    function = cupy.RawModule(path=cubins + "/robosim.kernels.cubin").get_function("integrate")
    gravity = numpy.array([GRAVITY], numpy.float32).view("V12").reshape(())
    function(((count + 255) // 256,), (256,), (pos, vel, numpy.int32(count), gravity, numpy.float32(DT)))
    return tuple(pos.get()[0].tolist())


def triton(cubins, count):
    import torch
    from triton_kernels import integrate

    host = torch.tensor(data(count), dtype=torch.float32)
    pos, vel = host.to("cuda"), host.to("cuda")
    integrate[((count + 255) // 256,)](pos, vel, GRAVITY, DT, count, BLOCK=256)
    return tuple(pos.cpu()[0].tolist())


def warp(cubins, count):
    import warp as wp

    with contextlib.redirect_stdout(sys.stderr):  # it greets
        from warp_kernels import integrate

        host = data(count)
        pos, vel = (wp.array(host, dtype=wp.vec3, device="cuda:0") for _ in range(2))
        wp.launch(integrate, dim=count, inputs=[pos, vel, wp.vec3(*GRAVITY), DT], device="cuda:0")
    return tuple(pos.numpy()[0].tolist())


def torch(cubins, count):
    import torch

    host = torch.tensor(data(count), dtype=torch.float32)
    pos, vel = host.to("cuda"), host.to("cuda")
    vel = vel + torch.tensor(GRAVITY, device="cuda") * DT
    pos = pos + vel * DT
    return tuple(pos.cpu()[0].tolist())


if len(sys.argv) > 4:
    sys.path.append(sys.argv[4])
try:
    first = globals()[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
except ImportError as error:
    print("%s: %s" % (sys.argv[1], error), file=sys.stderr)
    sys.exit(3)

END = time.perf_counter()

import json  # noqa: E402

from footprint import footprint  # noqa: E402

print("%.9g %.9g %.9g" % first)
print(json.dumps(dict(footprint(), first_result=END - START)))
