"""`kb.Tape` on the simulator: what flows where, and what is refused."""

from __future__ import annotations

import threading

import pytest

import kbuild as kb
from kbuild.loader import uses
from kbuild.loader.errors import LaunchError
from kbuild.loader.tape.recorder import Asked
from tests.helpers.hand_adjoints import Body, double, power, push, times, total, without


def floats(*values: float, **options: object) -> kb.array:
    return kb.array(list(values), dtype=float, device="sim", **options)


def test_ones_flow_into_what_nobody_reads():
    x, y = floats(1, 2, 3, requires_grad=True), kb.zeros(3, device="sim")
    with kb.Tape() as tape:
        kb.launch(double, dim=3, inputs=[x], outputs=[y])
    tape.backward()
    assert x.grad.tolist() == [2, 2, 2]
    assert tape.gradients == {x: x.grad}
    assert y.grad is None


def test_a_loss_and_a_second_pass_that_adds_up():
    x, loss = floats(1, 2, 3, requires_grad=True), kb.zeros(1, device="sim")
    with kb.Tape() as tape:
        y = kb.zeros(3, device="sim")
        kb.launch(double, dim=3, inputs=[x], outputs=[y])
        kb.launch(total, dim=3, inputs=[y], outputs=[loss])
    tape.backward(loss)
    assert x.grad.tolist() == [8, 16, 24]
    tape.backward(loss)
    assert x.grad.tolist() == [16, 32, 48]
    tape.zero()
    assert x.grad.tolist() == [0, 0, 0]
    tape.backward(loss=loss)
    assert x.grad.tolist() == [8, 16, 24]


def test_gradients_that_are_given():
    x, y = floats(1, 2, 3, requires_grad=True), kb.zeros(3, device="sim")
    with kb.Tape() as tape:
        kb.launch(double, dim=3, inputs=[x], outputs=[y])
    tape.backward(grads={y: floats(1, 10, 100)})
    assert x.grad.tolist() == [2, 20, 200]
    tape.zero()
    tape.backward(grads={y: [1.0, 0.0, 0.0]})
    assert x.grad.tolist() == [2, 0, 0]


def test_updates_in_place_keep_what_is_needed():
    x, f = floats(1, 2, requires_grad=True), floats(3, 5, requires_grad=True)
    with kb.Tape() as tape:
        for _ in range(3):
            kb.launch(times, dim=2, inputs=[x, f])
    assert x.tolist() == [27, 250]
    assert len(tape.memory.copies) == 3
    assert tape.memory.bytes == 24
    assert "parameter x" in repr(tape.memory)
    tape.backward()
    assert f.grad.tolist() == [27, 150]  # 3 x f²
    assert x.grad.tolist() == [27, 125]
    tape.backward()
    assert f.grad.tolist() == [54, 300]


@pytest.mark.parametrize("write", [
    lambda x: x.fill_(7.0),
    lambda x: x.zero_(),
    lambda x: x.assign([5.0, 5.0]),
    lambda x: kb.copy(x, floats(5, 5)),
    lambda x: x.__setitem__(0, 9.0),
    lambda x: kb.launch(times, dim=2, inputs=[x, floats(2, 2)]),
    lambda x: kb.launch(without, dim=1, inputs=[x[1:]]),
], ids=["fill", "zero", "assign", "copy", "element", "launch", "launch without an adjoint"])  # fmt: skip
@pytest.mark.parametrize("where", ["inside", "no_grad", "after"])
def test_what_is_overwritten_is_copied_before(write, where):
    x, out = floats(3, 4), kb.zeros(1, device="sim")
    f = floats(1, 1, requires_grad=True)
    y = floats(1, 1)
    with kb.Tape() as tape:
        kb.launch(times, dim=2, inputs=[y, f])
        kb.launch(times, dim=2, inputs=[y, x])
        kb.launch(total, dim=2, inputs=[y], outputs=[out])
        if where == "inside":
            write(x)
        elif where == "no_grad":
            with kb.no_grad():
                write(x)
    if where == "after":
        write(x)
    tape.backward(loss=out)
    assert f.grad.tolist() == [18, 32]
    assert any("parameter f" in one.needed_by for one in tape.memory.copies)
    assert x.tolist() != [3, 4]


