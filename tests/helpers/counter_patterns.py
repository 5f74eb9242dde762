"""Which addresses the kernels of `counter_data` access: `events(launch)`.

`PATTERNS` pairs the form of a kernel's source with a function that makes its memory instructions, in the order of the
source. A form is the source itself; `<NAME>` stands for a type, `<NUMBER>` for digits, `<INDEX>` for an index that is
evaluated as it stands, and what they match is what the function is called with. A source that fits no form is an error,
so that every launch is covered or says in `LEFT_OUT` why it is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tests.helpers.counter_data import Launch

BYTES = {
    "unsigned char": 1,
    "unsigned short": 2,
    "float": 4,
    "int": 4,
    "double": 8,
    "float2": 8,
    "unsigned long long": 8,
    "float4": 16,
}
# Where the arrays lie. The real ones were allocations of more than 2 MiB, which begin at multiples of that.
BASES = {"out": 0x7000_0000, "a": 0x7100_0000, "idx": 0x7200_0000, "s": 0}

LEFT_OUT = {
    "float atomics in shared memory": "a loop of loads and compare-and-swap, whose trips depend on how warps meet",
}


@dataclass(frozen=True)
class Event:
    """One memory instruction of all threads. `result` tells an atomic's result is used."""

    space: str
    kind: str
    addresses: np.ndarray
    lanes: np.ndarray
    size: int
    result: bool = False


@dataclass
class Threads:
    """The threads of a launch, and the memory instructions that they have executed. Thread numbers go on from block
    to block, as blocks are multiples of 32 threads. An index is a NumPy array with an entry for every thread.
    """

    launch: Launch
    events: list[Event] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        (gx, gy, gz), (bx, by, bz) = self.launch.grid, self.launch.block
        assert gz == bz == 1
        self.number = np.arange(gx * gy * bx * by)
        block, self.t = np.divmod(self.number, bx * by)
        self.bx, self.by = block % gx, block // gx
        self.tx, self.ty = self.t % bx, self.t // bx
        self.x, self.y = self.bx * bx + self.tx, self.by * by + self.ty
        self.i = self.bx * bx + self.t
        self.n, self.k = self.launch.n, self.launch.k

    @property
    def idx(self) -> np.ndarray:
        assert self.launch.indices is not None
        return self.launch.indices

    def load(self, array: str, index: np.ndarray, size: int = 4, where: np.ndarray | None = None) -> None:
        self._add("load", array, index, size, where)

    def store(self, array: str, index: np.ndarray, size: int = 4, where: np.ndarray | None = None) -> None:
        self._add("store", array, index, size, where)

    def atomic(
        self, array: str, index: np.ndarray, size: int = 4, *, result: bool = False, plus_1: bool = False
    ) -> None:
        self._add("increment" if plus_1 and array == "s" else "atomic", array, index, size, None, result)

    def _add(
        self, kind: str, array: str, index: np.ndarray, size: int, where: np.ndarray | None, result: bool = False
    ) -> None:
        addresses = BASES[array] + size * np.broadcast_to(index, self.number.shape).astype(np.int64)
        lanes = self.number
        if where is not None:
            addresses, lanes = addresses[where], lanes[where]
        space = "shared" if array == "s" else "global"
        self.events.append(Event(space, kind, addresses, lanes, size, result))

    def vector3(self, access: Callable[..., None], array: str, index: np.ndarray) -> None:
        """A `struct V3` is aligned to 4 bytes: three instructions."""
        for component in range(3):
            access(array, 3 * index + component)

    def evaluate(self, text: str) -> np.ndarray:
        """An index in C over t, i, k and n, all at least 0: there C and Python agree."""
        assert re.fullmatch(r"[tikn\d+*%&>() -]+", text), text
        names = {"t": self.t, "i": self.i, "k": self.k, "n": self.n}
        return eval(text, {"__builtins__": {}}, names)  # the text is checked above


def events(launch: Launch) -> tuple[list[Event], set[str]]:
    """The launch's memory instructions, and the keys of `LEFT_OUT` that say what of it is not among them."""
    for form, function in _COMPILED:
        match = form.fullmatch(launch.source)
        if match:
            threads = Threads(launch)
            function(threads, *match.groups())
            return threads.events, threads.left_out
    raise AssertionError(f"{launch.name}: no pattern for {launch.source}")


# ---- what the functions below share


