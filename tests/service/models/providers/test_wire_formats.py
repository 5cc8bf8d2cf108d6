"""A new provider protocol is two edits away from its sources, forms and calls; made here to a copy of the program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import runwatch
from runwatch.records.source import PROTOCOLS
from runwatch.service.models.providers.providers import WIRE_FORMATS
from runwatch.service.models.sources import KNOWN

WHERE_IT_IS = """
import json
from runwatch.service.models.provider_config import _READERS
from runwatch.service.models.providers.providers import WIRE_FORMATS
from runwatch.service.models.sources import KNOWN
from runwatch.view.actions.sources import CONNECT

(field,) = (each for each in CONNECT.mutation.fields if each.path == "endpoint.protocol_profile")
print(json.dumps({
    "called at": WIRE_FORMATS["acme_chat"].path,
    "offered by": [one.source_id for one in KNOWN if "acme_chat" in one.protocol_profiles and one.is_served],
    "in the form": "acme_chat" in field.choices,
    "in a file": _READERS["protocol_profile"]("acme_chat"),
}))
"""


def test_every_protocol_is_offered_by_the_source_of_its_line() -> None:
    assert list(WIRE_FORMATS) == list(PROTOCOLS)
    offered = {one.source_id: one.protocol_profiles for one in KNOWN}
    assert all(name in offered[source] for name, source in PROTOCOLS.items())


def test_a_module_and_a_line_are_all_that_a_protocol_takes(tmp_path: Path) -> None:
    copy = tmp_path / "runwatch"
    shutil.copytree(Path(runwatch.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    formats = copy / "service" / "models" / "providers"
    chat = (formats / "openai_chat.py").read_text()
    (formats / "acme_chat.py").write_text(chat.replace('path="chat/completions"', 'path="acme/chat"'))
    declared = copy / "records" / "source.py"
    before, line, after = declared.read_text().partition('    "openai_chat": OPENAI_COMPATIBLE,\n')
    assert line
    declared.write_text(f'{before}{line}    "acme_chat": OPENAI_COMPATIBLE,\n{after}')
    found = subprocess.run(
        [sys.executable, "-c", WHERE_IT_IS],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert json.loads(found) == {
        "called at": "acme/chat", "offered by": ["openai_compatible"], "in the form": True, "in a file": "acme_chat",
    }  # fmt: skip
