"""Every diagnostic code: what it says, why it is so, and for the language a wrong and a right example.

`python -m kbuild explain KB103` prints an entry. Codes are never reused. The examples are tested: the wrong one gives
its code, the right one none.
"""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """`wrong` and `right` are modules after `import kbuild as kb`; empty where there is no example."""

    title: str
    why: str
    wrong: str = ""
    right: str = ""


def _kernel(*lines: str, parameters: str = "a: kb.array(dtype=float), n: int") -> str:
    """A kernel with this body."""
    body = "\n".join(f"    {line}" for line in lines)
    return f"@kb.kernel\ndef kernel({parameters}):\n{body}\n"


def _func(head: str, *lines: str) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"@kb.func\ndef {head}:\n{body}\n\n\n"


_GRADIENT = (
    _func("square(x: float)", "return x * x")
    + "@kb.func_grad(square)\ndef adj_square({}):\n    {}\n\n\n"
    + _kernel("a[0] = square(a[0])")
)

CODES: dict[str, Code] = {
    "KB001": Code("a wrong command line", "The words of the command do not fit together; see `--help`."),
    "KB002": Code(
        "a project without a usable pyproject.toml",
        "kbuild reads `[tool.kbuild]` of pyproject.toml and needs it whole.",
    ),
    "KB003": Code(
        "a wrong option in [tool.kbuild]",
        "Nothing is guessed and nothing ignored, so a misspelled option cannot go unnoticed.",
    ),
    "KB010": Code("an unknown target", "`python -m kbuild targets` lists every architecture and platform."),
    "KB011": Code(
        "a target that is not supported",
        "The message says why: for the Jetsons with JetPack 4 no compiler to be had makes code that their driver is "
        "promised to load.",
    ),
    "KB012": Code("a target that contradicts itself", "A platform fixes its CUDA version; PTX cannot have PTX added."),
    "KB013": Code("a CUDA version that does not know the architecture", "The message names the first that does."),
    "KB100": Code(
        "a kernel or function without source",
        "Kernels are compiled from their text: it must lie in a file that is there while building.",
        "kernel = kb.kernel(lambda a: None)\n",
        _kernel("a[0] = 1.0"),
    ),
    "KB101": Code(
        "a parameter or field without a type",
        "The machine code depends on the type of every parameter.",
        _kernel("a[0] = x", parameters="a: kb.array(dtype=float), x"),
        _kernel("a[0] = x", parameters="a: kb.array(dtype=float), x: float"),
    ),
    "KB102": Code(
        "something that is not a type of the kernel language",
        "Types are float, int, bool, kb.float64 and its like, vectors, matrices, structs and arrays.",
        _kernel("a[0] = 1.0", parameters="a: list"),
        _kernel("a[0] = 1.0", parameters="a: kb.array(dtype=float)"),
    ),
    "KB103": Code(
        "a name that is not defined",
        "Names are looked up as Python does: in the function, around it, in the module.",
        _kernel("a[0] = speed"),
        f"speed = 2.0\n\n\n{_kernel('a[0] = speed')}",
    ),
    "KB104": Code(
        "a name that is read before anything is assigned to it",
        "Python would raise UnboundLocalError here.",
        _kernel("a[0] = x", "x = 1.0"),
        _kernel("x = 1.0", "a[0] = x"),
    ),
    "KB105": Code(
        "a value that kernels cannot capture",
        "What a kernel captures is compiled into it, so it must have an exact value: a number, an enum member, a "
        "vector, a matrix, a tuple of them, a table made with kb.constant. Other data goes into arrays.",
        f"TABLE = [1.0, 2.0]\n\n\n{_kernel('a[0] = TABLE[n]')}",
        f"TABLE = kb.constant([1.0, 2.0])\n\n\n{_kernel('a[0] = TABLE[n]')}",
    ),
    "KB106": Code(
        "a parameter kind that kernels do not have",
        "The parameters of machine code are fixed in number and type.",
        _kernel("a[0] = 1.0", parameters="a: kb.array(dtype=float), *more"),
        _kernel("a[0] = 1.0"),
    ),
    "KB110": Code(
        "a statement outside the kernel language",
        "Thousands of threads run the code on a GPU, which has no exceptions, context managers, classes or imports.",
        _kernel("try:", "    a[0] = 1.0", "except IndexError:", "    pass"),
        _kernel("if a.shape[0] > 0:", "    a[0] = 1.0"),
    ),
    "KB111": Code(
        "an expression outside the kernel language",
        "There is no memory to allocate inside a kernel: no lists, dictionaries, strings or closures.",
        _kernel("xs = [1.0, 2.0]", "a[0] = xs[0]"),
        _kernel("xs = kb.vec2(1.0, 2.0)", "a[0] = xs[0]"),
    ),
    "KB112": Code(
        "a Python function called inside a kernel",
        "Kernels call intrinsics (kb.…) and functions that are decorated with @kb.func.",
        f"import math\n\n\n{_kernel('a[0] = math.sin(1.0)')}",
        _kernel("a[0] = kb.sin(1.0)"),
    ),
    "KB113": Code(
        "recursion",
        "A GPU thread has a small stack of fixed size.",
        _func("down(n: int) -> int", "return down(n - 1)") + _kernel("a[0] = float(down(n))"),
        _kernel("while n > 0:", "    n = n - 1", "a[0] = float(n)"),
    ),
    "KB114": Code(
        "a function that kbuild does not have yet", "The name is known, its implementation is still to come."
    ),
    "KB120": Code(
        "operands of different types",
        "Nothing is converted silently: a widening to float64 would cost a factor of 32 on many GPUs.",
        _kernel("a[0] = a[0] * n"),
        _kernel("a[0] = a[0] * float(n)"),
    ),
    "KB121": Code(
        "an operand of a type that the operator does not take",
        "Bits are for integers, truth for `and`, `or`, `not`.",
        _kernel("a[0] = a[0] & a[1]"),
        _kernel("a[0] = float(n & 3)"),
    ),
    "KB122": Code(
        "a number that does not fit its type",
        "A number without a type takes the type that its context asks for, and must fit it exactly.",
        _kernel("x = n + 3000000000", "a[0] = float(x)"),
        _kernel("x = kb.int64(n) + 3000000000", "a[0] = float(x)"),
    ),
    "KB123": Code(
        "a condition that is not a truth value",
        "Only bools and numbers are true or false.",
        _kernel("if v:", "    a[0] = 1.0", parameters="a: kb.array(dtype=float), v: kb.vec3"),
        _kernel("if v.x != 0.0:", "    a[0] = 1.0", parameters="a: kb.array(dtype=float), v: kb.vec3"),
    ),
    "KB124": Code(
        "a variable that changes its type",
        "A variable is a register of one type.",
        _kernel("x = 1", "x = a[0]"),
        _kernel("x = 1.0", "x = a[0]", "a[1] = x"),
    ),
    "KB130": Code(
        "a call with wrong arguments",
        "The message names the parameters.",
        _kernel("a[0] = kb.sqrt(1.0, 2.0)"),
        _kernel("a[0] = kb.sqrt(1.0)"),
    ),
    "KB131": Code(
        "a call of a function that returns nothing, used as a value",
        "",
        _func("store(a: kb.array(dtype=float))", "a[0] = 1.0") + _kernel("x = store(a)"),
        _func("store(a: kb.array(dtype=float))", "a[0] = 1.0") + _kernel("store(a)"),
    ),
    "KB132": Code(
        "a wrong number of values to unpack",
        "",
        _kernel("x, y = a.shape", "a[0] = float(x + y)"),
        _kernel("(x,) = a.shape", "a[0] = float(x)"),
    ),
    "KB140": Code(
        "a wrong number or kind of indices",
        "An element has an index for every dimension; fewer give a view, which cannot be assigned to.",
        _kernel("a[0, 1] = 1.0"),
        _kernel("a[0] = 1.0"),
    ),
    "KB141": Code(
        "an index outside a vector, matrix or tuple",
        "Their sizes are known while building.",
        _kernel("a[0] = v[3]", parameters="a: kb.array(dtype=float), v: kb.vec3"),
        _kernel("a[0] = v[2]", parameters="a: kb.array(dtype=float), v: kb.vec3"),
    ),
    "KB142": Code(
        "an unknown field or attribute",
        "",
        _kernel("a[0] = v.q", parameters="a: kb.array(dtype=float), v: kb.vec3"),
        _kernel("a[0] = v.z", parameters="a: kb.array(dtype=float), v: kb.vec3"),
    ),
    "KB143": Code(
        "an assignment to something that cannot be assigned",
        "Arguments go by value: a change of a struct parameter would be lost, where Python would change the caller's.",
        "@kb.struct\nclass S:\n    x: float\n\n\n"
        + _kernel("s.x = 1.0", "a[0] = s.x", parameters="a: kb.array(dtype=float), s: S"),
        "@kb.struct\nclass S:\n    x: float\n\n\n"
        + _kernel("t = S(1.0)", "a[0] = t.x", parameters="a: kb.array(dtype=float), s: S"),
    ),
    "KB150": Code(
        "returns of different types",
        "",
        _func("f(n: int)", "if n > 0:", "    return 1.0", "return n") + _kernel("a[0] = f(n)"),
        _func("f(n: int)", "if n > 0:", "    return 1.0", "return float(n)") + _kernel("a[0] = f(n)"),
    ),
    "KB151": Code(
        "a function that does not return on every way through",
        "Python would return None, which is no value of the kernel language: the function gives zero there.",
        _func("f(n: int)", "if n > 0:", "    return 1.0") + _kernel("a[0] = f(n)"),
        _func("f(n: int)", "if n > 0:", "    return 1.0", "return 0.0") + _kernel("a[0] = f(n)"),
    ),
    "KB152": Code(
        "a kernel that returns a value",
        "Each thread would return one; there is nobody to take them.",
        _kernel("return a[0]"),
        _kernel("a[1] = a[0]"),
    ),
    "KB160": Code(
        "tid() with different numbers of results in one kernel",
        "The number of coordinates belongs to the launch as a whole.",
        _kernel("i = kb.tid()", "j, k = kb.tid()", "a[i] = float(j + k)"),
        _kernel("j, k = kb.tid()", "a[j] = float(k)"),
    ),
    "KB161": Code(
        "tid() used as something else than its one to four results",
        "A launch has one to four sizes.",
        _kernel("i, j, k, l, m = kb.tid()", "a[i] = 1.0"),
        _kernel("i, j, k, l = kb.tid()", "a[i] = 1.0"),
    ),
    "KB170": Code(
        "an atomic operation on something that is not an element of an array",
        "Other threads can only see arrays.",
        _kernel("x = 1.0", "kb.atomic_add(x, 0, 1.0)"),
        _kernel("kb.atomic_add(a, 0, 1.0)"),
    ),
    "KB171": Code(
        "an argument that the call changes and that is no variable",
        "It gets a new value, as the state of random numbers does: copy an element into a variable, and store it back.",
        _kernel("a[0] = kb.randf(kb.uint32(n) + kb.rand_init(1))"),
        _kernel("state = kb.uint32(n) + kb.rand_init(1)", "a[0] = kb.randf(state)"),
    ),
    "KB180": Code(
        "a static() expression that fails",
        "It is evaluated in Python while building.",
        _kernel("a[0] = kb.static(1 / 0)"),
        _kernel("a[0] = kb.static(1 / 2)"),
    ),
    "KB181": Code(
        "a static() expression that reads a variable of the kernel",
        "Variables have values on the GPU only.",
        _kernel("a[0] = kb.static(float(n))"),
        _kernel("a[0] = float(n)"),
    ),
    "KB182": Code(
        "a loop that must be unrolled and cannot",
        "`static` needs the loop's variable, so the bounds must be constant, with at most 16 trips.",
        _kernel("for i in range(n):", "    a[i] = kb.static(i * 0.5)"),
        _kernel("for i in range(4):", "    a[i] = kb.static(i * 0.5)"),
    ),
    "KB183": Code(
        "`break` or `continue` of an unrolled loop",
        "Nothing is left of the loop that could be left.",
        _kernel("for i in range(4):", "    if n == i:", "        break", "    a[i] = kb.static(i * 0.5)"),
        _kernel("for i in range(4):", "    if n > i:", "        a[i] = kb.static(i * 0.5)"),
    ),
    "KB184": Code(
        "a launch_dim that no launch can be held against",
        '`@kb.kernel(launch_dim="n")` says over how many threads the kernel is launched: a name that arrays have in '
        "their `shape`, an int parameter or a number, one for each result of `tid()`.",
        _kernel("a[kb.tid()] = 1.0").replace("@kb.kernel", '@kb.kernel(launch_dim="m")'),
        _kernel("a[kb.tid()] = 1.0").replace("@kb.kernel", '@kb.kernel(launch_dim="n")'),
    ),
    "KB187": Code(
        "a function of clusters in a kernel that does not run in clusters",
        "`@kb.kernel(cluster_dim=4)` makes four blocks run together: they can wait for one another and reach one "
        "another's shared memory, on GPUs of compute capability 9.0 and later.",
        _kernel("a[0] = float(kb.cluster_rank())"),
        _kernel("a[0] = float(kb.cluster_rank())").replace("@kb.kernel", "@kb.kernel(cluster_dim=2)"),
    ),
    "KB188": Code(
        "a use of another block's shared memory that cannot be",
        "`kb.cluster_array(tile, rank)` is the array that `kb.shared_array` declares, as the block of that rank in the "
        "cluster has it. Atomics on it are for more than one block.",
        _kernel("there = kb.cluster_array(a, 1)", "a[0] = there[0]").replace("@kb.kernel", "@kb.kernel(cluster_dim=2)"),
        _kernel("tile = kb.shared_array(4, float)", "a[0] = kb.cluster_array(tile, 1)[0]").replace(
            "@kb.kernel", "@kb.kernel(cluster_dim=2)"
        ),
    ),
    "KB189": Code(
        "a function in CUDA C++ that says what it cannot",
        "A snippet is the body of a function of its own: CUDA C++ with its parameters and their types, and nothing of "
        "Warp's C++ library. What comes out is what the annotation says.",
        '@kb.func_native("#include <cuda_fp16.h>\\nreturn x;")\ndef same(x: float) -> float: ...\n\n\n'
        + _kernel("a[0] = same(a[0])"),
        '@kb.func_native("return x;")\ndef same(x: float) -> float: ...\n\n\n' + _kernel("a[0] = same(a[0])"),
    ),
    "KB190": Code(
        "a format that kb.printf does not have",
        "The format is compiled into the kernel: a constant text with the conversions `%d %i %u %x %X %o %c %f %e "
        "%E %g %G` and `%%`, with flags, width and precision. Length modifiers (`%lld`) may be left out.",
        _kernel('kb.printf("%s\\n", n)'),
        _kernel('kb.printf("n = %d\\n", n)'),
    ),
    "KB191": Code(
        "values that do not fit the conversions of a format",
        "`%d` and its kin print integers and bools of every width, `%f` and its kin floats of every width; each "
        "conversion has a value, and there are at most 32.",
        _kernel('kb.printf("%d\\n", a[0])'),
        _kernel('kb.printf("%g\\n", a[0])'),
    ),
    "KB192": Code(
        "something that cannot be printed",
        "print() shows numbers, bools, vectors, matrices, structs of them and constant texts; the message of an assert "
        "is a constant text.",
        _kernel("print(a)"),
        _kernel("print(a[0])"),
    ),
    "KB193": Code(
        "an array in shared memory that is not declared once, at the top level of a function",
        "It belongs to the whole block and lives as long: no branch, loop or second name can have one of its own.",
        _kernel("if n > 0:", "    tile = kb.shared_array(16, float)", "    tile[0] = a[0]"),
        _kernel("tile = kb.shared_array(16, float)", "if n > 0:", "    tile[0] = a[0]"),
    ),
    "KB194": Code(
        "an array in shared memory without a constant shape and a type",
        "Its size is part of the machine code: numbers, names of numbers outside the kernel, `kb.static(…)`. The first "
        "extent may be None: then the launch gives the memory, with `shared_memory=`.",
        _kernel("tile = kb.shared_array(n, float)", "tile[0] = a[0]"),
        _kernel("tile = kb.shared_array((16, 17), float)", "tile[0, 0] = a[0]"),
    ),
    "KB195": Code(
        "more shared memory than a block may have",
        "CUDA allows 48 KiB to the arrays of a kernel and of the functions that it calls, together; more is had where "
        "the launch gives it, to one array with a first extent of None.",
        _kernel("tile = kb.shared_array((128, 128), float)", "tile[0, 0] = a[0]"),
        _kernel("tile = kb.shared_array((96, 128), float)", "tile[0, 0] = a[0]"),
    ),
    "KB196": Code(
        "a gradient or replay that does not fit its function",
        "The parameters of a function made with @kb.func_grad(f) are those of f, with the same types, and then the "
        "adjoint of each result; it returns nothing. One made with @kb.func_replay(f) has the parameters and results "
        "of f. Functions that change arguments have neither.",
        _GRADIENT.format("x: float", "kb.adjoint[x] += 2.0 * x"),
        _GRADIENT.format("x: float, adj_ret: float", "kb.adjoint[x] += 2.0 * x * adj_ret"),
    ),
    "KB197": Code(
        "kb.adjoint of something that has no adjoint",
        "In a function made with @kb.func_grad(f), `kb.adjoint[x]` is the adjoint of the parameter x of f, or of a "
        "part of it, and `kb.adjoint[a][i]` that of an element of the array a. Integers have none; arrays in structs "
        "have none there. Anywhere else it has no meaning.",
        _GRADIENT.format("x: float, adj_ret: float", "kb.adjoint[adj_ret] += 2.0 * x"),
        _GRADIENT.format("x: float, adj_ret: float", "kb.adjoint[x] += 2.0 * x * adj_ret"),
    ),
    "KB198": Code(
        "storing to a table of kb.constant",
        "A table is part of the machine code, the same for all threads and launches.",
        f"TABLE = kb.constant([1.0, 2.0])\n\n\n{_kernel('TABLE[n] = a[0]')}",
        f"TABLE = kb.constant([1.0, 2.0])\n\n\n{_kernel('a[0] = TABLE[n]')}",
    ),
    "KB199": Code(
        "more tables than constant memory holds",
        "A GPU has 64 KiB of constant memory for the code of a kernel. Kernels that read different tables share it "
        "only where all of them fit.",
        f"TABLE = kb.constant([[0.0] * 1024] * 17)\n\n\n{_kernel('a[0] = TABLE[n, n]')}",
        f"TABLE = kb.constant([[0.0] * 1024] * 16)\n\n\n{_kernel('a[0] = TABLE[n, n]')}",
    ),
    "KB201": Code(
        "a module that cannot be imported",
        "Kernel modules are imported while building, on a machine without a GPU. A package that kernels do not use can "
        "be named in `mock-imports`.",
    ),
    "KB202": Code("a module that ends Python while it is imported", "The message names the module and how it ended."),
    "KB203": Code("a name in `modules` that names nothing", "`src/pkg/kernels.py` is the module `pkg.kernels`."),
    "KB204": Code("a module outside a package", "The bundle lies beside a package's `__init__.py`."),
    "KB205": Code(
        "two kernels of one name", "A launch finds its machine code by module and name, so each needs its own."
    ),
    "KB206": Code(
        "a package without kernels", "`modules` names modules in which nothing is decorated with @kb.kernel."
    ),
    "KB207": Code("a kernel that does not exist", "The message lists those that do."),
    "KB208": Code("a project without packages", "setuptools installs nothing for it, and so no bundle either."),
    "KB210": Code("a function in `instances` that fails", "It is called while building, without arguments."),
    "KB211": Code(
        "a generic kernel without an overload",
        "Machine code is for given types. `kb.overload(kernel, {…})` names them, in a module or in a function of "
        "`instances`; a kernel that is launched with other types is not found.",
    ),
    "KB220": Code(
        "a kernel that has no gradient",
        "A tape differentiates a kernel by its adjoint, which is built beside it, unless something in it has no "
        "derivative or cannot be run backward; the message says what, with the line. It is a warning where nobody has "
        "asked for the gradient of that kernel, and an error with `@kb.kernel(enable_backward=True)` or `backward = "
        "true` in [tool.kbuild]. `@kb.kernel(enable_backward=False)` and `backward = false` want none.",
    ),
    "KB301": Code(
        "code that NVRTC or ptxas refuses",
        "The message is the compiler's, at the line that it is about. In CUDA C++, in a `.cu` file or a snippet, it is "
        "about what stands there. For a kernel in Python that `check` accepts, and that is within the GPU's limits, "
        "this is a bug in kbuild: please report it.",
    ),
    "KB302": Code(
        "more parameters than the GPU takes",
        "4 KB on older GPUs and toolkits, 32,764 bytes from CUDA 12.1 and sm_70 on. An array takes 8 bytes and 8 for "
        "each dimension. Put values into an array.",
    ),
    "KB303": Code(
        "a file of CUDA C++ that cannot be read",
        "The file that a declaration names, and what it includes, is read before anything is compiled. A name is "
        "relative to the folder of the module that declares the kernel.",
    ),
    "KB304": Code(
        "a declaration that does not fit its kernel in CUDA C++",
        "A launch writes arguments where the declaration says. Name, number and types of the parameters are held "
        "against the kernel while it is compiled, sizes and offsets against its code.",
    ),
    "KB305": Code(
        "a header that is not there",
        "NVRTC has no headers of its own. A project's are found beside the file that includes them and in "
        "`include-dirs`; CUDA's come with wheels of the CUDA version that compiles for the target.",
    ),
    "KB306": Code(
        "a kernel that runs in clusters, for a GPU that has none",
        "Blocks run in clusters from compute capability 9.0 (Hopper) on. Leave older targets out, or put the kernel "
        "into a package of its own that is built for newer ones.",
    ),
    "KB401": Code(
        "an access beyond an array, a vector or a matrix",
        "A GPU stops the program at best; at worst it reads or overwrites what lies behind. The audit names a launch "
        "and a thread with which it happens, or says what it would have to know. `if i < a.shape[0]:` keeps the last "
        "threads away; `kb.assume(…)` says what always holds.",
    ),
    "KB402": Code(
        "a race on shared memory",
        "Two threads of a block come to one element, one of them stores to it, and no barrier stands between: which "
        "comes first is chance. `kb.syncthreads()` puts one between; atomics need none.",
    ),
    "KB403": Code(
        "a race on an array",
        "Two threads of a launch come to one element, and one of them stores to it: blocks are not ordered, and "
        "threads of one block by barriers alone. Let each thread store to its own elements, or use atomics.",
    ),
    "KB404": Code(
        "a barrier that not all threads reach",
        "`kb.syncthreads()` waits for every thread of the block. In a branch that some do not take, in a loop that "
        "some leave earlier, or behind a `return` of some, it hangs or lets the others go on too early.",
    ),
    "KB405": Code(
        "a bank conflict",
        "Shared memory has 32 banks of 4 bytes. Lanes of a warp that come to different words of one bank wait for one "
        "another. A row that is one element longer (`kb.shared_array((32, 33), float)`) spreads columns over all "
        "banks.",
    ),
    "KB406": Code(
        "an access that is not coalesced",
        "A warp's access moves whole sectors of 32 bytes. Neighbouring lanes that come to distant elements move many "
        "times what they use. Let the last index of an array be that of the lane.",
    ),
    "KB407": Code(
        "a load that is repeated",
        "A thread loads an element again that nobody has changed. Where a store to another array, an atomic, a barrier "
        "or printing lies between, the compiler has to: for all that it knows, arrays overlap. A variable keeps the "
        "element; for a loop, one that is assigned before it. (With nothing between, two loads are one anyway.)",
        _kernel(
            "i = kb.tid()",
            "b[i] = a[i] * 2.0",
            "c[i] = a[i] + 1.0",
            parameters="a: kb.array(dtype=float), b: kb.array(dtype=float), c: kb.array(dtype=float)",
        ),
        _kernel(
            "i = kb.tid()",
            "x = a[i]",
            "b[i] = x * 2.0",
            "c[i] = x + 1.0",
            parameters="a: kb.array(dtype=float), b: kb.array(dtype=float), c: kb.array(dtype=float)",
        ),
    ),
    "KB408": Code(
        "a vector that is moved in pieces, or numbers that could be one",
        "One instruction moves up to 16 bytes, where the address is a multiple of them. A vector of two or four "
        "numbers goes so as a whole: not component by component, not if the function comes to it again (which a "
        "compiler sees number by number only), not as a field of a struct, which is aligned as its numbers are, not "
        "with a hint for the caches. Numbers side by side are moved at once as a `kb.vec4`.",
        _kernel(
            "i = kb.tid()",
            "b[i] = v[i][0] + v[i][1]",
            parameters="v: kb.array(dtype=kb.vec2), b: kb.array(dtype=float)",
        ),
        _kernel(
            "i = kb.tid()",
            "x = v[i]",
            "b[i] = x[0] + x[1]",
            parameters="v: kb.array(dtype=kb.vec2), b: kb.array(dtype=float)",
        ),
    ),
    "KB409": Code(
        "a branch or loop that splits a warp",
        "The lanes of a warp take both ways one after the other, and wait for the one with the most trips.",
    ),
    "KB410": Code(
        "a loop over a whole array that threads could share",
        "Every thread runs the whole loop and does the same in it as the others, or one thread runs it alone. "
        "`kb.grid_range(n)` deals the trips out to the threads of the launch.",
        _kernel(
            "i = kb.tid()",
            "total = float(0.0)",
            "for j in range(a.shape[0]):",
            "    total += a[j]",
            "b[i] = b[i] / total",
            parameters="a: kb.array(dtype=float), b: kb.array(dtype=float)",
        ),
        _kernel(
            "for j in kb.grid_range(a.shape[0]):",
            "    kb.atomic_add(total, 0, a[j])",
            parameters="a: kb.array(dtype=float), total: kb.array(dtype=float)",
        ),
    ),
    "KB411": Code(
        "tables that nearly fill constant memory",
        "A GPU has 64 KiB of constant memory for the code of a kernel, and what does not fit is refused [KB199]. "
        "Kernels whose tables do not fit together are compiled apart.",
        f"TABLE = kb.constant([[0.0] * 1024] * 13)\n\n\n{_kernel('a[0] = TABLE[n, n]')}",
        f"TABLE = kb.constant([[0.0] * 1024] * 11)\n\n\n{_kernel('a[0] = TABLE[n, n]')}",
    ),
    "KB412": Code(
        "captured data that changes later",
        "What a kernel captures is compiled into it. A launch looks at it once, the first time: what the program "
        "assigns afterwards, or puts into the list that a table was made of, no launch sees.",
        "GAIN = 2.0\n\n\ndef louder():\n    global GAIN\n    GAIN = 3.0\n\n\n" + _kernel("a[n] = a[n] * GAIN"),
        _kernel("a[n] = a[n] * gain", parameters="a: kb.array(dtype=float), n: int, gain: float"),
    ),
    "KB413": Code(
        "a number that is float64 too late, or for nothing",
        "A number without a type is a float32 in a variable, and stays the float32 nearest to it when it is widened. "
        "One that is a float64 makes float64 of the arithmetic around it, which many GPUs have few units for. "
        "(Types never change silently: a float64 that meets a float32 is refused [KB120].)",
        _kernel("x = 0.1", "b[n] = kb.float64(x)", parameters="b: kb.array(dtype=kb.float64), n: int"),
        _kernel("x = kb.float64(0.1)", "b[n] = x", parameters="b: kb.array(dtype=kb.float64), n: int"),
    ),
    "KB414": Code(
        "index arithmetic that leaves its type",
        "int32 ends at 2,147,483,647, and wraps: a large array, or a product of extents, gets there. `kb.int64(…)` has "
        "room.",
    ),
    "KB415": Code(
        "something that is read before anything is stored there",
        "Shared memory holds anything until a thread stores to it; a variable that only some ways assign is zero on "
        "the others.",
    ),
    "KB416": Code(
        "a parameter that is not read",
        "Every launch passes it, and every reader wonders what it is for. A name that starts with `_` says that it is "
        "meant.",
        _kernel("a[0] = 1.0"),
        _kernel("a[n] = 1.0"),
    ),
    "KB420": Code(
        "registers that leave room for few warps",
        "A multiprocessor hides the time of memory by running other warps; registers decide how many fit. "
        '`launch_bounds="auto"` makes room for as many blocks as spill nothing.',
    ),
    "KB421": Code(
        "registers that are spilled",
        "What does not fit into registers goes to local memory, which is as far away as any other.",
    ),
    "KB422": Code(
        "a stack in local memory",
        "Vectors and matrices that are indexed with variables lie in memory, as does what printing and calls need.",
    ),
    "KB423": Code(
        "shared memory near its limit, or that leaves room for few warps",
        "A block has 48 KiB of static shared memory, and all blocks of a multiprocessor share what it has.",
    ),
    "KB424": Code(
        "narrow instructions for wide elements",
        "One instruction can move 16 bytes, and an array has elements of 8 or 16; the machine code has no such "
        "instruction. In kernels in Python KB408 says at which line. Off unless a project asks for it.",
    ),
    "KB430": Code(
        "a suppression without use or reason",
        "`# kbuild: ignore[KB402] why it is right` takes a finding back. Without a reason it takes back nothing, and "
        "one that takes back nothing is told, so that it hides nothing later.",
        _kernel("a[n] = 1.0  # kbuild: ignore[KB410] the loop is short"),
        _kernel("a[n] = 1.0"),
    ),
    "KB501": Code("this machine lacks something", "The message names it, and the command that brings it."),
    "KB502": Code(
        "no compiler for a target",
        "Each target needs NVRTC of certain versions; `kbuild[build]` and `kbuild[cuda11]` bring them.",
    ),
    "KB503": Code("a folder in `toolchains` without NVRTC", "Name a CUDA toolkit, or the folder of libnvrtc."),
    "KB504": Code("a compiler process that died", "Killed for lack of memory, or a crash in NVRTC."),
    "KB510": Code("a cache that cannot be used", "The build is right and slower: everything is compiled each time."),
    "KB700": Code("a bug in kbuild", "Please report it with what was printed."),
}