def fill(g: Threads) -> None:
    """`for(int j=t;j<8448;j+=256) s[j]=a[j]`"""
    for j in range(0, 8448, 256):
        g.load("a", g.t + j)
        g.store("s", g.t + j)


def store_block(g: Threads, size: int = 4) -> None:
    """`out[blockIdx.x*256+t]=…`"""
    g.store("out", g.bx * 256 + g.t, size)


def load_masked(g: Threads, name: str, array: str, index: np.ndarray, size: int) -> None:
    """`if (j>=0) … array[j]`"""
    getattr(g, name)(array, index, size, index >= 0)


# ---- global memory


def add(g: Threads) -> None:
    g.load("a", g.i)
    g.load("a", g.i)  # b is a
    g.store("out", g.i)


def map_(g: Threads, to: str, source: str, *, name: str = "float") -> None:
    size = BYTES[name]
    g.load("a", g.evaluate(source), size)
    g.store("out", g.evaluate(to), size)


def copy(g: Threads, name: str, _source: str, _to: str) -> None:
    map_(g, "i", "i", name=name)


def load_narrow(g: Threads, name: str, index: str) -> None:
    g.load("a", g.evaluate(index), BYTES[name])
    g.store("out", g.i)


def vec3_load(g: Threads) -> None:
    g.vector3(g.load, "a", g.i)
    g.store("out", g.i)


def vec3_store(g: Threads) -> None:
    g.load("a", g.i)
    g.vector3(g.store, "out", g.i)


def vec3_copy(g: Threads) -> None:
    g.vector3(g.load, "a", g.i)
    g.vector3(g.store, "out", g.i)


def vec3_x(g: Threads) -> None:
    g.load("a", 3 * g.i)
    g.store("out", g.i)


def soa(g: Threads) -> None:
    for component in range(3):
        g.load("a", g.i + component * g.n)
    g.store("out", g.i)


def plane(g: Threads, row: str, column: str) -> None:
    names = {"x": g.x, "y": g.y}
    g.load("a", names[row] * g.k + names[column])
    g.store("out", g.y * g.k + g.x)


def broadcast(g: Threads) -> None:
    g.load("a", g.bx * 100 + g.k)
    g.store("out", g.i)


def gather(g: Threads, name: str, _name: str, _sum: str) -> None:
    g.load("idx", g.i)
    load_masked(g, "load", "a", g.idx, BYTES[name])
    g.store("out", g.i)


def scatter(g: Threads, name: str, _value: str) -> None:
    g.load("idx", g.i)
    load_masked(g, "store", "out", g.idx, BYTES[name])


def scatter_all(g: Threads) -> None:
    g.load("idx", g.i)
    g.store("out", g.idx)


def first_lanes(g: Threads) -> None:
    where = (g.t & 31) < g.k
    g.load("a", g.i, 4, where)
    g.store("out", g.i, 4, where)


# ---- global atomics


def atomic_same(g: Threads) -> None:
    g.atomic("out", np.zeros_like(g.i))


def atomic_same_result(g: Threads) -> None:
    g.atomic("out", np.zeros_like(g.i), result=True)
    g.store("out", g.i + 1024)


def atomic_at(g: Threads, index: str) -> None:
    g.atomic("out", g.evaluate(index))


def atomic_double(g: Threads) -> None:
    g.atomic("out", g.i, 8)


def atomic_result(g: Threads) -> None:
    g.atomic("out", g.i, result=True)
    g.store("out", g.i + 65536)


def atomic_bins(g: Threads, name: str | None, _value: str) -> None:
    g.load("idx", g.i)
    g.atomic("out", g.idx, BYTES[name or "float"])


def atomic_bins_result(g: Threads) -> None:
    g.load("idx", g.i)
    g.atomic("out", g.idx, result=True)
    g.store("out", g.i + 1_000_000)


def spring(g: Threads) -> None:
    ends = g.idx.reshape(-1, 2).T
    for end in (0, 1):
        g.load("idx", 2 * g.i + end)
    for end in ends:
        g.vector3(g.load, "a", end)
    for end in ends:
        g.vector3(g.atomic, "out", end)


# ---- local memory and constants: what is left of them in global memory


def local_dynamic(g: Threads) -> None:
    g.load("a", g.i)
    g.load("idx", g.i)
    g.store("out", g.i)


def local_spill(g: Threads) -> None:
    for j in range(64):
        g.load("a", g.i + j)
    g.load("idx", g.i)
    g.store("out", g.i)


def constants(g: Threads, _index: str) -> None:
    g.store("out", g.i)


