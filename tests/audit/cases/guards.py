"""Guards that stand elsewhere: in functions, in chains of returns, in loops that are left, in nested branches."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

Floats = kb.array(dtype=float)
Ints = kb.array(dtype=int)
Plane = kb.array2d(dtype=float)

AHEAD, TOO_FAR = 2, 3

vec8 = kb.types.vector(length=8, dtype=float)
vec4i = kb.vec4i


@kb.func
def is_within(row: int, column: int, plane: Plane) -> bool:
    return row >= 0 and row < plane.shape[0] and column >= 0 and column < plane.shape[1]


@kb.func
def is_about_within(row: int, column: int, plane: Plane) -> bool:
    return row >= 0 and row <= plane.shape[0] and column >= 0 and column < plane.shape[1]


@case("bounds", "own", At((6, 7), block=42, plane=(6, 7), out=(6, 7)))
@kb.kernel
def asked_a_function_good(plane: Plane, out: Plane):
    y, x = kb.tid()
    if is_within(y, x, out):
        total = 0.0
        if is_within(y + 1, x - 1, plane):
            total += plane[y + 1, x - 1]
        out[y, x] = total


@case("bounds", "own", At((6, 7), block=42, plane=(6, 7), out=(6, 7)))
@kb.kernel
def asked_a_function_bad(plane: Plane, out: Plane):
    y, x = kb.tid()
    if is_within(y, x, out):
        total = 0.0
        if is_about_within(y + 1, x - 1, plane):
            total += plane[y + 1, x - 1]  # finds bounds
        out[y, x] = total


@kb.func
def kept_inside(i: int, n: int) -> int:
    return kb.max(kb.min(i, n - 1), 0)


@kb.func
def kept_nearly_inside(i: int, n: int) -> int:
    return kb.min(kb.max(i, 0), n)


@case("bounds", "own", At(32, block=32, data=20, out=32, shift=-4))
@kb.kernel
def kept_by_a_function_good(data: Floats, out: Floats, shift: int):
    i = kb.tid()
    if i < out.shape[0] and data.shape[0] > 0 and -1000 < shift < 1000:
        out[i] = data[kept_inside(i + shift, data.shape[0])]


@case("bounds", "own", At(32, block=32, data=20, out=32, shift=-4))
@kb.kernel
def kept_by_a_function_bad(data: Floats, out: Floats, shift: int):
    i = kb.tid()
    if i < out.shape[0] and data.shape[0] > 0 and -1000 < shift < 1000:
        out[i] = data[kept_nearly_inside(i + shift, data.shape[0])]  # finds bounds


@case("bounds", "GPUVerify", At(24, block=24, data=24, out=24))
@kb.kernel
def ends_apart_good(data: Floats, out: Floats):
    i = kb.tid()
    n = data.shape[0]
    if i < n and n > 1 and i < out.shape[0]:
        if i > 0:
            if i < n - 1:
                out[i] = data[i + 1] - data[i - 1]
            else:
                out[i] = data[i] - data[i - 1]
        else:
            out[i] = data[i + 1] - data[i]


@case("bounds", "GPUVerify", At(24, block=24, data=24, out=24))
@kb.kernel
def ends_apart_bad(data: Floats, out: Floats):
    i = kb.tid()
    n = data.shape[0]
    if i < n and n > 1 and i < out.shape[0]:
        if i < n - 1:
            if i > 0:
                out[i] = data[i + 1] - data[i - 1]
            else:
                out[i] = data[i] - data[i - 1]  # finds bounds
        else:
            out[i] = data[i] - data[i - 1]


TARGETS = [4, 0, -1, 2, 7, 3, 9, 1]


@case("bounds", "own", At(8, block=8, target=TARGETS, data=9, out=8))
@kb.kernel
def left_one_by_one_good(target: Ints, data: Floats, out: Floats):
    i = kb.tid()
    if i >= target.shape[0]:
        return
    if i >= out.shape[0]:
        return
    t = target[i]
    if t < 0 or t >= data.shape[0]:
        return
    if data[t] < 0.0:
        return
    out[i] = kb.sqrt(data[t])


@case("bounds", "own", At(8, block=8, target=TARGETS, data=9, out=8), symbolic="unknown")
@kb.kernel
def left_one_by_one_bad(target: Ints, data: Floats, out: Floats):
    i = kb.tid()
    if i >= target.shape[0]:
        return
    if i >= out.shape[0]:
        return
    t = target[i]
    if t < 0 and t >= data.shape[0]:
        return
    if data[t] < 0.0:  # finds bounds
        return
    out[i] = kb.sqrt(data[t])


@case("bounds", "own", At(16, block=16, keys=10, wanted=16, out=16))
@kb.kernel
def place_of_a_key_good(keys: Floats, wanted: Floats, out: Ints):
    i = kb.tid()
    if i < wanted.shape[0] and i < out.shape[0]:
        low = 0
        high = keys.shape[0]
        while low < high:
            middle = low + (high - low) // 2
            if keys[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


@case("bounds", "own", At(16, block=16, keys=10, wanted=16, out=16), symbolic="any")
@kb.kernel
def place_of_a_key_bad(keys: Floats, wanted: Floats, out: Ints):
    i = kb.tid()
    if i < wanted.shape[0] and i < out.shape[0]:
        low = 0
        high = keys.shape[0]
        while low <= high:
            middle = low + (high - low) // 2
            if keys[middle] < wanted[i]:  # finds bounds
                low = middle + 1
            else:
                high = middle - 1
        out[i] = low


@case("bounds", "own", At(32, block=32, out=32))
@kb.kernel
def folded_in_registers_good(out: Floats):
    i = kb.tid()
    v = vec8()
    for k in range(8):
        v[k] = float(i * k)
    step = 4
    while step > 0:
        for k in range(step):
            v[k] = v[k] + v[k + step]
        step = step // 2
    if i < out.shape[0]:
        out[i] = v[0]


@case("bounds", "own", At(32, block=32, out=32))
@kb.kernel
def folded_in_registers_bad(out: Floats):
    i = kb.tid()
    v = vec8()
    for k in range(8):
        v[k] = float(i * k)
    step = 4
    while step > 0:
        for k in range(step + 1):
            v[k] = v[k] + v[k + step]  # finds bounds
        step = step // 2
    if i < out.shape[0]:
        out[i] = v[0]


@case("bounds", "own", At(10, block=10, data=[[3, 1, 0], [2, 0, 5]] * 5, out=10))
@kb.kernel
def up_to_a_zero_good(data: kb.array2d(dtype=int), out: Ints):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        length = 0
        while length < data.shape[1]:
            if data[i, length] == 0:
                break
            length += 1
        out[i] = data[i, length - 1] if length > 0 else 0


@case("bounds", "own", At(10, block=10, data=[[3, 1, 0], [0, 2, 5]] * 5, out=10), symbolic="any")
@kb.kernel
def up_to_a_zero_bad(data: kb.array2d(dtype=int), out: Ints):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        length = 0
        while length < data.shape[1]:
            if data[i, length] == 0:
                break
            length += 1
        out[i] = data[i, length - 1]  # finds bounds


@case("bounds", "own", At((5, 8), block=40, image=(5, 8), out=(5, 8)))
@kb.kernel
def neighbours_counted_good(image: Plane, out: Plane):
    y, x = kb.tid()
    if y >= out.shape[0] or x >= out.shape[1]:
        return
    total = 0.0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            row = y + dy
            column = x + dx
            if row < 0 or row >= image.shape[0]:
                continue
            if column < 0 or column >= image.shape[1]:
                continue
            total += image[row, column]
    out[y, x] = total


@case("bounds", "own", At((5, 8), block=40, image=(5, 8), out=(5, 8)))
@kb.kernel
def neighbours_counted_bad(image: Plane, out: Plane):
    y, x = kb.tid()
    if y >= out.shape[0] or x >= out.shape[1]:
        return
    total = 0.0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            row = y + dy
            column = x + dx
            if row < 0 or row >= image.shape[0]:
                continue
            if column < 0 or column > image.shape[1]:
                continue
            total += image[row, column]  # finds bounds
    out[y, x] = total


@case("bounds", "own", At(20, block=20, data=20, out=20))
@kb.kernel
def ahead_as_captured_good(data: Floats, out: Floats):
    i = kb.tid()
    if kb.static(AHEAD > 0):
        if i + AHEAD < data.shape[0] and i < out.shape[0]:
            out[i] = data[i + kb.static(AHEAD)]


@case("bounds", "own", At(20, block=20, data=20, out=20))
@kb.kernel
def ahead_as_captured_bad(data: Floats, out: Floats):
    i = kb.tid()
    if kb.static(AHEAD > 0):
        if i + AHEAD < data.shape[0] and i < out.shape[0]:
            out[i] = data[i + kb.static(TOO_FAR)]  # finds bounds


@case("bounds", "own", At(16, block=16, data=40, out=16))
@kb.kernel
def last_four_kept_good(data: Floats, out: Floats):
    i = kb.tid()
    kept = kb.vec4()
    for k in range(data.shape[0]):
        kept[k & 3] = data[k]
    if i < out.shape[0]:
        out[i] = kept[i & 3] - kept[3 - i % 4]


@case("bounds", "own", At(16, block=16, data=40, out=16))
@kb.kernel
def last_four_kept_bad(data: Floats, out: Floats):
    i = kb.tid()
    kept = kb.vec4()
    for k in range(data.shape[0]):
        kept[k & 3] = data[k]
    if i < out.shape[0]:
        out[i] = kept[i & 3] - kept[4 - i % 4]  # finds bounds


@case("bounds", "own", At(4, block=4, a=9, b=6, out=4))
@kb.kernel
def merged_good(a: Floats, b: Floats, out: Floats):
    i = kb.tid()
    j = 0
    k = 0
    total = 0.0
    while j < a.shape[0] and k < b.shape[0]:
        if a[j] + float(i) < b[k]:
            total += a[j]
            j += 1
        else:
            total -= b[k]
            k += 1
    if i < out.shape[0]:
        out[i] = total


@case("bounds", "own", At(4, block=4, a=9, b=6, out=4), symbolic="any")
@kb.kernel
def merged_bad(a: Floats, b: Floats, out: Floats):
    i = kb.tid()
    j = 0
    k = 0
    total = 0.0
    while j < a.shape[0] or k < b.shape[0]:
        if a[j] + float(i) < b[k]:  # finds bounds
            total += a[j]
            j += 1
        else:
            total -= b[k]
            k += 1
    if i < out.shape[0]:
        out[i] = total


@case("bounds", "own", At(4, block=4, data=(4, 12), out=4))
@kb.kernel
def from_the_back_good(data: Plane, out: Floats):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        total = 0.0
        for k in reversed(range(1, data.shape[1])):
            total = 0.5 * total + data[i, k] - data[i, k - 1]
        out[i] = total


@case("bounds", "own", At(4, block=4, data=(4, 12), out=4))
@kb.kernel
def from_the_back_bad(data: Plane, out: Floats):
    i = kb.tid()
    if i < data.shape[0] and i < out.shape[0]:
        total = 0.0
        for k in reversed(range(data.shape[1])):
            total = 0.5 * total + data[i, k] - data[i, k - 1]  # finds bounds
        out[i] = total


@case("bounds", "own", At(12, block=12, data=20, out=12, least=15.0))
@kb.kernel
def found_first_good(data: Floats, out: Floats, least: float):
    i = kb.tid()
    found = -1
    for k in range(i, data.shape[0]):
        if data[k] > least:
            found = k
            break
    if i < out.shape[0] and found >= 0:
        out[i] = data[found]


@case("bounds", "own", At(12, block=12, data=20, out=12, least=25.0))
@kb.kernel
def found_first_bad(data: Floats, out: Floats, least: float):
    i = kb.tid()
    found = -1
    for k in range(i, data.shape[0]):
        if data[k] > least:
            found = k
            break
    if i < out.shape[0]:
        out[i] = data[found]  # finds bounds


@case("bounds", "own", At(16, block=16, sides=(16, 3), out=16))
@kb.kernel
def axis_of_a_box_good(sides: Plane, out: Ints):
    i = kb.tid()
    if i < sides.shape[0] and i < out.shape[0] and sides.shape[1] == 3:
        longest = 0
        if sides[i, 1] > sides[i, longest]:
            longest = 1
        if sides[i, 2] > sides[i, longest]:
            longest = 2
        out[i] = longest


@case("bounds", "own", At(16, block=16, sides=[[5.0, 3.0, 9.0]] * 16, out=16), symbolic="any")
@kb.kernel
def axis_of_a_box_bad(sides: Plane, out: Ints):
    i = kb.tid()
    if i < sides.shape[0] and i < out.shape[0] and sides.shape[1] == 3:
        longest = 0
        for axis in range(1, 3):
            if sides[i, axis] > sides[i, longest]:
                longest = axis + 1
            if sides[i, longest] < 0.0:  # finds bounds
                longest = 0
        out[i] = longest
