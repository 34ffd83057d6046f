"""How much memory is left, as the system's own files say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from slopewash import memory
from slopewash.memory import available_memory

GIB = 2**30


def group(folder: Path, limit: str | int, used: int, cached: int, *, version: int = 2) -> None:
    """Write what Linux says of a control group."""
    names = {2: ("memory.max", "memory.current", ""), 1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")}
    of_limit, of_use, prefix = names[version]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / of_limit).write_text(f"{limit}\n")
    (folder / of_use).write_text(f"{used}\n")
    used_again = cached // 3
    kinds = {"anon": used - cached, f"{prefix}inactive_file": cached - used_again, f"{prefix}active_file": used_again}
    (folder / "memory.stat").write_text("".join(f"{name} {amount}\n" for name, amount in kinds.items()))


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of `/sys/fs/cgroup`; `own` names the groups of this process."""
    groups = {name: (str(tmp_path / name), *files) for name, (_, *files) in memory._GROUPS.items()}
    monkeypatch.setattr(memory, "_GROUPS", groups)
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(memory, "_of_machine", lambda: 64 * GIB)
    monkeypatch.setattr(memory, "_of_process", lambda: None)
    return tmp_path


def test_files_that_a_container_has_cached_count_as_available(system: Path) -> None:
    (system / "own").write_text("0::/\n")
    group(system, 8 * GIB, used=7 * GIB, cached=6 * GIB)
    assert available_memory() == 7 * GIB


def test_the_tightest_group_above_a_process_counts(system: Path) -> None:
    (system / "own").write_text("0::/user.slice/shell.scope\n")
    group(system / "user.slice", 4 * GIB, used=GIB, cached=0)
    group(system / "user.slice" / "shell.scope", "max", used=GIB, cached=0)
    assert available_memory() == 3 * GIB


def test_version_1_of_control_groups_is_read_too(system: Path) -> None:
    (system / "own").write_text("9:name=systemd:/\n4:memory:/docker/abc\n0::/\n")
    group(system / "memory", 2 * GIB, used=GIB, cached=GIB // 2, version=1)  # the container's own, seen from within
    assert available_memory() == 3 * GIB // 2


def test_without_limits_the_machine_counts(system: Path) -> None:
    (system / "own").write_text("4:memory:/\n0::/\n")
    group(system / "memory", 9223372036854771712, used=GIB, cached=0, version=1)
    assert available_memory() == 64 * GIB
    (system / "own").unlink()
    assert available_memory() == 64 * GIB