# ---- shared memory


def shared_load(g: Threads, index: str) -> None:
    fill(g)
    g.load("s", g.evaluate(index))
    store_block(g)


def shared_load_as(g: Threads, name: str, index: str) -> None:
    fill(g)
    g.load("s", g.evaluate(index), BYTES[name])
    store_block(g, max(4, BYTES[name]))


def shared_load_narrow(g: Threads, name: str, index: str) -> None:
    fill(g)
    g.load("s", g.evaluate(index), BYTES[name])
    store_block(g)


def shared_store(g: Threads, index: str, _same: str) -> None:
    g.store("s", g.t)
    g.load("a", g.t)
    g.store("s", g.evaluate(index))
    g.load("s", g.evaluate(index))
    store_block(g)


def shared_store_double(g: Threads, index: str, _same: str) -> None:
    g.load("a", g.t)
    g.store("s", g.evaluate(index), 8)
    g.load("s", g.evaluate(index), 8)
    store_block(g, 8)


def shared_store_float4(g: Threads, index: str, _same: str) -> None:
    g.load("a", g.t, 16)
    g.store("s", g.evaluate(index), 16)
    g.load("s", g.evaluate(index), 16)
    store_block(g, 16)


def shared_store_byte(g: Threads, index: str, _same: str) -> None:
    g.load("a", g.t)
    g.store("s", g.evaluate(index), 1)
    g.load("s", g.evaluate(index), 1)
    store_block(g)


def shared_vec3(g: Threads) -> None:
    fill(g)
    g.vector3(g.load, "s", g.t)
    store_block(g)


def tile(g: Threads, pitch: str) -> None:
    for j in range(0, 32, 8):
        g.load("a", (g.ty + j) * 32 + g.tx)
        g.store("s", (g.ty + j) * int(pitch) + g.tx)
    for j in range(0, 32, 8):
        g.load("s", g.tx * int(pitch) + g.ty + j)
        g.store("out", g.bx * 1024 + (g.ty + j) * 32 + g.tx)


def shared_gather(g: Threads, name: str, _name: str, _sum: str) -> None:
    fill(g)
    g.load("idx", g.bx * 256 + g.t)
    load_masked(g, "load", "s", g.idx, BYTES[name])
    store_block(g)


def shared_scatter(g: Threads, name: str, _value: str) -> None:
    g.store("s", g.t)
    g.load("idx", g.bx * 256 + g.t)
    load_masked(g, "store", "s", g.idx, BYTES[name])
    g.load("s", g.t)
    store_block(g)


def zero_bins(g: Threads) -> None:
    for j in range(0, 1024, 256):
        g.store("s", g.t + j)
    g.load("idx", g.bx * 256 + g.t)


def shared_atomic(g: Threads, name: str, value: str) -> None:
    zero_bins(g)
    g.atomic("s", g.idx, plus_1=name == "Add" and value == "1")
    g.load("s", g.t)
    store_block(g)


def shared_atomic_result(g: Threads) -> None:
    zero_bins(g)
    g.atomic("s", g.idx, result=True)
    g.store("out", 2048 + g.bx * 256 + g.t)
    g.load("s", g.t)
    store_block(g)


def shared_atomic_float(g: Threads) -> None:
    zero_bins(g)
    g.left_out.add("float atomics in shared memory")
    g.load("s", g.t)
    store_block(g)


def reduce_near(g: Threads) -> None:
    g.load("a", g.i)
    g.store("s", g.t)
    for o in (128, 64, 32, 16, 8, 4, 2, 1):
        where = g.t < o
        g.load("s", g.t, 4, where)
        g.load("s", g.t + o, 4, where)
        g.store("s", g.t, 4, where)
    g.load("s", np.zeros_like(g.t), 4, g.t == 0)
    g.store("out", g.bx, 4, g.t == 0)


def reduce_far(g: Threads) -> None:
    g.load("a", g.i)
    g.store("s", g.t)
    for o in (1, 2, 4, 8, 16, 32, 64, 128):
        q = 2 * o * g.t
        g.load("s", q, 4, q < 256)
        g.load("s", q + o, 4, q < 256)
        g.store("s", q, 4, q < 256)
    g.load("s", np.zeros_like(g.t), 4, g.t == 0)
    g.store("out", g.bx, 4, g.t == 0)


