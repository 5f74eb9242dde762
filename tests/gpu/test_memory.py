"""Where memory comes from and when it goes back: the pool, pinned, mapped and managed memory, the report."""

import gc
import threading

import pytest
from gpukernels import launching

import kbuild as kb
from kbuild.loader.memory import allocation, pools

pytestmark = pytest.mark.gpu


def test_freed_memory_is_used_again():
    first = kb.empty(1 << 20)
    address = first.ptr
    del first
    kb.synchronize()
    again = kb.empty(1 << 20)
    assert again.ptr == address


def test_the_report_names_who_holds_memory():
    gc.collect()
    before = kb.memory_report()
    held = [kb.empty(1 << 20) for _ in range(3)]
    report = kb.memory_report()
    assert report.in_use - before.in_use == 3 * 4 << 20
    assert report.peak >= report.in_use
    assert report.free < report.total
    assert any(file == __file__ and size >= 3 * 4 << 20 for size, _, file, _ in report.holders)
    assert "test_memory.py" in str(report)
    del held
    assert kb.memory_report().in_use == before.in_use


def test_the_pool_keeps_and_gives_back():
    gc.collect()
    big = kb.empty(64 << 20, dtype=kb.int8)
    del big
    kb.synchronize()
    assert kb.memory_report().pooled >= 64 << 20
    kb.trim_memory()
    assert kb.memory_report().pooled < 64 << 20
    kb.set_pool_limit(0)
    big = kb.empty(64 << 20, dtype=kb.int8)
    del big
    kb.synchronize()
    assert kb.memory_report().pooled < 64 << 20
    kb.set_pool_limit(None)


def test_more_than_there_is():
    held = kb.empty(1 << 20)
    with pytest.raises(kb.DriverError) as caught:
        kb.empty(1 << 30, dtype=kb.types.matrix((16, 16), float))
    for word in ("cuda:0", "1099511627776 bytes", "MiB are free", "kbuild's arrays hold", "test_memory.py", "help:"):
        assert word in str(caught.value), caught.value
    assert held.tolist is not None
    small = kb.full(10, 2.0)
    assert small.tolist() == [2.0] * 10


def test_memory_that_a_stream_still_uses_goes_to_nobody_else():
    """An array is dropped while a launch on a stream of its own reads it; what comes next must not overwrite it."""
    stream, slow = kb.Stream(), kb.zeros(1, dtype=kb.int64)
    out = kb.zeros(1 << 16)
    kb.synchronize()
    for _ in range(20):
        source = kb.full(1 << 16, 5.0)
        kb.launch(launching.spin, dim=1, inputs=[slow, 5000000], stream=stream)
        kb.launch(launching.add, dim=1 << 16, inputs=[source, 1.0, out], stream=stream)
        del source
        others = [kb.full(1 << 16, -1.0) for _ in range(4)]  # on the default stream, at once
        stream.synchronize()
        assert out.numpy().min() == out.numpy().max() == 6.0
        del others
    assert allocation.waiting(out.device) <= 2 * 4 << 16
    kb.synchronize()
    allocation.reclaim(out.device)
    assert allocation.waiting(out.device) == 0


def test_mapped_memory_is_the_same_bytes():
    shared = kb.zeros(1000, memory="mapped")
    shared.host[3] = 4.0
    kb.launch(launching.add, dim=1000, inputs=[shared, 1.0, shared])
    kb.synchronize()
    assert shared.host.tolist()[:5] == [1.0, 1.0, 1.0, 5.0, 1.0]
    assert shared.tolist()[3] == 5.0
    view = shared.host[2:4]
    del shared
    assert view.tolist() == [1.0, 5.0]


def test_managed_memory_moves():
    shared = kb.zeros(1000, memory="managed")
    shared.host[3] = 4.0
    kb.launch(launching.add, dim=1000, inputs=[shared, 1.0, shared])
    kb.synchronize()
    assert shared.host.tolist()[2:5] == [1.0, 5.0, 1.0]


def test_pinned_memory_and_copies_that_do_not_wait():
    stream = kb.Stream()
    here, there = kb.zeros(1 << 20, device="cpu", memory="pinned"), kb.zeros(1 << 20)
    assert here.pinned
    here.fill_(3.0)
    slow = kb.zeros(1, dtype=kb.int64)
    kb.synchronize()
    kb.launch(launching.spin, dim=1, inputs=[slow, 50000000], stream=stream)
    kb.copy(there, here, stream=stream)
    kb.launch(launching.add, dim=1 << 20, inputs=[there, 1.0, there], stream=stream)
    kb.copy(here, there, stream=stream)
    assert not stream.is_complete  # all that has returned before the work was done
    assert here[0] == 3.0
    stream.synchronize()
    assert here.numpy().min() == here.numpy().max() == 4.0


def test_pinned_memory_lives_until_its_copies_are_done():
    stream, slow = kb.Stream(), kb.zeros(1, dtype=kb.int64)
    targets = []
    kb.synchronize()
    for i in range(20):
        here = kb.full(1 << 16, float(i), device="cpu", memory="pinned")
        there = kb.zeros(1 << 16)
        kb.synchronize()
        kb.launch(launching.spin, dim=1, inputs=[slow, 2000000], stream=stream)
        kb.copy(there, here, stream=stream)
        del here
        kb.full(1 << 16, -1.0, device="cpu", memory="pinned")
        targets.append(there)
    stream.synchronize()
    assert [t.numpy().max() for t in targets] == [t.numpy().min() for t in targets] == list(range(20))


def test_threads_allocate_and_free_on_streams_of_their_own():
    failures = []

    def work(number):
        try:
            stream = kb.Stream()
            with kb.ScopedStream(stream):
                for round_ in range(50):
                    data = kb.full(1000 + 17 * round_, float(number))
                    out = kb.empty(data.size)
                    kb.launch(launching.add, dim=data.size, inputs=[data, float(round_), out])
                    del data
                    found = out.numpy()
                    if found.min() != number + round_ or found.max() != number + round_:
                        failures.append((number, round_))
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []


def test_the_pool_is_kbuilds_own():
    pool = pools.of(kb.get_device("cuda:0"))
    held = kb.empty(1 << 20)
    assert pool.used >= 4 << 20
    assert pool.reserved >= pool.used
    del held
