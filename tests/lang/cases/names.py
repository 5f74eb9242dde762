"""Names: undefined, read too early, captured though they are no values."""

import math

import kbuild as kb

SCALES = [1.0, 2.0]
TABLE = {"a": 1.0}
TITLE = "title"
NOTHING = None
WEIGHT = 0.5


class Config:
    scale = 1.0
    table = [1.0, 2.0]


@kb.func
def helper(x: float):
    return x


@kb.kernel
def undefined(a: kb.array(dtype=float), factor: float):
    x = facter * 2.0  # E: KB103 did you mean 'factor'?
    #   ^^^^^^
    y = WEIGTH * 2.0  # E: KB103 did you mean 'WEIGHT'?
    z = helpr(1.0)  # E: KB103 did you mean 'helper'?
    w = nowhere_near_anything_known  # E: KB103 is not defined
    a[0] = x + y + z + w
    unknown[0] = 1.0  # E: KB103 'unknown' is not defined
    other += 1.0  # E: KB104 'other' is read before


@kb.kernel
def followers_are_silent(a: kb.array(dtype=float)):
    x = missing_one  # E: KB103 'missing_one' is not defined
    y = x + 1.0
    z = y * 2.0
    for i in range(y):
        a[i] = z
    if z > 1.0:
        a[0] = y
    a[1] = missing_two  # E: KB103 'missing_two' is not defined


@kb.kernel
def attributes_of_modules(a: kb.array(dtype=float)):
    a[0] = math.pie  # E: KB142 did you mean 'pi'?
    #      ^^^^^^^^
    a[1] = Config.scael  # E: KB142 did you mean 'scale'?
    a[2] = undefined_module.x  # E: KB103 'undefined_module' is not defined
    a[3] = math.pi.real_part  # E: KB142 has no attribute 'real_part'


@kb.kernel
def read_too_early(a: kb.array(dtype=float)):
    a[0] = later  # E: KB104 read before anything is assigned
    later = 1.0
    a[1] = later
    for i in range(3):
        a[i] = 1.0
    total = total + a[0]  # E: KB104 'total' is read before


@kb.kernel
def captures(a: kb.array(dtype=float)):
    a[0] = SCALES[0]  # E: KB105 is no value inside a kernel
    #      ^^^^^^
    a[1] = TABLE["a"]  # E: KB105 pass arrays as parameters
    a[2] = TITLE  # E: KB105 'title' is no value
    a[3] = NOTHING  # E: KB105 None is no value
    a[4] = Config.table[0]  # E: KB105 is no value
    a[5] = math  # E: KB105 is no value
    a[6] = helper  # E: KB105 is no value
    a[7] = Config  # E: KB105 is no value
    if SCALES:  # E: KB105 is no value
        a[8] = 1.0
    a[9] = -TABLE  # E: KB105 is no value
    a[SCALES] = 1.0  # E: KB105 is no value
    x = SCALES  # E: KB105 is no value
    a[10] = x[0]


@kb.kernel
def both_parts_of_a_block(a: kb.array(dtype=float)):
    if missing_three > 0.0:  # E: KB103 'missing_three' is not defined
        a[0] = missing_four  # E: KB103 'missing_four' is not defined
    else:
        a[1] = missing_five  # E: KB103 'missing_five' is not defined
    for i in range(missing_six):  # E: KB103 'missing_six' is not defined
        a[i] = missing_seven  # E: KB103 'missing_seven' is not defined
    while missing_eight:  # E: KB103 'missing_eight' is not defined
        a[2] = missing_nine  # E: KB103 'missing_nine' is not defined


def make():
    @kb.kernel
    def early_closure(a: kb.array(dtype=float)):
        a[0] = not_yet  # E: KB103 'not_yet' is not defined

    yield early_closure
    not_yet = 1.0
    yield not_yet


keep = make()
early = next(keep)
