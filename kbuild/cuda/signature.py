"""What is held against a kernel while NVRTC compiles it: text behind the file's own, which makes no code.

    using kb_kernel_0 = decltype(&saxpy);
    static_assert(kb_signature::of<kb_kernel_0>::count == 2, "…");
    static_assert(kb_signature::scalar<kb_kernel_0, 0, int>::value, "…");
    static_assert(kb_signature::pointer<kb_kernel_0, 1, float, float, 0>::value, "…");

Each stands, by `#line`, where the Python declaration has the parameter, so that the compiler's message is about that
line. What C++ calls a type is known of numbers; of vectors and structs the size is what is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kbuild.loader import abi

# A message of ours begins so; what comes after it is for people.
MARK = "kb_signature: "
PATH = "/kbuild/signature.cuh"

# Enumerators, not constants: NVRTC gives a constant of a class room in the memory of the module.
HELPERS = f"""
#line 1 "{PATH}"
namespace kb_signature {{
template <class A, class B> struct same {{ enum : bool {{ value = false }}; }};
template <class A> struct same<A, A> {{ enum : bool {{ value = true }}; }};
template <class T> struct bare {{ using type = T; }};
template <class T> struct bare<const T> {{ using type = T; }};
template <class T> struct bare<volatile T> {{ using type = T; }};
template <class T> struct bare<const volatile T> {{ using type = T; }};
template <class T> struct target {{ using type = void; enum : bool {{ is = false }}; }};
template <class T> struct target<T *> {{ using type = typename bare<T>::type; enum : bool {{ is = true }}; }};
template <class T> struct bytes {{ enum : unsigned long long {{ value = sizeof(T) }}; }};
template <> struct bytes<void> {{ enum : unsigned long long {{ value = 0 }}; }};
template <int N, class... P> struct at {{ using type = void; }};
template <class T, class... P> struct at<0, T, P...> {{ using type = T; }};
template <int N, class T, class... P> struct at<N, T, P...> {{ using type = typename at<N - 1, P...>::type; }};
template <class F> struct of;
template <class... P> struct of<void (*)(P...)> {{
    enum : int {{ count = sizeof...(P) }};
    template <int N> struct parameter {{ using type = typename bare<typename at<N, P...>::type>::type; }};
}};
template <class F, int N> using parameter = typename of<F>::template parameter<N>::type;
template <class F, int N, class T, class U = T> struct scalar {{
    enum : bool {{
        value = N >= of<F>::count || same<parameter<F, N>, T>::value || same<parameter<F, N>, U>::value
    }};
}};
template <class F, int N, unsigned long long S> struct sized {{
    enum : bool {{ value = N >= of<F>::count || bytes<parameter<F, N>>::value == S }};
}};
template <class F, int N> using pointee = typename target<parameter<F, N>>::type;
template <class F, int N, class T, class U, unsigned long long S> struct pointer {{
    enum : bool {{ value = N >= of<F>::count || (target<parameter<F, N>>::is &&
        (same<pointee<F, N>, void>::value || same<pointee<F, N>, T>::value || same<pointee<F, N>, U>::value ||
         (S != 0 && bytes<pointee<F, N>>::value == S))) }};
}};
}}
"""

# What C++ calls a number; two spellings where it has two types for one.
_NAMES = {
    "bool": ("bool", "bool"),
    "int8": ("signed char", "char"),
    "int16": ("short", "short"),
    "int32": ("int", "int"),
    "int64": ("long long", "long"),
    "uint8": ("unsigned char", "unsigned char"),
    "uint16": ("unsigned short", "unsigned short"),
    "uint32": ("unsigned int", "unsigned int"),
    "uint64": ("unsigned long long", "unsigned long"),
    "float32": ("float", "float"),
    "float64": ("double", "double"),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter, and the line of its declaration."""

    name: str
    type: abi.Type
    line: int


@dataclass(frozen=True, slots=True)
class Declaration:
    """A kernel of the file: its name there, its parameters, and where it is declared (a virtual path)."""

    expression: str
    parameters: tuple[Parameter, ...]
    path: str
    line: int


def text(declarations: Iterable[Declaration]) -> str:
    """What stands behind the file's own text."""
    return HELPERS + "".join(line for i, one in enumerate(declarations) for line in _checks(one, f"kb_kernel_{i}"))


def _checks(declared: Declaration, found: str) -> Sequence[str]:
    count = len(declared.parameters)
    names = ", ".join(parameter.name for parameter in declared.parameters) or "none"
    message = f"{declared.expression} has another number of parameters than the {count} declared here: {names}"
    lines = [
        _at(declared.path, declared.line),
        f"using {found} = decltype(&{declared.expression});\n",
        _at(declared.path, declared.line),
        _assertion(f"kb_signature::of<{found}>::count == {count}", message),
    ]
    for number, parameter in enumerate(declared.parameters):
        lines += [
            _at(declared.path, parameter.line),
            _assertion(
                f"kb_signature::{_fits(parameter.type, found, number)}::value", _message(declared, number, parameter)
            ),
        ]
    return lines


def _at(path: str, line: int) -> str:
    return f'#line {line} "{path}"\n'


def _assertion(condition: str, message: str) -> str:
    escaped = (MARK + message).replace("\\", "\\\\").replace('"', '\\"')
    return f'static_assert({condition}, "{escaped}");\n'


def _message(declared: Declaration, number: int, parameter: Parameter) -> str:
    wanted = spelled(parameter.type)
    return f"parameter {number + 1} of {declared.expression} is no {wanted}, which {parameter.name!r} is declared as"


def spelled(type: abi.Type) -> str:
    """What a declared parameter is in C++, for people."""
    if isinstance(type, abi.Flat):
        names = _NAMES.get(type.element.spelling)
        return f"'{names[0]} *'" if names else f"pointer to {type.element.size} bytes ({type.element})"
    names = _NAMES.get(type.spelling)
    return f"'{names[0]}'" if names else f"value of {type.size} bytes ({type})"


def _fits(type: abi.Type, found: str, number: int) -> str:
    """The condition that the C++ parameter fits."""
    if isinstance(type, abi.Flat):
        number_type = type.element if isinstance(type.element, abi.Scalar) else getattr(type.element, "element", None)
        names = _NAMES.get(number_type.spelling) if number_type is not None else None
        size = 0 if type.element.spelling in _NAMES else type.element.size
        first, second = names or ("void", "void")
        return f"pointer<{found}, {number}, {first}, {second}, {size}>"
    names = _NAMES.get(type.spelling)
    if names is not None:
        return f"scalar<{found}, {number}, {names[0]}, {names[1]}>"
    return f"sized<{found}, {number}, {type.size}>"
