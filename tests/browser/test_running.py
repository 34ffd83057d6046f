"""Play, pause, step, models, presets, seeds, files: the run as the page steers it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import slopewash as sw

pytestmark = pytest.mark.slow


def test_playing_goes_on_and_pausing_holds_the_step(studio: Any) -> None:
    studio.click("play")
    studio.wait("studio.store.state.playing && studio.store.state.step >= 5")
    studio.click("play")
    studio.wait("!studio.store.state.playing")
    held = studio.state()["step"]
    studio.page.wait_for_timeout(500)
    assert studio.state()["step"] == held
    assert studio.step() == held


def test_one_step_advances_by_exactly_one(studio: Any) -> None:
    for expected in (1, 2, 3):
        studio.click("step-one")
        studio.wait("n => studio.store.state.step === n && !studio.store.state.playing", expected)
    assert studio.state()["step"] == 3


def test_many_steps_and_running_to_a_step_stop_where_asked(studio: Any) -> None:
    studio.page.fill("input[aria-label='Number of steps']", "12")
    studio.click("step-many")
    studio.wait("studio.store.state.step === 12 && !studio.store.state.playing")
    studio.page.fill("input[aria-label='Target step']", "20")
    studio.click("run-to")
    studio.wait("studio.store.state.step === 20 && !studio.store.state.playing")
    assert studio.state()["step"] == 20


def test_keys_play_pause_and_step(studio: Any) -> None:
    studio.page.focus("#picture")
    studio.page.keyboard.press(".")
    studio.wait("studio.store.state.step === 1 && !studio.store.state.playing")
    studio.page.keyboard.press("Space")
    studio.wait("studio.store.state.step > 3")
    studio.page.keyboard.press("Space")
    studio.wait("!studio.store.state.playing")


def test_reset_goes_back_to_the_very_terrain_it_started_from(studio: Any) -> None:
    start = studio.layer("elevation")
    studio.ask(type="step", count=10)
    studio.wait("studio.store.state.step === 10")
    assert not np.array_equal(studio.layer("elevation"), start)
    studio.click("reset")
    studio.wait("studio.store.state.step === 0 && studio.store.state.busy === null")
    assert np.array_equal(studio.layer("elevation"), start)


def test_seeds_go_up_and_down_and_give_back_their_terrain(studio: Any) -> None:
    seventh = studio.layer("elevation")
    studio.tab("start")
    studio.page.click("button[aria-label='Next seed']")
    studio.wait("studio.store.state.generator.seed === 8")
    assert not np.array_equal(studio.layer("elevation"), seventh)
    studio.page.click("button[aria-label='Previous seed']")
    studio.wait("studio.store.state.generator.seed === 7")
    assert np.array_equal(studio.layer("elevation"), seventh)


def test_a_preset_brings_its_model_and_the_panel_follows(studio: Any) -> None:
    studio.tab("start")
    other = studio.page.evaluate("studio.store.welcome.presets.find(p => p.model !== studio.store.state.model)")
    studio.page.select_option("select[aria-label='Preset']", other["name"])
    studio.wait("name => studio.store.state.model === name && studio.store.state.busy === null", other["model"])
    assert studio.state()["model"] == other["model"]
    declared = studio.page.evaluate("studio.store.model.parameters.map(p => p.name)")
    shown = studio.page.locator("[data-parameter]").evaluate_all("rows => rows.map(row => row.dataset.parameter)")
    assert sorted(shown) == sorted(declared)


def test_a_preset_can_be_started_from_its_own_terrain(studio: Any) -> None:
    studio.tab("start")
    usual = sw.preset_source("single_grid")
    studio.ask(type="start", generator={"extent": usual.side, "relief": usual.relief})
    studio.page.locator("[data-role=own-start]").wait_for(state="hidden")
    studio.page.select_option("select[aria-label='Preset']", "chiba_fig2")
    studio.wait("studio.store.state.preset === 'chiba_fig2' && studio.store.state.busy === null")
    assert studio.state()["generator"]["kind"] == "dome"
    studio.click("own-start")
    studio.wait("studio.store.state.generator.kind === 'noisy_cylinder' && studio.store.state.busy === null")
    wanted = sw.preset_source("chiba_fig2")
    began = studio.state()["generator"]
    assert began["options"] == wanted.options
    assert (began["size"], began["extent"]) == (wanted.size, wanted.side) == (128, 1280.0)
    assert not studio.page.is_visible("[data-role=own-start]")
    studio.ask(type="start", generator={"relief": 55.0})
    studio.click("own-start")
    own = "relief => studio.store.state.generator.relief === relief && studio.store.state.busy === null"
    studio.wait(own, wanted.relief)


def test_every_model_can_be_chosen_and_drawn(studio: Any) -> None:
    studio.tab("start")
    for model in studio.page.evaluate("studio.store.welcome.models.map(m => m.name)"):
        studio.page.select_option("select[aria-label='Model']", model)
        studio.wait("name => studio.store.state.model === name && studio.store.state.busy === null", model)
        run = studio.state()["run"]
        studio.wait("run => studio.stage.frame.header.run === run", run)


def test_a_smaller_grid_keeps_the_model(studio: Any) -> None:
    studio.tab("start")
    studio.page.select_option("select[aria-label='Generator']", "diamond_square")
    studio.wait("studio.store.state.generator.kind === 'diamond_square' && studio.store.state.busy === null")
    assert studio.layer("elevation").shape == (128, 128)
    assert studio.state()["preset"] == "single_grid"


def test_more_cells_are_the_same_ground_and_the_cell_size_follows(studio: Any) -> None:
    studio.tab("start")
    extent, cell_size = "input[aria-label='Extent, km']", "[data-role='cell-size']"
    assert studio.page.input_value(extent) == "1.28"
    assert studio.page.inner_text(cell_size) == "10 m"
    studio.page.select_option("select[aria-label='Cells per side']", "256")
    studio.wait("studio.store.state.columns === 256 && studio.store.state.busy === null")
    assert (studio.page.input_value(extent), studio.page.inner_text(cell_size)) == ("1.28", "5 m")
    assert studio.state()["relief"] == 320.0
    studio.page.fill(extent, "5.12")
    studio.page.press(extent, "Enter")
    studio.wait("studio.store.state.cell_size === 20 && studio.store.state.busy === null")
    assert studio.page.inner_text(cell_size) == "20 m"
    studio.page.locator("p.quiet", has_text="256 × 256 cells of 20 m, 5.12 km").wait_for()


def test_an_uploaded_picture_becomes_the_terrain(studio: Any, tmp_path: Path) -> None:
    y, x = np.mgrid[0:96, 0:160]
    grey = (65535 * (0.5 + 0.5 * np.sin(x / 23.0) * np.cos(y / 17.0))).astype(np.uint16)
    Image.fromarray(grey).save(tmp_path / "waves.png")
    studio.page.set_input_files("input[type=file]", tmp_path / "waves.png")
    studio.page.fill("input[aria-label='Lowest height, m']", "100")
    studio.page.fill("input[aria-label='Highest height, m']", "400")
    studio.click("file-facts")
    studio.wait("studio.store.state.columns === 160 && studio.store.state.busy === null")
    expected = 100 + 300 * (grey.astype(np.float64) / 65535)
    assert np.abs(studio.layer("elevation") - expected).max() < 0.01  # a 16-bit step is 0.0046 m
    studio.wait("studio.stage.frame.elevation.columns === 160")
    studio.tab("start")
    assert studio.page.is_disabled("input[aria-label='Seed']")  # a file has none
    studio.page.select_option("select[aria-label='Cells per side']", "128")
    studio.wait("studio.store.state.columns === 128 && studio.store.state.busy === null")
    assert studio.state()["name"] == "waves.png"
    assert studio.layer("elevation").shape == (77, 128)
    assert studio.page.input_value("select[aria-label='Cells per side']") == "128"


def test_eight_bits_are_taken_only_after_a_word(studio: Any, tmp_path: Path) -> None:
    Image.fromarray(np.add.outer(np.arange(64), np.arange(80)).astype(np.uint8)).save(tmp_path / "coarse.png")
    for wanted in (False, True):
        studio.page.set_input_files("input[type=file]", tmp_path / "coarse.png")
        studio.page.locator("dialog[open]", has_text="only 8 bits").wait_for()
        if not wanted:
            studio.page.keyboard.press("Escape")
            studio.page.locator("dialog[open]").wait_for(state="hidden")
    studio.click("file-facts")
    studio.page.locator("dialog[open]", has_text="integers").wait_for()
    studio.page.fill("input[aria-label='Lowest height, m']", "95")
    studio.page.fill("input[aria-label='Highest height, m']", "90")
    studio.click("file-facts")
    studio.page.locator("dialog[open]", has_text="the highest above the lowest").wait_for()
    studio.page.fill("input[aria-label='Lowest height, m']", "0")
    studio.page.keyboard.press("Enter")
    studio.wait("studio.store.state.columns === 80 && studio.store.state.busy === null")


def test_keys_work_after_a_click_and_typed_numbers_on_enter(studio: Any) -> None:
    studio.tab("budget")
    studio.page.keyboard.press("Space")
    studio.wait("studio.store.state.step > 2")
    studio.page.keyboard.press("Space")
    studio.wait("!studio.store.state.playing")
    target = studio.state()["step"] + 3
    studio.page.fill("input[aria-label='Target step']", "1500ooo")
    studio.click("run-to")
    assert studio.page.get_attribute("input[aria-label='Target step']", "aria-invalid") == "true"
    studio.page.fill("input[aria-label='Target step']", str(target))
    studio.page.keyboard.press("Enter")
    studio.wait("n => studio.store.state.step === n && !studio.store.state.playing", target)
    studio.page.keyboard.press(".")
    studio.wait("n => studio.store.state.step === n + 1", target)


def test_a_file_dropped_on_the_picture_becomes_the_terrain(studio: Any, tmp_path: Path) -> None:
    heights = np.linspace(0, 90, 48 * 40, dtype=np.float32).reshape(48, 40)
    np.save(tmp_path / "ramp.npy", heights)
    dropped = studio.page.evaluate_handle(
        "bytes => { const data = new DataTransfer();"
        " data.items.add(new File([new Uint8Array(bytes)], 'ramp.npy')); return data }",
        list((tmp_path / "ramp.npy").read_bytes()),
    )
    studio.page.dispatch_event("#picture", "drop", {"dataTransfer": dropped})
    studio.wait("studio.store.state.rows === 48 && studio.store.state.busy === null")
    assert np.array_equal(studio.layer("elevation"), heights)


def test_edges_speed_and_backend_follow_the_panel(studio: Any) -> None:
    studio.tab("start")
    studio.page.select_option("select[aria-label='Edges']", "closed")
    studio.wait("studio.store.state.edges === 'closed' && studio.store.state.busy === null")
    assert studio.state()["edges"] == "closed"
    assert studio.page.locator("select[aria-label='Backend']").input_value() == "reference"
    studio.page.select_option("select[aria-label^='Speed']", "5")
    studio.wait("studio.store.state.speed === 5")
    studio.page.select_option("select[aria-label^='Speed']", "")
    studio.wait("studio.store.state.speed === null")


def test_settling_lays_the_load_down(studio: Any) -> None:
    studio.ask(type="start", generator={"size": 32})
    studio.ask(type="step", count=20)
    studio.wait("studio.store.state.step === 20 && !studio.store.state.playing")
    assert studio.layer("suspended").max() > 0
    studio.click("settle-menu")
    studio.page.fill("input[aria-label='Settling steps']", "30")
    studio.page.check("input[aria-label='Remove water']")
    studio.click("settle")
    for _ in range(300):  # the click is on its way; once it is there, the layer waits for its end
        if studio.layer("suspended").max() == 0:
            break
        studio.page.wait_for_timeout(100)
    assert studio.layer("suspended").max() == 0


def test_settling_is_cancelled(studio: Any) -> None:
    studio.ask(type="step", count=3)
    studio.wait("studio.store.state.step === 3 && !studio.store.state.playing")
    studio.click("settle-menu")
    studio.page.fill("input[aria-label='Settling steps']", "2 00")  # unreadable: nothing is ended by it
    studio.click("settle")
    assert studio.page.input_value("input[aria-label='Settling steps']") == str(studio.state()["usual_settling"])
    studio.page.fill("input[aria-label='Settling steps']", "99000")
    studio.click("settle")
    studio.wait("studio.store.state.settling")
    studio.page.focus("#picture")
    studio.page.keyboard.press("Space")
    studio.wait("!studio.store.state.settling && studio.store.state.busy === null")
    assert not studio.state()["playing"]
    studio.ask(type="settle", steps=0)
    studio.page.evaluate("void studio.connection.ask({ type: 'settle', steps: 99000 })")
    studio.click("stop-settling")
    studio.wait("!studio.store.state.settling && studio.store.state.busy === null")
    assert studio.page.is_visible("[data-role=settle-menu]")
    studio.ask(type="step", count=1)
    studio.wait("studio.store.state.step === 4 && !studio.store.state.playing")
    assert studio.layer("suspended").max() > 0  # the load is still in the water


def test_a_run_that_was_left_comes_back(studio: Any) -> None:
    studio.ask(type="step", count=4)
    studio.wait("studio.store.state.step === 4 && !studio.store.state.playing")
    worn = studio.layer("elevation")
    studio.click("reset")
    offer = studio.page.locator(".message", has_text="step 4) is kept")
    offer.get_by_role("button", name="Restore it (K)").click()
    studio.wait("studio.store.state.step === 4 && studio.store.state.busy === null")
    assert np.array_equal(studio.layer("elevation"), worn)
    studio.wait("studio.stage.frame.header.step === 4")
    studio.tab("start")
    studio.click("reset")
    studio.wait("studio.store.state.step === 0")
    studio.click("bring-back")
    studio.wait("studio.store.state.step === 4")


def test_options_of_a_generator_are_fields(studio: Any) -> None:
    studio.tab("start")
    noise = "input[aria-label='Option noise']"
    assert studio.page.get_attribute(noise, "placeholder") == "0.5"
    smooth = studio.layer("elevation")
    studio.page.fill(noise, "0.9")
    studio.page.keyboard.press("Enter")
    studio.wait("studio.store.state.generator.options.noise === 0.9 && studio.store.state.busy === null")
    assert not np.array_equal(studio.layer("elevation"), smooth)
    studio.page.fill(noise, "")  # what is usual
    studio.page.keyboard.press("Enter")
    studio.wait("!('noise' in studio.store.state.generator.options) && studio.store.state.busy === null")
    assert np.array_equal(studio.layer("elevation"), smooth)
    studio.page.fill("input[aria-label='Relief, m']", "900")
    studio.page.keyboard.press("Enter")
    studio.wait("studio.store.state.relief === 900")
    studio.page.fill("input[aria-label='Relief, m']", "")
    studio.page.keyboard.press("Enter")
    studio.wait("studio.store.state.generator.relief === null && studio.store.state.busy === null")
    assert np.array_equal(studio.layer("elevation"), smooth)


def test_a_file_that_is_no_height_field_is_refused_in_one_sentence(studio: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    before = studio.state()["run"]
    studio.page.set_input_files("input[type=file]", tmp_path / "broken.png")
    studio.page.locator(".message.error", has_text="broken.png").wait_for()
    assert studio.state()["run"] == before
    # The browser itself notes the refusal of the request.
    assert all("400" in text for text in studio.complaints)
    studio.complaints.clear()


def test_the_ground_keeps_its_colours_in_frames_that_leave_them_out(
    studio: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from slopewash.studio import loop

    monkeypatch.setattr(loop, "SLOW_LAYERS_SECONDS", 1e9)  # however slowly frames are drawn
    studio.ask(type="step", count=3)
    studio.wait("studio.stage.frame.wear && studio.store.state.step === 3 && !studio.store.state.playing")
    studio.page.evaluate(
        """() => {
          studio.seen = [];
          const { stage } = studio;
          stage.show = (frame) => {
            studio.seen.push([frame.header.ground ?? "sent", frame.wear !== null && frame.flow !== null]);
            Object.getPrototypeOf(stage).show.call(stage, frame);
          };
        }"""
    )
    studio.ask(type="run_to", step=10**9)
    studio.wait("studio.seen.filter(([ground]) => ground === 'as before').length > 5")
    studio.ask(type="pause")
    studio.settle_picture()
    studio.wait("studio.seen.at(-1)[0] === 'sent'")
    assert all(has for _, has in studio.page.evaluate("studio.seen"))
    studio.page.evaluate("() => { delete studio.stage.show }")
