"""Two GPUs of one machine: arrays, copies, streams and events across them, each with its own memory."""

import random
import threading

import pytest
from gpukernels import launching, shapes

import kbuild as kb

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(len(kb.get_devices()) < 2, reason="this machine has one GPU"),
]
ROUNDS = 20000000


def test_each_launch_goes_where_its_arrays_are():
    for _ in range(4):  # thorough and quick
        for ordinal in (0, 1):
            data = kb.full(100, 1.0, device=ordinal)
            kb.launch(launching.add, dim=100, inputs=[data, float(ordinal), data])
            assert data.device.ordinal == ordinal
            assert data.tolist() == [1.0 + ordinal] * 100
    with kb.ScopedDevice("cuda:1"):
        assert kb.zeros(1).device.ordinal == 1
    one, other = kb.zeros(4, device=0), kb.zeros(4, device=1)
    with pytest.raises(kb.LaunchError, match=r"is on cuda:1, but .* is on cuda:0"):
        kb.launch(launching.add, dim=4, inputs=[one, 1.0, other])


@pytest.mark.parametrize("seed", range(10))
def test_copies_with_and_without_gaps(seed):
    rng = random.Random(seed)
    shape = (rng.randint(1, 300), rng.randint(1, 300))
    source = kb.array([[float(rng.randrange(1000)) for _ in range(shape[1])] for _ in range(shape[0])], device=seed % 2)
    target = kb.zeros(shape, device=1 - seed % 2)
    kb.copy(target, source)
    assert target.tolist() == source.tolist()
    kb.copy(target[::-1, ::2], source[:, ::2])
    assert target[::-1, ::2].tolist() == source[:, ::2].tolist()
    assert kb.clone(source.transpose(), device=1 - seed % 2).tolist() == source.transpose().tolist()


def test_a_copy_waits_for_what_was_launched_and_lets_what_follows_wait():
    slow = kb.zeros(1, dtype=kb.int64, device=0)
    source, target = kb.zeros(1 << 20, device=0), kb.zeros(1 << 20, device=1)
    for round_ in range(1, 6):
        kb.launch(launching.spin, dim=1, inputs=[slow, ROUNDS])
        kb.launch(launching.fill, dim=1 << 20, inputs=[source, float(round_)])
        kb.copy(target, source)
        kb.launch(launching.fill, dim=1 << 20, inputs=[source, -1.0])  # not before it was copied
        kb.launch(launching.add, dim=1 << 20, inputs=[target, 0.5, target])
        assert target[0] == target[(1 << 20) - 1] == round_ + 0.5
        assert source[77] == -1.0


def test_events_across_gpus():
    first, second = kb.Stream("cuda:0"), kb.Stream("cuda:1")
    slow = kb.zeros(1, dtype=kb.int64, device=0)
    shared = kb.zeros(10, device="cpu", memory="pinned")
    data, other = kb.full(10, 3.0, device=0), kb.zeros(10, device=1)
    kb.synchronize(0)
    kb.launch(launching.spin, dim=1, inputs=[slow, ROUNDS], stream=first)
    kb.copy(shared, data, stream=first)
    second.wait_event(first.record_event())
    kb.copy(other, shared, stream=second)
    second.synchronize()
    assert other.tolist() == [3.0] * 10


def test_a_bare_streams_gpu_is_found():
    stream = kb.Stream("cuda:1")
    with kb.ScopedStream(stream.handle) as found:
        assert found.device.ordinal == 1
        assert kb.zeros(3).device.ordinal == 1


def test_threads_on_both():
    failures = []

    def work(ordinal):
        try:
            with kb.ScopedDevice(ordinal):
                for i in range(100):
                    data = kb.full((50, 20), float(i))
                    out = kb.zeros((50, 20))
                    kb.launch(shapes.copy2, dim=(50, 20), inputs=[data, out])
                    if out.device.ordinal != ordinal or out.numpy().min() != i + 1.0:
                        failures.append((ordinal, i))
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(i % 2,)) for i in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []


def test_reports_are_each_its_own():
    before = kb.memory_report(1).in_use
    held = kb.zeros(1 << 20, device=1)
    assert kb.memory_report(1).in_use == before + (4 << 20)
    assert held.device.ordinal == 1
