"""Functions in CUDA C++: what their texts, parameters and annotations cannot be."""

import kbuild as kb

TABLE = kb.constant([1.0, 2.0])


@kb.struct
class Body:
    forces: kb.array(dtype=float)


@kb.func_native("return wp::max(x, 0.0f);")  # E: KB189 says `wp::max`, which is Warp's
def of_warp(x: float) -> float: ...


@kb.func_native("#include <cuda_fp16.h>\nreturn x;")  # E: KB189 has an #include
def includes(x: float) -> float: ...


@kb.func_native("return old + new_;")
def named(old: float, new_: float, this: float) -> float: ...  # E: KB189 'this' of cases.native:named is a word of C++


@kb.func_native("return body.forces[0];")
def of_a_struct(body: Body) -> float: ...  # E: KB189 pass the arrays beside it


@kb.func_native("return x;")
def gives_an_array(x: kb.array(dtype=float)) -> kb.array(dtype=float): ...  # E: KB189 pass it to the function


@kb.func_native("return x;")
def gives_a_list(x: float) -> list[float]: ...  # E: KB189 a tuple is a @kb.struct there


@kb.func_native("return values[0];", "adj_values[0] += adj_ret;")
def first(values: kb.array(dtype=float)) -> float: ...


@kb.kernel
def wrong(a: kb.array(dtype=float), body: Body):
    a[0] = of_warp(a[0])
    a[1] = includes(a[0])
    a[2] = named(a[0], a[1], a[2])
    a[3] = of_a_struct(body)
    a[4] = gives_an_array(a)[0]
    a[5] = gives_a_list(a[0])
    a[6] = first(TABLE)  # E: KB196 would add to the adjoint of the table 'values'