def stencil(g: Threads) -> None:
    g.load("a", g.i + 1)
    g.store("s", g.t + 1)
    g.load("a", g.i, 4, g.t == 0)
    g.store("s", np.zeros_like(g.t), 4, g.t == 0)
    g.load("a", g.i + 2, 4, g.t == 255)
    g.store("s", np.full_like(g.t, 257), 4, g.t == 255)
    for o in range(3):
        g.load("s", g.t + o)
    g.store("out", g.i)


# ---- control flow: only what reaches memory


def branches(g: Threads, _rest: str) -> None:
    g.load("a", g.i)
    g.store("out", g.i)


def random_trips(g: Threads, _rest: str) -> None:
    g.load("a", g.i)
    g.load("idx", g.i)
    g.store("out", g.i)


def early_return(g: Threads) -> None:
    g.load("idx", g.i)
    g.load("a", g.i, 4, g.idx == 0)
    g.store("out", g.i, 4, g.idx == 0)


def mandelbrot(g: Threads, _rest: str) -> None:
    g.store("out", g.y * g.k + g.x)


def warp_reduce(g: Threads) -> None:
    g.load("a", g.i)
    g.store("out", g.i >> 5, 4, (g.t & 31) == 0)


THREAD = "int i = blockIdx.x*blockDim.x + threadIdx.x; "
XY = "int x=blockIdx.x*blockDim.x+threadIdx.x, y=blockIdx.y*blockDim.y+threadIdx.y; "
S = "__shared__ __align__(16) float s[8448]; int t=threadIdx.x; "
FILL = S + "for(int j=t;j<8448;j+=256) s[j]=a[j]; __syncthreads(); "
BINS = "__shared__ int h[1024]; int t=threadIdx.x; for(int j=t;j<1024;j+=256) h[j]=0; __syncthreads(); "
BINS_J = BINS + "int j=idx[blockIdx.x*256+t]; "
OUT = "out[blockIdx.x*256+t]="
REDUCE = "__shared__ float s[256]; " + THREAD + 'int t=threadIdx.x; s[t]=a[i]; __syncthreads(); _Pragma("unroll 1") '

