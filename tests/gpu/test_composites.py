"""Vectors and matrices of every size and element type, to the last bit."""

import itertools

import pytest
from gpukernels import matrices, vectors

from tests.gpu import samples, tables

pytestmark = pytest.mark.gpu

COUNT = 300


def components(element):
    """Endless values of an element type: edges and, for floats, ordinary numbers between them."""
    values = samples.of(element)
    if element.startswith("float"):
        ordinary = samples.random_floats(element, 2000, spread=5)
        values = [value for pair in zip(ordinary, itertools.cycle(values)) for value in (pair[0], *pair)]
    return itertools.cycle(values)


def grouped(source, *shape):
    """The next values as nested tuples."""
    if not shape:
        return next(source)
    return tuple(grouped(source, *shape[1:]) for _ in range(shape[0]))


VECTORS = sorted({name.partition("_")[0] for name in vectors.EXPRESSIONS})
MATRICES = sorted({name.partition("_")[0] for name in matrices.EXPRESSIONS})


@pytest.mark.parametrize("type", VECTORS)
def test_vectors(type):
    length, element = int(type[3]), tables.element_of(type)
    source = components(element)
    rows = [(grouped(source, length), grouped(source, length), next(source)) for _ in range(COUNT)]
    fused = vectors.FUSED if element in ("float32", "float64") else None
    for out, title in ((type, "vectors"), (element, "scalars")):
        kernel = "%s_%s" % (type, title)
        types = [type, type, element]
        tables.check(getattr(vectors, kernel), "xys", types, rows, out, vectors.EXPRESSIONS[kernel], fused)


@pytest.mark.parametrize("type", MATRICES)
def test_matrices(type):
    size, element = int(type[3]), tables.element_of(type)
    source = components(element)
    rows = [
        (grouped(source, size, size), grouped(source, size, size), grouped(source, size), next(source))
        for _ in range(COUNT)
    ]
    fused = matrices.FUSED if element in ("float32", "float64") else None
    suffix = type[5:]
    for out, title in ((type, "matrices"), ("vec%d%s" % (size, suffix), "vectors")):
        kernel = "%s_%s" % (type, title)
        types = [type, type, "vec%d%s" % (size, suffix), element]
        tables.check(getattr(matrices, kernel), "xyvs", types, rows, out, matrices.EXPRESSIONS[kernel], fused)
