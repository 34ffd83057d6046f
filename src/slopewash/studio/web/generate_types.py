"""Writes src/wire/protocol.ts, the page's types of all messages, from messages.py and protocol.py of the server.

Run it after a change there: python src/slopewash/studio/web/generate_types.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from slopewash.studio import messages, protocol

TARGET = Path(__file__).parent / "src/wire/protocol.ts"
WIDTH = 120
"""Columns that the page's formatter allows."""
HEADING = """\
// What the page and the server send each other: docs/studio-protocol.md in types.
// Generated from studio/messages.py and studio/protocol.py by generate_types.py: change those instead.
"""
UNIONS: dict[str, TypeAdapter[Any]] = {
    "ClientMessage": TypeAdapter(messages.ClientMessage),
    "ServerMessage": protocol.SERVER_MESSAGE,
}
OTHERS: dict[str, TypeAdapter[Any]] = {
    "FrameHeader": protocol.FRAME_HEADER,
    "Uploaded": protocol.UPLOADED,
    "OpenedProject": protocol.OPENED,
    "Problem": protocol.PROBLEM,
    "CellFacts": protocol.CELL,
    "SurveyFacts": protocol.SURVEY,
}
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}

Schema = dict[str, Any]


def generate() -> str:
    """The text of protocol.ts."""
    schemas, shared = TypeAdapter.json_schemas(
        [(name, "validation", adapter) for name, adapter in (UNIONS | OTHERS).items()], ref_template="{model}"
    )
    declared: dict[str, Schema] = dict(shared["$defs"])
    declared |= {name: schemas[name, "validation"] for name in UNIONS}
    return "\n".join([HEADING, *(_declaration(name, declared[name]) for name in sorted(declared))])


def _declaration(name: str, schema: Schema) -> str:
    if "properties" not in schema:
        return _alias(name, _type(schema))
    required = schema.get("required", [])
    lines = [*_comment(schema.get("description"), ""), f"export interface {name} {{"]
    for key, field in schema["properties"].items():
        lines += _comment(field.get("description"), "  ")
        lines.append(f"  {key}{'' if key in required else '?'}: {_type(field)};")
    return "\n".join([*lines, "}", ""])


def _alias(name: str, text: str) -> str:
    line = f"export type {name} = {text};\n"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"export type {name} =", *(f"  | {part}" for part in text.split(" | "))]) + ";\n"


def _comment(text: str | None, indent: str) -> list[str]:
    return [f"{indent}/** {' '.join(text.split())} */"] if text else []


def _type(schema: Schema) -> str:
    """A schema as a TypeScript type."""
    if "$ref" in schema:
        return str(schema["$ref"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " | ".join(dict.fromkeys(_type(option) for option in options))
    if schema["type"] == "array":
        return _array(schema)
    if schema["type"] == "object":
        return f"Record<string, {_type(schema['additionalProperties'])}>"
    return PLAIN[schema["type"]]


def _array(schema: Schema) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(item) for item in schema['prefixItems'])}]"
    item = _type(schema["items"])
    return f"({item})[]" if " | " in item else f"{item}[]"


if __name__ == "__main__":
    TARGET.write_text(generate(), encoding="utf-8")
