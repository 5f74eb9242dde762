"""What a process holds: `footprint()` gives bytes of its memory, and of the GPU's.

Asked of the system and the driver, after the program's result; the GPU's is all that is in use there, the context of
this process included.
"""

import ctypes


def footprint():
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    statuses = [
        cuda.cuDeviceGet(ctypes.byref(device), 0),
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),  # the one that the program has used
        cuda.cuCtxSetCurrent(context),
        cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)),
    ]
    if any(statuses):
        raise RuntimeError("the driver says %r" % statuses)
    with open("/proc/self/status", encoding="utf-8") as file:
        lines = dict(line.split(":", 1) for line in file)
    resident, peak = [1024 * int(lines[name].split()[0]) for name in ("VmRSS", "VmHWM")]
    return {"resident": resident, "peak": peak, "gpu": total.value - free.value}