PATTERNS: tuple[tuple[str, Callable[..., None]], ...] = (
    (THREAD + "if (i<n) out[i]=a[i]+b[i];", add),
    (THREAD + "out[<INDEX>]=a[<INDEX>]*2.f;", map_),
    (THREAD + "const V3* p=(const V3*)a; V3 v=p[i]; out[i]=v.x+v.y+v.z;", vec3_load),
    (THREAD + "V3* p=(V3*)out; float f=a[i]; V3 v; v.x=f; v.y=f*2.f; v.z=f*3.f; p[i]=v;", vec3_store),
    (THREAD + "const V3* p=(const V3*)a; V3* q=(V3*)out; V3 v=p[i]; v.x*=2.f; q[i]=v;", vec3_copy),
    (THREAD + "const V3* p=(const V3*)a; out[i]=p[i].x*2.f;", vec3_x),
    (THREAD + "out[i]=a[i]+a[i+n]+a[i+2*n];", soa),
    (
        THREAD + "float4 v=((const <NAME>*)a)[i]; v.x*=2.f; ((<NAME>*)out)[i]=v;",
        lambda g, name, _: copy(g, name, "", ""),
    ),
    (THREAD + "double v=((const <NAME>*)a)[i]; v*=2.0; ((<NAME>*)out)[i]=v;", lambda g, name, _: copy(g, name, "", "")),
    (THREAD + "<NAME> v=((const <NAME>*)a)[i]; v+=1; ((<NAME>*)out)[i]=v;", copy),
    (
        THREAD + "((double*)out)[i]=((const double*)a)[<INDEX>]*2.0;",
        lambda g, index: map_(g, "i", index, name="double"),
    ),
    (THREAD + "<NAME> v=((const float4*)a)[<INDEX>]; out[i]=v.x+v.y+v.z+v.w;", load_narrow),
    (THREAD + "out[i]=(float)((const <NAME>*)a)[<INDEX>];", load_narrow),
    (XY + "out[y*k+x]=a[<AXIS>*k+<AXIS>]*2.f;", plane),
    (THREAD + "out[i]=a[blockIdx.x*100+k]*2.f;", broadcast),
    (THREAD + "int j=idx[i]; float r=0.f; if (j>=0) { <NAME> v=((const <NAME>*)a)[j]; r=<ANY>; } out[i]=r;", gather),
    (THREAD + "int j=idx[i]; if (j>=0) ((<NAME>*)out)[j]=<ANY>;", scatter),
    (THREAD + "out[idx[i]]=(float)i;", scatter_all),
    (THREAD + "if ((threadIdx.x&31)<k) out[i]=a[i]*2.f;", first_lanes),
    ("atomicAdd((int*)out, 1);", atomic_same),
    (THREAD + "out[i+1024]=atomicAdd(out, (float)i);", atomic_same_result),
    (THREAD + "atomicAdd(out+<INDEX>, (float)i);", atomic_at),
    (THREAD + "out[i+65536]=atomicAdd(out+i, (float)i);", atomic_result),
    (THREAD + "atomicAdd(((double*)out)+i, (double)i);", atomic_double),
    (THREAD + "atomicMax(((int*)out)+(<INDEX>), i);", atomic_at),
    (THREAD + "out[i+65536]=(float)atomicCAS(((int*)out)+i, 0, i);", atomic_result),
    (THREAD + "atomicAdd(out+idx[i], 1.5f);", lambda g: atomic_bins(g, "float", "1.5f")),
    (THREAD + "atomicAdd(((<NAME>*)out)+idx[i], <ANY>);", atomic_bins),
    (THREAD + "atomicMax(((<NAME>*)out)+idx[i], <ANY>);", atomic_bins),
    (THREAD + "((int*)out)[i+1000000]=atomicAdd(((int*)out)+idx[i], i);", atomic_bins_result),
    (
        THREAD + "const V3* p=(const V3*)a; V3* f=(V3*)out; int i0=idx[2*i], i1=idx[2*i+1]; V3 q=p[i0], r=p[i1]; float "
        "dx=r.x-q.x,dy=r.y-q.y,dz=r.z-q.z; float L=sqrtf(dx*dx+dy*dy+dz*dz); float c=k*(L-1.f)/L; "
        "atomicAdd(&f[i0].x,c*dx); atomicAdd(&f[i0].y,c*dy); atomicAdd(&f[i0].z,c*dz); atomicAdd(&f[i1].x,-c*dx); "
        "atomicAdd(&f[i1].y,-c*dy); atomicAdd(&f[i1].z,-c*dz);",
        spring,
    ),
    (THREAD + "float loc[16]; for(int j=0;j<16;j++) loc[j]=a[i]+j; out[i]=loc[(idx[i]+k)&15];", local_dynamic),
    (
        THREAD + "float loc[64]; for(int j=0;j<64;j++) loc[j]=a[i+j]; for(int j=0;j<n;j++) loc[(idx[i]*j+k)&63]+=1.f; "
        "float s=0; for(int j=0;j<64;j++) s+=loc[j]*loc[(j*7+idx[i])&63]; out[i]=s;",
        local_spill,
    ),
    (THREAD + "out[i]=ctab[<ANY>];", constants),
    (FILL + OUT + "s[<INDEX>];", shared_load),
    (
        FILL + "((<NAME>*)out)[blockIdx.x*256+t]=((const <NAME>*)s)[<INDEX>];",
        lambda g, n, _, i: shared_load_as(g, n, i),
    ),
    (FILL + OUT + "(float)((const <NAME>*)s)[<INDEX>];", shared_load_narrow),
    (
        S + "s[t]=0.f; __syncthreads(); s[<INDEX>]=a[t]; __syncthreads(); " + OUT + "s[(<INDEX>+k)%8448*0+<INDEX>];",
        lambda g, index, _, __: shared_store(g, index, ""),
    ),
    (
        S + "double* d=(double*)s; d[<INDEX>]=(double)a[t]; __syncthreads(); "
        "((double*)out)[blockIdx.x*256+t]=d[<INDEX>];",
        shared_store_double,
    ),
    (
        S + "float4* d=(float4*)s; d[<INDEX>]=((const float4*)a)[t]; __syncthreads(); "
        "((float4*)out)[blockIdx.x*256+t]=d[<INDEX>];",
        shared_store_float4,
    ),
    (
        S
        + "unsigned char* d=(unsigned char*)s; d[<INDEX>]=(unsigned char)a[t]; __syncthreads(); "
        + OUT
        + "(float)d[<INDEX>];",
        shared_store_byte,
    ),
    (FILL + "const V3* p=(const V3*)s; V3 v=p[t]; " + OUT + "v.x+v.y*2.f+v.z*3.f;", shared_vec3),
    (
        "__shared__ float s[32][<NUMBER>]; int x=threadIdx.x,y=threadIdx.y; for(int j=y;j<32;j+=8) s[j][x]=a[j*32+x]; "
        "__syncthreads(); for(int j=y;j<32;j+=8) out[blockIdx.x*1024+j*32+x]=s[x][j];",
        tile,
    ),
    (
        FILL
        + "int j=idx[blockIdx.x*256+t]; float r=0.f; if (j>=0) { <NAME> v=((const <NAME>*)s)[j]; r=<ANY>; } "
        + OUT
        + "r;",
        shared_gather,
    ),
    (
        S
        + "s[t]=0.f; __syncthreads(); int j=idx[blockIdx.x*256+t]; if (j>=0) ((<NAME>*)s)[j]=<ANY>; __syncthreads(); "
        + OUT
        + "s[t];",
        shared_scatter,
    ),
    (BINS_J + "atomic<NAME>(&h[j],<ANY>); __syncthreads(); " + OUT + "(float)h[t];", shared_atomic),
    (
        BINS_J
        + "int r=atomicAdd(&h[j],t); out[2048+blockIdx.x*256+t]=(float)r; __syncthreads(); "
        + OUT
        + "(float)h[t];",
        shared_atomic_result,
    ),
    (
        BINS_J + "atomicAdd(((float*)h)+j,1.5f); __syncthreads(); " + OUT + "(float)h[t];",
        shared_atomic_float,
    ),
    (
        REDUCE + "for(int o=blockDim.x/2;o;o>>=1){ if(t<o) s[t]=s[t]+s[t+o]; __syncthreads(); } "
        "if(t==0) out[blockIdx.x]=s[0];",
        reduce_near,
    ),
    (
        REDUCE + "for(int o=1;o<blockDim.x;o*=2){ int q=2*o*t; if(q<blockDim.x) s[q]=s[q]+s[q+o]; __syncthreads(); } "
        "if(t==0) out[blockIdx.x]=s[0];",
        reduce_far,
    ),
    (
        "__shared__ float s[258]; " + THREAD + "int t=threadIdx.x; s[t+1]=a[i+1]; if(t==0) s[0]=a[i]; "
        "if(t==255) s[257]=a[i+2]; __syncthreads(); out[i]=s[t]+s[t+1]+s[t+2];",
        stencil,
    ),
    (THREAD + "int l=threadIdx.x&31; float x=a[i]; if(l<k) <ANY> out[i]=x;", branches),
    (THREAD + "float x=a[i]; switch<ANY> out[i]=x;", branches),
    (THREAD + "float x=a[i]; int m=threadIdx.x&31; <ANY> out[i]=x;", branches),
    (THREAD + "float x=a[i]; int m=idx[i]; <ANY> out[i]=x;", random_trips),
    (THREAD + "int m=idx[i]; float x=a[i]; <ANY> out[i]=x;", random_trips),
    (THREAD + "float x=a[i]; if((threadIdx.x&31)<k) x=x*2.f; out[i]=x;", lambda g: branches(g, "")),
    (THREAD + "if(idx[i]) return; out[i]=a[i]*2.f;", early_return),
    ("int x=blockIdx.x*32+threadIdx.x, y=blockIdx.y*8+threadIdx.y; float cx=<ANY> out[y*k+x]=(float)it;", mandelbrot),
    (
        THREAD + "float v=a[i]; for(int o=16;o;o>>=1) v+=__shfl_down_sync(0xffffffffu,v,o); "
        "if((threadIdx.x&31)==0) out[i>>5]=v;",
        warp_reduce,
    ),
    (
        THREAD + "float v=a[i]; for(int o=16;o;o>>=1) v+=__shfl_xor_sync(0xffffffffu,v,o); out[i]=v;",
        lambda g: branches(g, ""),
    ),
)

_PARTS = {
    "<NAME>": r"([A-Za-z][\w ]*)",
    "<NUMBER>": r"(\d+)",
    "<INDEX>": r"([tikn\d+*%&>()-]+)",
    "<AXIS>": r"([xy])",
    "<ANY>": r"(.*)",
}


def _compile(form: str) -> re.Pattern[str]:
    parts = re.split("(<[A-Z]+>)", form)
    text = "".join(_PARTS.get(part) or re.escape(part) for part in parts)
    return re.compile(r"(?:__constant__ float ctab\[1024\]; )?\{ " + text + r" \}")


_COMPILED = tuple((_compile(form), function) for form, function in PATTERNS)
