"""What a finish has on disk, so that a server that is started again goes on with it.

Its folder holds the plan, checkpoints of the run, a picture of the level under way and, once it is complete, the
results, described in `end.json`; then plan and checkpoints are gone. There is one such folder beside the run that a
studio keeps. Plan, checkpoints and `end.json` name the finish they are of: the process of a server that was killed may
still write where the next server has begun another one.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import slopewash as sw
from slopewash.drafts import write_beside
from slopewash.errors import CheckpointError, ForeignCheckpoint
from slopewash.paths import make_folder, open_regular, remove_folder, remove_if_empty, rename
from slopewash.studio import protocol
from slopewash.studio.projects import SUFFIX
from slopewash.studio.run import Plan

FOLDER = "finish"
"""Inside the folder of the run that is kept."""
UNREADABLE, NEW = ".unreadable", ".new"
"""End the names of the folders beside it: of a finish that cannot be read, and of one that is about to begin."""
PLAN_FOLDER, RUN_FOLDER, WRITING_FOLDER = "plan", "run", "writing"
ASIDE_FOLDER = "aside"
"""Checkpoints that this version cannot continue, such as those of another one, until the finish is complete."""
MOST_UNREADABLE = 100
MOST_ASIDE = 2
"""Numbered folders in it."""
TERRAIN_FILE, PROJECT_FILE, PREVIEW_FILE = "terrain.npz", f"project{SUFFIX}", "preview.png"
SHOWN_FILE = f"shown{SUFFIX}"
"""Project that a page opens instead, where the result has more cells than the studio runs."""
END_FILE = "end.json"
_FILES = (
    RUN_FOLDER, WRITING_FOLDER, ASIDE_FOLDER, TERRAIN_FILE, f"new-{TERRAIN_FILE}", PROJECT_FILE, PREVIEW_FILE,
    f"new-{PREVIEW_FILE}", SHOWN_FILE, f"new-{END_FILE}", PLAN_FOLDER, END_FILE,
)  # fmt: skip
"""In the order in which they are removed: what shows whose they are comes last."""
LARGEST_END = 1 << 20
"""Bytes of it."""
FORGOTTEN_DAYS = 30.0
"""Days after its last change at which a finish is removed."""
IDLE: protocol.FinishState = {
    "type": "finish", "status": "idle", "size": 0, "name": "", "preset": None, "model": "", "seed": None, "words": "",
    "step": 0, "steps": 0, "share": 0.0, "seconds_left": None, "message": None, "preview": 0, "resumed": False,
    "can_continue": False,
}  # fmt: skip


def check_places(kept: Path) -> None:
    """Refuse a folder to keep a run in where the folders of a finish hold files of others."""
    for folder in (kept / FOLDER, *(beside(kept / FOLDER, ending) for ending in (NEW, UNREADABLE))):
        try:
            empty = not any(folder.iterdir())
        except FileNotFoundError:
            continue
        except OSError:
            empty = False
        if not (empty or _is_finish(folder)):
            raise sw.CheckpointError(
                f"{folder} holds files that the studio did not write; choose another folder to keep the run in"
            )


def _is_finish(folder: Path) -> bool:
    """Whether a folder looks like a finish of some version, whole or damaged; it may be moved then."""
    if any((folder / PLAN_FOLDER).glob("step-*")):
        return True
    with suppress(OSError, ValueError):
        with open_regular(folder / END_FILE) as file:
            noted = json.loads(file.read(LARGEST_END))
        return isinstance(noted, dict) and "status" in noted
    return False


def is_verified(folder: Path) -> bool:
    """Whether a finish wrote a folder, by the digest of its plan or its end; what is in it may be removed then."""
    try:
        facts = sw.newest_manifest(folder / PLAN_FOLDER)
        if facts is not None and "plan" in facts:
            return True
        return read_end(folder) is not None
    except CheckpointError:  # whole, and of another version
        return True
    except (OSError, ValueError):
        return False


def clear(folder: Path) -> None:
    """Remove a finish, and nothing that others have put there; one that does not verify is set aside."""
    if not folder.exists():
        return
    if is_verified(folder):
        for name in _FILES:
            remove_folder(folder / name)
        remove_if_empty(folder)
    else:
        set_aside(folder)


def begin(plan: Plan, folder: Path) -> None:
    """Write what is to be done, then put it in the place of the finish before: the disk may be full."""
    check_places(folder.parent)
    new = beside(folder, NEW)
    clear_new(folder)
    write_plan(plan, new)
    clear(folder)
    make_folder(folder, private=True)
    rename(new / PLAN_FOLDER, folder / PLAN_FOLDER)
    remove_if_empty(new)


def clear_new(folder: Path) -> None:
    """Remove the plan that a server which was killed did not put in its place."""
    new = beside(folder, NEW)
    sw.remove_checkpoints(new / PLAN_FOLDER)
    remove_if_empty(new)


def beginning(plan: Plan) -> protocol.FinishState:
    """How a finish is doing that has only begun."""
    stage, source = plan.recipe.stage, plan.recipe.source
    return {
        **IDLE, "status": "running", "size": plan.size, "name": plan.name, "preset": stage.preset,
        "model": stage.model.name, "seed": source.seed if isinstance(source, sw.Generated) else None,
    }  # fmt: skip


def write_plan(plan: Plan, folder: Path) -> None:
    """Write what is to be done, all of it or nothing."""
    noted, arrays = sw.Recording(plan.recipe, plan.recipe.backend, plan.actions).parts(None)
    facts = {"name": plan.name, "size": plan.size, "layout": plan.layout, "usual_steps": plan.usual_steps}
    make_folder(folder, private=True)
    begun = {"id": uuid.uuid4().hex, "step": 0, "plan": facts, "recipe": noted, "begun": beginning(plan)}
    sw.write_checkpoint(folder / PLAN_FOLDER, 0, begun, arrays)


def read_plan(folder: Path, *, trust: bool = False) -> Plan:
    """Read it; `CheckpointError` if there is none, or it is damaged. One that is trusted is the user's own then."""
    facts, arrays = sw.read_checkpoint(folder / PLAN_FOLDER, trust=trust)
    if trust:
        noted = {name: fact for name, fact in facts.items() if name not in ("schema", "serial", "files")}
        sw.write_checkpoint(folder / PLAN_FOLDER, 0, noted, arrays)
    recording, noted = sw.Recording.from_parts(facts["recipe"], arrays, None), facts["plan"]
    layout = [(stage, cells, steps) for stage, cells, steps in noted["layout"]]
    return Plan(noted["name"], recording.recipe, noted["size"], recording.actions, layout, noted["usual_steps"])


