"""The driver's functions that a start does not need: their arguments, declared when one is first called.

None of them is asked for by its presence. Old drivers lack some, and a new one may have a function that the GPU does
not serve; so what decides is the device's attribute or the driver's version (`Device.attribute`, `Driver.version`).
"""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_ushort, c_void_p

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PTR, _HANDLE, _OUT = c_uint64, c_uint64, POINTER(c_uint64)
_INT_OUT, _SIZE_OUT = POINTER(c_int), POINTER(c_size_t)

SIGNATURES: dict[str, tuple[Any, ...]] = {
    # devices
    "cuDeviceTotalMem_v2": (_SIZE_OUT, c_int),
    "cuDeviceGetPCIBusId": (c_char_p, c_int, c_int),
    "cuDeviceGetUuid_v2": (c_void_p, c_int),
    "cuDeviceCanAccessPeer": (_INT_OUT, c_int, c_int),
    "cuCtxEnablePeerAccess": (_HANDLE, c_uint),
    "cuCtxDisablePeerAccess": (_HANDLE,),
    "cuCtxGetDevice": (_INT_OUT,),
    "cuCtxGetStreamPriorityRange": (_INT_OUT, _INT_OUT),
    "cuFuncLoad": (_HANDLE,),  # since 12.4
    "cuFuncSetAttribute": (_HANDLE, c_int, c_int),
    # memory
    "cuMemAllocFromPoolAsync": (_OUT, c_size_t, _HANDLE, _HANDLE),
    "cuMemFreeAsync": (_PTR, _HANDLE),
    "cuMemPoolCreate": (_OUT, c_void_p),
    "cuMemPoolDestroy": (_HANDLE,),
    "cuMemPoolSetAttribute": (_HANDLE, c_int, c_void_p),
    "cuMemPoolGetAttribute": (_HANDLE, c_int, c_void_p),
    "cuMemPoolTrimTo": (_HANDLE, c_size_t),
    "cuMemPoolSetAccess": (_HANDLE, c_void_p, c_size_t),
    "cuMemAllocManaged": (_OUT, c_size_t, c_uint),
    "cuMemHostAlloc": (_OUT, c_size_t, c_uint),
    "cuMemFreeHost": (_PTR,),
    "cuMemHostGetDevicePointer_v2": (_OUT, _PTR, c_uint),
    "cuMemcpyHtoDAsync_v2": (_PTR, c_void_p, c_size_t, _HANDLE),
    "cuMemcpyDtoHAsync_v2": (c_void_p, _PTR, c_size_t, _HANDLE),
    "cuMemcpyDtoDAsync_v2": (_PTR, _PTR, c_size_t, _HANDLE),
    "cuMemcpyPeerAsync": (_PTR, _HANDLE, _PTR, _HANDLE, c_size_t, _HANDLE),
    "cuMemcpy2DAsync_v2": (c_void_p, _HANDLE),
    "cuMemsetD8Async": (_PTR, c_ubyte, c_size_t, _HANDLE),
    "cuMemsetD16Async": (_PTR, c_ushort, c_size_t, _HANDLE),
    "cuMemsetD32Async": (_PTR, c_uint, c_size_t, _HANDLE),
    # streams and events
    "cuStreamCreateWithPriority": (_OUT, c_uint, c_int),
    "cuStreamSynchronize": (_HANDLE,),
    "cuStreamQuery": (_HANDLE,),
    "cuStreamGetCtx": (_HANDLE, _OUT),
    "cuStreamGetPriority": (_HANDLE, _INT_OUT),
    "cuEventQuery": (_HANDLE,),
    "cuEventSynchronize": (_HANDLE,),
    "cuEventElapsedTime": (POINTER(c_float), _HANDLE, _HANDLE),
    # graphs
    "cuStreamBeginCapture_v2": (_HANDLE, c_int),
    "cuStreamEndCapture": (_HANDLE, _OUT),
    "cuStreamIsCapturing": (_HANDLE, _INT_OUT),
    # stream; status, id, graph, nodes that what comes next depends on, their number
    "cuStreamGetCaptureInfo_v2": (_HANDLE, _INT_OUT, _OUT, _OUT, _OUT, _SIZE_OUT),
    "cuStreamUpdateCaptureDependencies": (_HANDLE, c_void_p, c_size_t, c_uint),
    "cuGraphInstantiateWithFlags": (_OUT, _HANDLE, c_uint64),
    "cuGraphUpload": (_HANDLE, _HANDLE),
    "cuGraphLaunch": (_HANDLE, _HANDLE),
    "cuGraphExecDestroy": (_HANDLE,),
    "cuGraphDestroy": (_HANDLE,),
    "cuGraphAddChildGraphNode": (_OUT, _HANDLE, c_void_p, c_size_t, _HANDLE),
    "cuGraphDebugDotPrint": (_HANDLE, c_char_p, c_uint),
    "cuGraphExecKernelNodeSetParams": (_HANDLE, _HANDLE, c_void_p),
    # graphs that decide (driver 12.4 and newer)
    "cuGraphConditionalHandleCreate": (_OUT, _HANDLE, _HANDLE, c_uint, c_uint),
    "cuGraphAddNode": (_OUT, _HANDLE, c_void_p, c_size_t, c_void_p),
    "cuStreamBeginCaptureToGraph": (_HANDLE, _HANDLE, c_void_p, c_void_p, c_size_t, c_int),
}