def test_what_is_overwritten_after_the_backward_pass_is_lost_and_said():
    x, f = floats(3, 4, requires_grad=True), floats(1, 1, requires_grad=True)
    with kb.Tape() as tape:
        kb.launch(times, dim=2, inputs=[x, f])
    tape.backward()
    f.fill_(3.0)
    with pytest.raises(LaunchError, match=r"times, parameter f needs what .* held, and a fill has overwritten it"):
        tape.backward()


def test_views_share_the_gradient():
    x = kb.zeros((2, 3), device="sim", requires_grad=True)
    row, flat, turned = x[1], x.reshape(6), x.transpose()
    y = kb.zeros(3, device="sim")
    with kb.Tape() as tape:
        kb.launch(double, dim=3, inputs=[row], outputs=[y])
    tape.backward()
    assert x.grad.tolist() == [[0, 0, 0], [2, 2, 2]]
    assert flat.grad.tolist() == [0, 0, 0, 2, 2, 2]
    assert turned.grad.tolist() == [[0, 2], [0, 2], [0, 2]]
    assert x.grad is x.grad
    assert x[0:1].requires_grad


def test_views_from_before_share_what_flows_through_them():
    x, whole = floats(1, 2, requires_grad=True), kb.zeros(4, device="sim")
    first, last, out = whole[:2], whole[2:], kb.zeros(1, device="sim")
    with kb.Tape() as tape:
        kb.launch(double, dim=2, inputs=[x], outputs=[first])
        kb.launch(double, dim=2, inputs=[first], outputs=[last])
        kb.launch(total, dim=4, inputs=[whole], outputs=[out])
    tape.backward(out)
    assert x.grad.tolist() == [2 * 1 * (4 + 16), 2 * 2 * (4 + 16)]


def test_structs_of_arrays():
    body = Body(mass=floats(1, 2, requires_grad=True), force=floats(3, 4), steps=2)
    y = kb.zeros(2, device="sim")
    with kb.Tape() as tape:
        kb.launch(push, dim=2, inputs=[body, y, 10.0])
        body.mass = None  # it was recorded as it was
    tape.backward()
    (mass,) = tape.gradients
    assert mass.grad.tolist() == [30, 40]


def test_copies_and_fills():
    x, y, z = floats(1, 2, requires_grad=True), kb.zeros(2, device="sim"), kb.zeros(2, device="sim")
    with kb.Tape() as tape:
        kb.copy(y, x)
        kb.launch(times, dim=2, inputs=[y, x])  # x²
        kb.copy(z[0:1], y[1:2])  # z = (x[1]², 0)
        w = kb.clone(z)
        w[1] = 3.0
        z.fill_(5.0)
    tape.backward(grads={w: floats(1, 100), z: floats(7, 7)})
    assert x.grad.tolist() == [0, 4]


def test_an_array_that_overlaps_itself_is_copied_right():
    x = floats(1, 2, 3, 4, requires_grad=True)
    with kb.Tape() as tape:
        kb.copy(x[1:3], x[2:4])
    tape.backward(grads={x: floats(1, 10, 100, 1000)})
    assert x.grad.tolist() == [1, 0, 10, 1100]


def test_what_is_read_again_gets_no_ones():
    x, y, z = floats(1, 2, requires_grad=True), kb.zeros(2, device="sim"), kb.zeros(2, device="sim")
    with kb.Tape() as tape:
        kb.launch(double, dim=2, inputs=[x], outputs=[y])
        kb.launch(double, dim=2, inputs=[y], outputs=[z])
    tape.backward()
    assert x.grad.tolist() == [4, 4]


