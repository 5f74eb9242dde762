"""Functions without source, recursion, asynchronous and generated ones."""

import kbuild as kb

# E without line: KB100 cases.sources:generated has no source
namespace = {"kb": kb, "__name__": __name__}
exec("@kb.kernel\ndef generated(a: kb.array(dtype=float)):\n    a[0] = 1.0\n", namespace)

# E without line: KB100 write it as a `def`
short = kb.kernel(lambda a: None)

helper_namespace = {"kb": kb, "__name__": __name__}
exec("@kb.func\ndef hidden(x: float):\n    return x\n", helper_namespace)
hidden = helper_namespace["hidden"]


# E without line: KB100 cases.sources:hidden has no source
@kb.kernel
def calls_hidden(a: kb.array(dtype=float)):
    a[0] = hidden(a[0])


# E without line: KB100 asynchronous
@kb.kernel
async def later(a: kb.array(dtype=float)):
    a[0] = 1.0


@kb.func
def factorial(n: int):
    if n < 2:
        return 1
    return n * factorial(n - 1)  # E: KB113 factorial calls itself
    #          ^^^^^^^^^^^^^^^^


@kb.func
def even(n: int):
    return n == 0 or odd(n - 1)


@kb.func
def odd(n: int):
    return n != 0 and even(n - 1)  # E: KB113 even calls itself


@kb.kernel
def recursive(a: kb.array(dtype=int)):
    a[0] = factorial(a[0])
    a[1] = int(even(a[1]))
