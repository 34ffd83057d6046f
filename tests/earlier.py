"""Files as slopewash up to 0.2 left them: with checksums that anyone can make, and without seals."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def unsealed(folder: Path) -> Path:
    """Give all checkpoints in a folder, and the end of a finish, the form that they had; returns the folder."""
    for manifest in folder.rglob("manifest.json"):
        facts = json.loads(manifest.read_bytes())
        if manifest.parent.name.startswith("step-"):
            del facts["seal"], facts["sha256"]
            facts["sha256"] = hashlib.sha256(_lines(facts)).hexdigest()
            manifest.write_bytes(_lines(facts))
    for end in folder.rglob("end.json"):
        facts = json.loads(end.read_bytes())
        del facts["sha256"]
        end.write_text(json.dumps(facts))
    return folder


def without_table(store: Path) -> Path:
    """Give the store of a run on tiles the form that it had: of schema 2, whose tiles have no table of digests."""
    for name in ("state/manifest.json", "zarr.json"):
        file = store / name
        whole = json.loads(file.read_bytes()) if file.exists() else {}
        facts = whole if name != "zarr.json" else whole.get("attributes", {}).get("slopewash")
        if facts:
            for new in ("seal", "digests"):
                facts.pop(new, None)
            del facts["sha256"]
            facts["schema"] = 2
            if name != "zarr.json":
                facts["sha256"] = hashlib.sha256(_sorted(facts)).hexdigest()
            file.write_text(json.dumps(whole, ensure_ascii=False))
    for table in store.rglob("digests-*"):
        table.unlink()
    return store


def _lines(facts: dict[str, Any]) -> bytes:
    lines = (f"{json.dumps(name)}: {json.dumps(fact, ensure_ascii=False)}" for name, fact in facts.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _sorted(facts: dict[str, Any]) -> bytes:
    return json.dumps(facts, ensure_ascii=False, sort_keys=True).encode()