def is_own(folder: Path) -> bool:
    """Whether all of a finish that is to go on carries the user's seal."""
    try:
        for name in (PLAN_FOLDER, RUN_FOLDER):
            sw.newest_manifest(folder / name, own=True)
    except ForeignCheckpoint:
        return False
    except CheckpointError:  # which the process of the finish reports
        pass
    return True


def identity(folder: Path) -> str | None:
    """Which finish the plan is of; None if there is none, or it cannot be read."""
    with suppress(OSError, ValueError):
        facts = sw.newest_manifest(folder / PLAN_FOLDER)
        return None if facts is None else facts.get("id")
    return None


def write_end(state: protocol.FinishState, folder: Path) -> None:
    """Note how the finish ended that the plan is of."""
    noted = {**state, "id": identity(folder)}
    text = json.dumps({**noted, "sha256": _digest(noted)})
    write_beside(folder / END_FILE, text, private=True)


def _digest(noted: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(noted, sort_keys=True).encode()).hexdigest()


def remove_work(folder: Path) -> None:
    """Remove what a result that is complete needs no more."""
    for name in (RUN_FOLDER, PLAN_FOLDER, WRITING_FOLDER, ASIDE_FOLDER):
        remove_folder(folder / name)


def read_end(folder: Path) -> protocol.FinishState | None:
    """How the finish of a folder ended; None if it did not, or another one wrote that.

    `ValueError` if it is not what was written.
    """
    try:
        with open_regular(folder / END_FILE) as file:
            noted: dict[str, Any] = json.loads(file.read(LARGEST_END))
    except FileNotFoundError:
        return None
    digest = noted.pop("sha256", None)
    if identity(folder) not in (None, noted.get("id")):
        return None
    if digest != _digest(noted) and not (digest is None and noted.keys() == {"id", *IDLE}):  # without one up to 0.2
        raise ValueError(f"{END_FILE} is not what was written")
    del noted["id"]
    return protocol.FINISH.validate_python(noted)


def read_state(folder: Path) -> protocol.FinishState | None:
    """How the finish in a folder is doing: at its end, or as it began. None if there is none.

    `CheckpointError` if there is one that cannot be read, such as that of another version.
    """
    if not folder.exists():
        return None
    try:
        names = {path.name for path in folder.iterdir()}
        end = read_end(folder)
        if end is not None or PLAN_FOLDER not in names:
            return end
        facts = sw.newest_manifest(folder / PLAN_FOLDER)
        return protocol.FINISH.validate_python(None if facts is None else facts.get("begun"))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise sw.CheckpointError(str(error).partition("\n")[0]) from error


def set_checkpoints_aside(folder: Path) -> Path:
    """Move all checkpoints of a finish out of the way; returns where they are. Those of the last two times stay."""
    aside = folder / ASIDE_FOLDER
    make_folder(aside, private=True)
    numbers = sorted(int(path.name) for path in aside.iterdir() if path.name.isdecimal())
    for number in numbers[: -MOST_ASIDE + 1]:
        remove_folder(aside / str(number))
    place = aside / str(numbers[-1] + 1 if numbers else 1)
    make_folder(place, new=True)
    for checkpoint in sw.find_checkpoints(folder / RUN_FOLDER):
        rename(checkpoint, place / checkpoint.name)
    return place


def set_aside(folder: Path) -> Path:
    """Rename a finish that cannot be read, or remove it if it is empty; where it is now, also if that failed."""
    remove_if_empty(folder)
    places = (beside(folder, UNREADABLE + number) for number in ("", *map(str, range(2, MOST_UNREADABLE + 1))))
    for aside in places:
        remove_if_empty(aside)
        if not aside.exists():
            with suppress(OSError):
                rename(folder, aside)
                return aside
            break
    return folder


def beside(folder: Path, ending: str) -> Path:
    """Folder beside that of a finish."""
    return folder.with_name(folder.name + ending)


def is_forgotten(folder: Path) -> bool:
    """Whether nothing has happened in a folder for long."""
    newest = 0.0
    for path in (folder, *folder.rglob("*")):
        with suppress(OSError):  # a process that is ending may replace a checkpoint at this moment
            newest = max(newest, path.lstat().st_mtime)
    return time.time() - newest > FORGOTTEN_DAYS * 86400
