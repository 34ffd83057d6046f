"""Adapters, layouts, sources and troubles, apart from any model."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import slopewash as sw
from slopewash.backends import choose_backend
from slopewash.backends.gpu import adapters as known
from slopewash.backends.gpu import wgsl
from slopewash.backends.gpu.adapters import Adapter
from slopewash.backends.gpu.layout import GROUP, Layout, largest_square, lay_out

MIB = 1 << 20


def an_adapter(name: str, kind: str) -> Adapter:
    return Adapter(name=name, kind=kind, driver="a driver", interface="Vulkan", limits={}, handle=None)


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the machine have other adapters."""

    def have(*found: Adapter) -> None:
        monkeypatch.setattr(known, "adapters", lambda: found)
        monkeypatch.setattr(known, "may_have_card", lambda: True)
        monkeypatch.setattr(known, "installed", lambda: True)
        monkeypatch.setattr(known, "_wanted", None)

    return have


OFFERED = ("gpu", "cpu", "reference")


def test_auto_takes_a_real_card_and_never_a_software_adapter(pretend: Any) -> None:
    pretend(an_adapter("Radeon", "DiscreteGPU"), an_adapter("llvmpipe", "CPU"))
    assert choose_backend("auto", OFFERED) == "gpu"
    pretend(an_adapter("llvmpipe", "CPU"))
    assert choose_backend("auto", OFFERED) == "cpu"
    assert choose_backend("gpu", OFFERED) == "gpu"
    pretend()
    assert choose_backend("auto", OFFERED) == "cpu"


def test_auto_does_not_ask_the_driver_where_no_card_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "adapters", lambda: pytest.fail("the driver was asked"))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(known, "CARDS", ("no such card",))
    assert choose_backend("auto", OFFERED) == "cpu"
    monkeypatch.setattr(known, "CARDS", ("null",))  # a device file that every machine has
    assert known.may_have_card()