def test_what_is_saved_is_counted_first():
    x, y = floats(2, 3, requires_grad=True), kb.zeros(2, device="sim")
    n = kb.array([3, 5], dtype=int, device="sim")
    with kb.Tape() as tape:
        kb.launch(power, dim=2, inputs=[x, n], outputs=[y])
    tape.backward()
    assert x.grad.tolist() == [3 * 4, 5 * 81]
    assert tape.memory.workspace == 5 * 4 * 128


def test_no_grad_records_nothing():
    x, y = floats(1, 2, requires_grad=True), kb.zeros(2, device="sim")
    with kb.Tape() as tape, kb.no_grad():
        kb.launch(double, dim=2, inputs=[x], outputs=[y])
    tape.backward()
    assert x.grad.tolist() == [0, 0]


def test_replay_does_it_again():
    x, f, y = floats(1, 2, requires_grad=True), floats(3, 4, requires_grad=True), kb.zeros(2, device="sim")
    with kb.Tape() as tape:
        kb.copy(y, x)
        kb.launch(times, dim=2, inputs=[y, f])
        kb.launch(times, dim=2, inputs=[y, f])
    tape.backward()
    assert (x.grad.tolist(), f.grad.tolist()) == ([9, 16], [6, 16])
    x.assign([10.0, 20.0])
    f.fill_(1.0)
    tape.zero()
    tape.replay()
    assert y.tolist() == [10, 20]
    tape.backward()
    assert (x.grad.tolist(), f.grad.tolist()) == ([1, 1], [20, 40])


def test_a_step_of_the_programs_own():
    x, y = floats(1, 2, requires_grad=True), floats(0, 0, requires_grad=True)
    with kb.Tape() as tape:
        y.numpy()[:] = x.numpy() ** 3

        def back():
            x.grad.numpy()[:] += 3 * x.numpy() ** 2 * y.grad.numpy()

        tape.record_func(back, [x, y])
    tape.backward(grads={y: floats(1, 1)})
    assert x.grad.tolist() == [3, 12]
    assert set(tape.gradients) == {x, y}


def test_bound_launches_are_recorded():
    x, y = floats(1, 2, requires_grad=True), kb.zeros(2, device="sim")
    step = kb.bind(double, dim=2, inputs=[x], outputs=[y])
    with kb.Tape() as tape:
        step()
    tape.backward()
    assert x.grad.tolist() == [2, 2]


def test_each_thread_records_its_own():
    x, y = floats(1, 2, requires_grad=True), kb.zeros(2, device="sim")
    with kb.Tape() as tape:
        other = threading.Thread(target=kb.launch, args=(double, 2, [x, y]))
        other.start()
        other.join()
    tape.backward()
    assert y.tolist() == [2, 4]
    assert x.grad.tolist() == [0, 0]


def test_a_tape_that_is_gone_looks_at_nothing():
    x, f = floats(1, 2, requires_grad=True), floats(1, 2, requires_grad=True)
    with kb.Tape() as tape:
        kb.launch(times, dim=2, inputs=[x, f])
    assert uses.tapes
    tape.reset()
    assert not uses.tapes
    with tape:
        kb.launch(times, dim=2, inputs=[x, f])
    assert uses.tapes
    del tape
    assert not uses.tapes


def test_an_exception_leaves_no_recording_behind():
    x, y = floats(1, 2, requires_grad=True), kb.zeros(2, device="sim")
    tape = kb.Tape()
    with pytest.raises(ZeroDivisionError), tape:  # noqa: PT012
        kb.launch(double, dim=2, inputs=[x], outputs=[y])
        raise ZeroDivisionError
    assert not uses.tapes
    assert repr(tape) == "<kb.Tape of 0 steps>"
    with tape:
        kb.launch(double, dim=2, inputs=[x], outputs=[y])
    tape.backward()
    assert x.grad.tolist() == [2, 2]


