"""Tasks of one process take turns: one computes, others may be at their files."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from slopewash.tiles.turns import aside, computing_seconds, in_turn


def test_only_one_task_computes_while_others_are_aside() -> None:
    inside, most = [0], [0]
    met, together = threading.Barrier(3, timeout=60), threading.Barrier(2)
    counting = threading.Lock()

    def task() -> None:
        with aside():
            met.wait()  # ends only if all three are here at the same time
        with counting:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        with suppress(threading.BrokenBarrierError):
            together.wait(0.2)  # would end at once if another computed too
            most[0] = 3
        with counting:
            inside[0] -= 1

    threads = [threading.Thread(target=in_turn, args=(task,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most == [1]
    assert not any(thread.is_alive() for thread in threads)


def test_a_task_that_fails_at_its_files_leaves_its_turn_to_others() -> None:
    def fail() -> None:
        with aside():
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        in_turn(fail)
    assert in_turn(max, 1, 2) == 2


def test_time_that_a_task_spends_aside_is_not_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = {"process": 100.0, "thread": 5.0}
    monkeypatch.setattr("slopewash.tiles.turns.time.process_time", lambda: clock["process"])
    monkeypatch.setattr("slopewash.tiles.turns.time.thread_time", lambda: clock["thread"])

    def task() -> tuple[float, float]:
        begin = computing_seconds()
        with aside() as spent:
            clock["process"] += 7.0  # of which another task, which computes, has 4
            clock["thread"] += 3.0
        return computing_seconds() - begin, spent.seconds

    assert in_turn(task) == (4.0, 3.0)