def test_a_missing_adapter_or_extra_is_reported_with_its_remedy(pretend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend()
    with pytest.raises(sw.BackendUnavailable, match=r"no graphics adapter was found; .*mesa-vulkan-drivers"):
        choose_backend("gpu", OFFERED)
    monkeypatch.setattr(known, "installed", lambda: False)
    with pytest.raises(sw.BackendUnavailable, match=r'pip install "slopewash\[gpu\]"'):
        choose_backend("gpu", OFFERED)


def test_an_adapter_is_chosen_by_part_of_its_name(pretend: Any) -> None:
    pretend(an_adapter("Radeon RX", "DiscreteGPU"), an_adapter("Intel Arc", "IntegratedGPU"))
    assert known.chosen_adapter().name == "Radeon RX"
    sw.use_adapter("arc")
    assert known.chosen_adapter().name == "Intel Arc"
    with pytest.raises(sw.BackendUnavailable, match="no adapter's name contains 'geforce'; there are Radeon RX"):
        sw.use_adapter("geforce")


def layout(rows: int, columns: int, *, periodic: bool = False, binding: int = 128 * MIB, **limits: Any) -> Layout:
    given: dict[str, Any] = {"widest": 16, "largest_buffer": 256 * MIB, "adapter": "a card"} | limits
    return lay_out(rows, columns, periodic=periodic, largest_binding=binding, **given)


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(7, 5), (1, 200), (64, 64), (61, 130)])
@pytest.mark.parametrize("bound_rows", [3, 4, 10, 1000])
def test_bands_cover_every_row_once_and_see_one_more_on_either_side(
    rows: int, columns: int, periodic: bool, bound_rows: int
) -> None:
    stride = -(-columns // GROUP) * GROUP
    found = layout(rows, columns, periodic=periodic, binding=bound_rows * stride * 16)
    assert [y for band in found.bands for y in range(band.first, band.last)] == list(range(rows))
    for band in found.bands:
        offset, size = found.part(band, 16)
        assert size <= bound_rows * stride * 16
        assert offset % 256 == found.part(band, 4)[0] % 256 == 0
        assert offset + size <= found.cells * 16
        wanted = range(band.first - 1, band.last + 1)
        if len(found.bands) > 1:
            assert {y for y in wanted if found.ghosts or 0 <= y < rows} <= set(range(band.origin, band.end))
    assert found.ghosts == (periodic and len(found.bands) > 1)


def test_default_limits_hold_2048_in_one_band_and_4096_in_several() -> None:
    assert len(layout(2048, 2048).bands) == 1
    assert len(layout(4096, 4096).bands) == 3


@pytest.mark.parametrize("size", [4100, 9000])
def test_a_size_over_the_limits_names_the_limit_and_what_fits(size: int) -> None:
    with pytest.raises(sw.BackendUnavailable) as caught:
        layout(size, size)
    assert "a card allows 256 MiB per buffer: take at most 4096 x 4096 cells, or backend cpu" in str(caught.value)
    assert len(layout(largest_square(16, 256 * MIB), 4096).bands) > 1


def test_a_grid_that_must_be_bound_whole_is_held_to_the_binding() -> None:
    assert len(layout(2048, 2048, whole=True).bands) == 1
    with pytest.raises(sw.BackendUnavailable, match="allows 128 MiB per binding: take at most 2880 x 2880 cells"):
        layout(3000, 3000, whole=True)


class Numbers(NamedTuple):
    """A block of every kind of value."""

    a: float
    wet: bool
    n: int
    b: float


def test_a_uniform_block_is_laid_out_as_declared() -> None:
    block = wgsl.Block("numbers", Numbers)
    packed = block.pack(Numbers(1.5, True, -7, 2.25))
    assert packed[:4].view(np.float32)[0] == 1.5
    assert packed[4:8].view(np.int32)[0] == -7
    assert packed[8:12].view(np.float32)[0] == 2.25
    assert len(packed) == block.size == 16


def test_snippets_are_included_once(tmp_path: Path) -> None:
    (tmp_path / "one.wgsl").write_text('#include "grid.wgsl"\nfn one() {}\n', encoding="utf-8")
    (tmp_path / "main.wgsl").write_text('#include "one.wgsl"\n#include "grid.wgsl"\nfn main() {}\n', encoding="utf-8")
    source = wgsl.read_kernel(tmp_path / "main.wgsl")
    assert source.count("fn place(") == 1
    assert source.index("fn place(") < source.index("fn one(") < source.index("fn main(")


@pytest.mark.gpu
def test_a_lost_device_is_reported_and_the_next_run_opens_it_again() -> None:
    from slopewash.backends.gpu.device import open_device

    simulation = sw.Simulation(sw.generate("dome", size=16), sw.SteepestTalus(), backend="gpu")
    simulation.run(1)
    open_device().handle.destroy()
    with pytest.raises(sw.BackendUnavailable, match=r"was lost .*; start the run again"):
        simulation.run(1)
    again = sw.Simulation(sw.generate("dome", size=16), sw.SteepestTalus(), backend="gpu")
    again.run(1)


@pytest.mark.gpu
def test_too_large_a_buffer_is_one_sentence() -> None:
    from slopewash.backends.gpu.device import open_device

    device = open_device()
    with pytest.raises(sw.BackendUnavailable) as caught:
        device.buffer("cells", device.largest_buffer + 4)
    assert device.adapter.name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.gpu
def test_fixed_point_adds_up_negative_and_tiny_amounts_exactly() -> None:
    from slopewash.backends.gpu.device import open_device
    from slopewash.backends.gpu.sums import Sums

    device = open_device()
    source = "\n".join(
        [
            "@group(0) @binding(0) var<storage, read> amounts: array<f32>;",
            "@group(0) @binding(1) var<storage, read_write> sums: array<vec2<u32>>;",
            wgsl.read_kernel(wgsl.SNIPPETS / "fixed_point.wgsl"),
            "@compute @workgroup_size(1) fn main() {",
            "  for (var k = 0u; k < arrayLength(&amounts); k++) { sums[0] = add_fixed(sums[0], fixed(amounts[k])); }",
            "}",
        ]
    )
    amounts = np.array([3.5, -3.25, 2.0**-32, -(2.0**-31), 1e6, -1e6, 0.1, -0.1, -7.0], np.float32)
    given = device.buffer("amounts", amounts.nbytes)
    device.handle.queue.write_buffer(given, 0, amounts)
    sums = Sums(device, layout(1, 1), ("SUM",))
    pipeline, bound = device.pipeline(source, ["read", "update"])
    encoder = device.handle.create_command_encoder()
    adding = encoder.begin_compute_pass()
    adding.set_pipeline(pipeline)
    adding.set_bind_group(0, device.bind(bound, [(given, 0, amounts.nbytes), (sums.buffer, 0, 8)]))
    adding.dispatch_workgroups(1)
    adding.end()
    device.handle.queue.submit([encoder.finish()])
    assert sums.units()["SUM"] / 2**32 == 3.5 - 3.25 - 2.0**-32 - 7.0


def resident() -> int:
    """Bytes of memory this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.gpu
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts file handles the Linux way")
def test_a_hundred_runs_leak_neither_memory_nor_file_handles() -> None:
    start = sw.generate("dome", size=128)

    def run() -> None:
        with sw.Simulation(start, sw.preset("single_grid"), backend="gpu") as simulation:
            simulation.run(1)

    for _ in range(5):
        run()
    gc.collect()
    memory, handles = resident(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(100):
        run()
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) <= handles
    assert resident() - memory < 50 * MIB
