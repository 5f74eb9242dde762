"""What the demo tells pip, beside what pip was told before."""

from __future__ import annotations

import sys

import pytest

from tools import demo, wheels


@pytest.fixture
def wheel(tmp_path):
    folder = tmp_path / "with space"
    folder.mkdir()
    return folder / "kbuild-0.1.0+checkout-py3-none-any.whl"


def test_the_constraint_names_the_one_version(wheel):
    wheels.with_kbuild(wheel, {})
    assert (wheel.parent / "constraints.txt").read_text() == "kbuild==0.1.0+checkout\n"


def test_what_the_variables_said_stays(wheel):
    made = wheels.with_kbuild(wheel, {"PIP_FIND_LINKS": "/a /b", "PIP_CONSTRAINT": "mine.txt", "HOME": "/home"})
    assert made["PIP_FIND_LINKS"] == f"{wheel.parent.as_uri()} /a /b"
    assert made["PIP_CONSTRAINT"] == f"{(wheel.parent / 'constraints.txt').as_uri()} mine.txt"
    assert made["PIP_BUILD_CONSTRAINT"] == made["PIP_CONSTRAINT"]
    assert made["HOME"] == "/home"


def test_what_pips_files_say_stays(wheel, monkeypatch):
    monkeypatch.setattr(wheels, "_configured", {"find-links": "/from/file", "constraint": ""}.__getitem__)
    assert wheels.with_kbuild(wheel, {})["PIP_FIND_LINKS"].endswith(" /from/file")


def test_pips_files_are_read(tmp_path, monkeypatch):
    (tmp_path / "pip.conf").write_text("[global]\nfind-links =\n  /one\n  /two\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert wheels._configured("find-links") == "/one /two"
    assert wheels._configured("no-such-option") == ""


def test_folders_with_spaces_are_one_place(wheel):
    """pip splits the variable at white space."""
    assert len(wheels.with_kbuild(wheel, {"PIP_FIND_LINKS": "/a"})["PIP_FIND_LINKS"].split()) == 2


def test_a_command_that_fails_ends_the_program():
    with pytest.raises(SystemExit) as exit:
        wheels.run(["false"], {"PATH": "/usr/bin:/bin"})
    assert exit.value.code == 1


def test_the_clean_environment_is_looked_at(monkeypatch):
    """The demo ends when its second environment could compile after all."""
    monkeypatch.setattr(demo, "ABSENT", ("no_such_module", "json"))
    with pytest.raises(SystemExit, match="the clean environment has json"):
        demo.assert_clean(sys.executable)
