"""The same start by hand: `start_ctypes.py CUBIN ENTRY COUNT`. Prints the first particle, then its time as JSON.

What a program does that talks to the driver through ctypes and knows this one kernel by heart: nothing is looked up,
nothing is checked but the driver's answers.
"""

import time

START = time.perf_counter()

import ctypes  # noqa: E402
import struct  # noqa: E402
import sys  # noqa: E402
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p  # noqa: E402

cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status:
        raise RuntimeError("the driver says %d" % status)


class Array(ctypes.Structure):
    _fields_ = [("data", c_uint64), ("shape", c_int), ("stride", c_int)]


class Vector(ctypes.Structure):
    _fields_ = [("x", c_float), ("y", c_float), ("z", c_float)]


def upload(values):
    size = 4 * len(values)
    address = c_uint64()
    check(cuda.cuMemAlloc_v2(byref(address), c_size_t(size)))
    check(cuda.cuMemcpyHtoD_v2(address, struct.pack("<%df" % len(values), *values), c_size_t(size)))
    return address


count = int(sys.argv[3])
with open(sys.argv[1], "rb") as file:
    cubin = file.read()
device, context, module, function = c_int(), c_void_p(), c_void_p(), c_void_p()
check(cuda.cuInit(0))
check(cuda.cuDeviceGet(byref(device), 0))
check(cuda.cuDevicePrimaryCtxRetain(byref(context), device))
check(cuda.cuCtxSetCurrent(context))
data = [number for i in range(count) for number in (float(i), 1.0, 0.5)]
pos, vel = upload(data), upload(data)
check(cuda.cuModuleLoadData(byref(module), cubin))
check(cuda.cuModuleGetFunction(byref(function), module, sys.argv[2].encode()))
values = [
    (c_uint * 2)(count, 0),  # end, origin
    Array(pos.value, count, 12),
    Array(vel.value, count, 12),
    Vector(0.0, -9.81, 0.0),
    c_float(0.5),
]
parameters = (c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
check(cuda.cuLaunchKernel(function, (count + 255) // 256, 1, 1, 256, 1, 1, 0, None, parameters, None))
result = ctypes.create_string_buffer(12 * count)
check(cuda.cuMemcpyDtoH_v2(result, pos, c_size_t(12 * count)))
numbers = struct.unpack("<%df" % (3 * count), result)
first = numbers[:3]

END = time.perf_counter()

import json  # noqa: E402
import os  # noqa: E402

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from footprint import footprint  # noqa: E402

print("%.9g %.9g %.9g" % first)
print(json.dumps(dict(footprint(), first_result=END - START)))