REFUSED = {
    "a tape inside a tape": "tapes do not nest",
    "backward inside": "tape.backward: a tape is recording in this thread",
    "a loss of several": "loss wants an array of one floating-point number",
    "a loss that depends on nothing": "depends on nothing here that requires a gradient",
    "no adjoint": "without was built without its gradient",
    "shared memory": "parameters x and f share memory, and x is written",
    "record_func outside": "the tape is not recording",
    "record_func without a gradient": "arrays wants arrays that require a gradient",
    "a half that requires none": "reaches beyond an array that requires a gradient",
    "gradients of nothing": "grads wants arrays of floating-point numbers",
    "gradients in a list": "grads wants {array: gradient}",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_said(what):
    x, y = floats(1, 2, requires_grad=True), kb.zeros(2, device="sim")
    tape = kb.Tape()

    def refused():
        with tape:
            kb.launch(double, dim=2, inputs=[x], outputs=[y])
            if what == "a tape inside a tape":
                with kb.Tape():
                    pass
            elif what == "backward inside":
                tape.backward()
            elif what == "no adjoint":
                kb.launch(without, dim=2, inputs=[x])
            elif what == "shared memory":
                kb.launch(times, dim=1, inputs=[x[:1], x])
            elif what == "record_func without a gradient":
                tape.record_func(print, [y])
            elif what == "a half that requires none":
                both = kb.zeros(4, device="sim")
                half = both[:2]
                half.requires_grad = True
                kb.launch(double, dim=2, inputs=[half], outputs=[y])
                kb.launch(double, dim=2, inputs=[both], outputs=[y])
        if what == "a loss of several":
            tape.backward(y)
        elif what == "a loss that depends on nothing":
            tape.backward(kb.zeros(1, device="sim"))
        elif what == "record_func outside":
            tape.record_func(print, [x])
        elif what == "gradients of nothing":
            tape.backward(grads={kb.zeros(1, dtype=int, device="sim"): [1]})
        elif what == "gradients in a list":
            tape.backward(grads=[y])

    with pytest.raises(LaunchError) as error:
        refused()
    assert REFUSED[what] in str(error.value)
    assert "help:" in str(error.value) or what.startswith("gradients")


def test_a_kernel_without_an_adjoint_is_no_matter_where_nothing_requires_a_gradient():
    x = floats(1, 2)
    with kb.Tape() as tape:
        kb.launch(without, dim=2, inputs=[x])
    tape.backward()
    assert x.tolist() == [2, 3]


def test_columns_of_one_array_are_no_overlap():
    both = kb.ones((3, 2), device="sim", requires_grad=True)
    with kb.Tape() as tape:
        kb.launch(times, dim=3, inputs=[both[:, 0], both[:, 1]])
    tape.backward()
    assert both.grad.tolist() == [[1, 1]] * 3


def test_the_adjoint_alone():
    x, f = floats(2, 3, requires_grad=True), floats(4, 5)
    adj_f = floats(0, 0)
    x.grad.assign([1.0, 10.0])
    kb.launch(times, dim=2, inputs=[x, f], adjoint=True, adj_inputs=[None, adj_f])
    assert x.grad.tolist() == [4, 50]
    assert adj_f.tolist() == [2, 30]
    y, adj_x, adj_y = kb.zeros(2, device="sim"), floats(0, 0), floats(1, 1)
    kb.launch(double, dim=2, inputs=[f], outputs=[y], adjoint=True, adj_inputs=[adj_x], adj_outputs=[adj_y])
    assert (adj_x.tolist(), adj_y.tolist()) == ([2, 2], [0, 0])
    n = kb.array([2, 3], dtype=int, device="sim")
    y.grad = floats(1, 1)
    kb.launch(power, dim=2, inputs=[x, n], outputs=[y], adjoint=True)
    assert x.grad.tolist() == [4 + 2 * 2, 50 + 3 * 9]
    body = Body(mass=floats(1, 2, requires_grad=True), force=floats(3, 4))
    kb.launch(push, dim=2, inputs=[body, y, 10.0], adjoint=True, adj_inputs=[None, adj_y])
    assert body.mass.grad.tolist() == [0, 0]
    adj_y.fill_(1.0)
    kb.launch(push, dim=2, inputs=[body, y, 10.0], adjoint=True, adj_inputs=[None, adj_y])
    assert body.mass.grad.tolist() == [30, 40]


@pytest.mark.parametrize(("asked", "text"), [
    ({"adj_inputs": [None, None, None]}, "adj_inputs wants a list of arrays, or None, in the place of 2 arguments"),
    ({"adj_outputs": "no"}, "adj_outputs wants a list"),
    ({"adj_inputs": [[1.0]]}, "adj_x: wanted array1"),
    ({"record_cmd": True}, "record_cmd and adjoint do not go together"),
    ({"kernel": without}, "without was built without its gradient"),
], ids=str)  # fmt: skip
def test_an_adjoint_that_cannot_be_launched(asked, text):
    x, y = floats(1, 2), kb.zeros(2, device="sim")
    asked = {"kernel": double, "inputs": [x, y], **asked}
    with pytest.raises(LaunchError) as error:
        kb.launch(dim=2, adjoint=True, **asked)
    assert text in str(error.value)


def test_one_gradient_for_two_parameters():
    x, adj = floats(1, 2), floats(0, 0)
    x.grad = floats(1, 1)
    kb.launch(times, dim=2, inputs=[x, floats(3, 5)], adjoint=True, adj_inputs=[None, adj])
    assert (x.grad.tolist(), adj.tolist()) == ([3, 5], [1, 2])


def test_an_adjoint_is_not_recorded():
    x = floats(1, 2, requires_grad=True)
    with kb.Tape(), pytest.raises(LaunchError, match="cannot record an adjoint"):
        kb.launch(times, dim=2, inputs=[x, floats(1, 1)], adjoint=True)


def test_functions_over_whole_arrays():
    x, out = kb.ones((2, 3), device="sim", requires_grad=True), kb.zeros(1, device="sim")
    with kb.Tape() as tape:
        kb.array_sum(x, out)
    tape.backward(grads={out: [5.0]})
    assert x.grad.tolist() == [[5, 5, 5]] * 2
    tape.reset()
    with tape:
        rows = kb.array_sum(x, axis=1)
    tape.backward(grads={rows: [[1.0], [10.0]]})
    assert x.grad.tolist() == [[1] * 3, [10] * 3]
    x.fill_(2.0)
    tape.replay()
    assert rows.tolist() == [[6], [6]]
    y = floats(1, 2, 3, requires_grad=True)
    for inclusive, expected in ((True, [111, 110, 100]), (False, [110, 100, 0])):
        sums = kb.zeros(3, device="sim")
        with kb.Tape() as tape:
            kb.array_scan(y, sums, inclusive)
        tape.backward(grads={sums: [1.0, 10.0, 100.0]})
        assert y.grad.tolist() == expected
        y.grad.zero_()
    wide = kb.zeros(3, dtype=kb.float64, device="sim")
    with kb.Tape() as tape:
        kb.array_cast(y, wide)
    tape.backward()
    assert y.grad.tolist() == [1, 1, 1]


OPAQUE = {
    "kb.array_inner": lambda x, y: kb.array_inner(x, x, y[:1]),
    "kb.radix_sort_pairs": lambda x, y: kb.radix_sort_pairs(kb.array([2, 1, 0, 0], dtype=int, device="sim"), x, 2),
    "kb.array_sum": lambda x, y: kb.array_sum(x, y[:1], value_count=2),
    "kb.array_cast": lambda x, y: kb.array_cast(x, y, 2),
    "indexedarray.contiguous": lambda x, y: kb.copy(
        y[:2], kb.indexedarray(x, kb.array([0, 1], dtype=int, device="sim")).contiguous()
    ),
    "a copy into an indexedarray": lambda x, y: kb.indexedarray(
        y, kb.array([0, 1], dtype=int, device="sim")
    ).assign(x[:2]),
}  # fmt: skip


@pytest.mark.parametrize("name", OPAQUE)
def test_what_has_no_derivative_says_so_when_a_gradient_reaches_it(name):
    x, y, unused = floats(1, 2, 3, 4, requires_grad=True), kb.zeros(4, device="sim"), kb.zeros(4, device="sim")
    with kb.Tape() as tape:
        OPAQUE[name](x, unused)
        kb.launch(double, dim=4, inputs=[x], outputs=[y])
    if name != "kb.radix_sort_pairs":  # which sorts in place
        tape.backward(grads={y: [1.0, 1.0, 1.0, 1.0]})
        assert x.grad.tolist() == [2, 2, 2, 2]
    with kb.Tape() as tape:
        OPAQUE[name](x, y)
    with pytest.raises(LaunchError, match="%s has no derivative here, and a gradient reaches" % name):
        tape.backward()


def test_whole_numbers_are_copied_in_time_too():
    n, runs, lengths = (kb.array([2, 2, 3], dtype=int, device="sim") for _ in range(3))
    x, y = floats(2, 2, 3, requires_grad=True), kb.zeros(3, device="sim")
    with kb.Tape() as tape:
        kb.launch(power, dim=3, inputs=[x, n], outputs=[y])
        assert kb.runlength_encode(runs, n, lengths) == 2
    tape.backward()
    assert x.grad.tolist() == [4, 4, 27]


def test_one_number_in_the_place_of_several():
    x, y = kb.ones(1, device="sim"), kb.zeros(3, device="sim")
    same = kb.array(ptr=x.ptr, shape=3, strides=(0,), dtype=float, device="sim", owner=x)
    same.requires_grad = True
    with kb.Tape() as tape:
        kb.copy(y, same)
    with pytest.raises(LaunchError, match="one number for several of its elements"):
        tape.backward()


def test_a_gradient_that_is_retained():
    x, y, z = floats(1, 2, requires_grad=True), floats(0, 0, requires_grad=True), kb.zeros(2, device="sim")
    y.retain_grad = True
    with kb.Tape() as tape:
        kb.launch(double, dim=2, inputs=[x], outputs=[y])
        kb.launch(double, dim=2, inputs=[y], outputs=[z])
    tape.backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([4, 4], [2, 2])
    y.retain_grad = False
    tape.zero()
    tape.backward()
    assert y.grad.tolist() == [0, 0]


def test_a_gradient_that_comes_late():
    x, y = floats(1, 2, requires_grad=True), kb.zeros(2, device="sim")
    with kb.Tape() as tape:
        kb.launch(double, dim=2, inputs=[x], outputs=[y])
    y.requires_grad = True
    tape.backward(grads={y: floats(1, 3)})
    assert x.grad.tolist() == [2, 6]
    z = kb.zeros(2, device="sim")
    with kb.Tape() as tape:
        kb.launch(double, dim=2, inputs=[x], outputs=[z])
    z.grad = floats(0, 0)
    tape.zero()
    tape.backward(grads={z: [1.0, 4.0]})
    assert x.grad.tolist() == [2, 8]
    assert z.grad.tolist() == [0, 0]
    x.grad = floats(1, 1)
    tape.backward(grads={z: [1.0, 1.0]})
    assert x.grad.tolist() == [3, 3]
    whole = kb.zeros(4, device="sim")
    part = whole[:2]
    with kb.Tape() as tape:
        kb.launch(double, dim=2, inputs=[x], outputs=[part])
    part.grad = floats(1, 1)
    with pytest.raises(LaunchError, match=r"was given a gradient after a tape had recorded .* and is a part"):
        tape.backward()


def test_a_bundles_kernel_on_the_simulator_has_the_adjoint_of_its_source():
    class OfBundle:
        name, source, backward = "module:double", double, "that of the machine code"
        parameters = (("x", None), ("y", None))

    x, y = floats(1, requires_grad=True), kb.zeros(1, device="sim")
    asked = [Asked(None, kind, OfBundle(), 1, (x, y), None, None, None, 0) for kind in ("sim", "cuda")]
    assert asked[0].backward().name == double.name
    assert asked[1].backward() == "that of the machine code"
