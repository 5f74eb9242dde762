"""Every scalar type converted to every other: all values of the small types, edges and random ones of the others."""

import pytest
from gpukernels import conversions

import kbuild as kb
from kbuild.loader.abi import SCALARS
from tests.gpu import meaning, samples, tables

pytestmark = pytest.mark.gpu


def values_of(type):
    if SCALARS[type].size <= 2 and type != "bool":
        return samples.every(type)
    extra = samples.random_floats(type, 3000) if SCALARS[type].kind == "float" else []
    return samples.of(type) + extra


@pytest.mark.parametrize("source", list(SCALARS))
def test_conversions(source):
    values = values_of(source)
    targets = conversions.EXPRESSIONS["conversions"]
    arrays = [kb.zeros(len(values), dtype=tables.dtype(target)) for target in targets]
    given = kb.array(values, dtype=tables.dtype(source))
    kb.launch(getattr(conversions, "from_" + source), dim=len(values), inputs=[given], outputs=arrays)
    wrong = []
    for target, array in zip(targets, arrays):
        for value, got in zip(values, array.tolist()):
            wanted = meaning.convert(target, meaning.Number(source, value)).value
            if not meaning.same(got, wanted):
                wrong.append("%s(%r): got %r, means %r" % (target, value, got, wanted))
    assert not wrong, "%d are wrong:\n%s" % (len(wrong), "\n".join(wrong[:20]))


@pytest.mark.parametrize("type", list(SCALARS))
def test_arrays_bring_back_what_they_were_given(type):
    values = values_of(type)
    back = kb.array(values, dtype=tables.dtype(type)).tolist()
    assert all(map(meaning.same, back, values))
