"""`sim`: whole programs in the simulator, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kbuild as kb

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import atexit
import pickle
import sys

import kbuild as kb


@kb.kernel
def fill(x: kb.array(dtype=float), n: int):
    i = kb.tid()
    x[i + n] = float(i)
    if i == 2:
        print(i)


@kb.kernel
def clear(x: kb.array(dtype=float)):
    x[kb.tid()] = 0.0


class Mine:
    pass


def main():
    x = kb.zeros(8, dtype=float, device="cuda:0")
    kb.launch(fill, 4, [x, 1], device="cuda:0")
    again = kb.bind(fill, 4, [x, 2])
    again()
    again.set(n=0)
    again.launch()
    with kb.ScopedDevice("cuda"), kb.ScopedStream(kb.Stream("cuda:1")):
        kb.launch(clear, 1, [x])
    kb.launch(clear, 1, [kb.zeros(1, dtype=float, device="cpu")])
    kb.synchronize()
    assert x.device == "cuda:0" and kb.get_devices() == ["cuda"]
    assert pickle.loads(pickle.dumps(Mine())).__class__ is Mine
    print(sys.argv, x.numpy().tolist())
    if "--bad" in sys.argv:
        kb.launch(fill, 8, [x, 3])
    if "--error" in sys.argv:
        1 / 0
    sys.exit(int(sys.argv[1]))


if __name__ == "__main__":
    atexit.register(lambda: print("the end of", sys.modules["__main__"].__name__))
    main()
"""
WARP_PROGRAM = """\
import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=wp.float32), s: float):
    i = wp.tid()
    x[i] = x[i] * s


wp.init()
x = wp.array([1.0, 2.0], dtype=wp.float32, device="cuda:0" if wp.is_cuda_available() else "cpu")
wp.launch(scale, dim=2, inputs=[x, 3.0])
y = wp.full(2, 4.0, dtype=wp.float32)
command = wp.launch(scale, dim=2, inputs=[y, 0.5], record_cmd=True)
command.launch()
wp.synchronize()
print(x.numpy().tolist(), y.numpy().tolist(), wp.get_device().is_cuda)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def sim(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KBUILD")}
    variables = {**kept, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **environment}
    command = [sys.executable, "-m", "kbuild", "sim", *words]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def test_a_program_runs_as_ever(folder: Path) -> None:
    """Its arguments, its `__main__`, its status and what it does at the end are its own."""
    done = sim(folder, "app.py", "3", "--races", "-m")
    assert done.stderr == ""
    assert done.stdout == (
        "2\n2\n2\n['app.py', '3', '--races', '-m'] [0.0, 1.0, 2.0, 3.0, 2.0, 3.0, 0.0, 0.0]\nthe end of __main__\n"
    )
    assert done.returncode == 3


def test_a_module(folder: Path) -> None:
    done = sim(folder, "--threads", "-m", "app", "0", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[2] 2\n")
    assert f"['{folder / 'app.py'}', '0', '--json']" in done.stdout


def test_a_fault_ends_the_program(folder: Path) -> None:
    done = sim(folder, "app.py", "0", "--bad")
    app = folder / "app.py"
    launch = PROGRAM.splitlines().index("        kb.launch(fill, 8, [x, 3])") + 1
    assert done.returncode == 1
    assert done.stderr == (
        f"OutOfBounds: {app}:11:5: index 8 on axis 0 of an array of shape (8,), thread (5,) of __main__:fill\n"
        "    x[i + n] = float(i)\n"
        "    x = 'array of float32, shape (8)'\n"
        "    n = 3\n"
        "    i = 5\n"
        f"  launched at {app}:{launch}\n"
    )
    assert done.stdout.endswith("the end of __main__\n")


def test_an_error_of_the_program_shows_its_own_frames(folder: Path) -> None:
    done = sim(folder, "app.py", "0", "--error")
    assert done.returncode == 1
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert done.stderr.count("  File ") == 2
    assert "kbuild" not in done.stderr.replace(str(folder), "")


def test_the_answer_of_json(folder: Path) -> None:
    done = sim(folder, "--json", "app.py", "2")
    assert done.returncode == 2
    assert "the end" not in done.stderr, "what runs after the answer is not held back"
    assert "2\n2\n2\n['app.py', '2']" in done.stderr
    object, _, rest = done.stdout.rpartition("}\n")
    assert rest == "the end of __main__\n"
    assert json.loads(object + "}") == {
        "program": ["app.py", "2"],
        "status": 2,
        "launches": [{"kernel": "__main__:clear", "count": 2}, {"kernel": "__main__:fill", "count": 3}],
        "fault": None,
        "trace": None,
    }


def test_a_fault_as_json(folder: Path) -> None:
    (folder / "bad.py").write_text(PROGRAM.replace("    atexit", "    # atexit"), encoding="utf-8")
    done = sim(folder, "--json", "bad.py", "0", "--bad")
    fault = answer(done)["fault"]
    assert (done.returncode, answer(done)["status"]) == (1, 1)
    assert (fault["kind"], fault["kernel"], fault["line"], fault["thread"]) == ("OutOfBounds", "__main__:fill", 11, [5])
    assert fault["message"] == "index 8 on axis 0 of an array of shape (8,)"
    assert fault["launched_at"].startswith(f"{folder / 'bad.py'}:")


def test_traces_of_chosen_launches(folder: Path) -> None:
    words = ["--kernel", "f*", "--max-launches", "2", "--trace-threads", "0-1,3,9,1x2", "--trace-events", "store"]
    done = sim(folder, "--trace", "t.jsonl", *words, "app.py", "0")
    assert done.returncode == 0, done.stderr
    events = list(kb.sim.filter_trace(folder / "t.jsonl"))
    assert [e["launch"] for e in events if e["event"] == "launch"] == [1, 2]
    stores = [(e["launch"], e["offsets"], e["values"]) for e in events if e["event"] == "store"]
    assert stores == [(1, [4, 8, 16], [0.0, 1.0, 3.0]), (2, [8, 12, 20], [0.0, 1.0, 3.0])]


def test_a_trace_for_perfetto(folder: Path) -> None:
    done = sim(folder, "--trace", "t.json", "--kernel", "__main__:clear", "app.py", "0")
    assert done.returncode == 0, done.stderr
    events = json.loads((folder / "t.json").read_text(encoding="utf-8"))["traceEvents"]
    assert [e["ph"] for e in events if e["ph"] != "M"] == ["B", "X", "E"] * 2


def test_profiles_of_a_program(folder: Path) -> None:
    done = sim(folder, "--profile", "--kernel", "f*", "app.py", "0")
    assert done.returncode == 0, done.stderr
    heads = [line for line in done.stderr.splitlines() if " threads" in line and "blocks, " in line]
    assert heads == ["__main__:fill: 3 blocks, 3 warps, 12 threads"]
    stores = next(line for line in done.stderr.splitlines() if line.endswith("x[i + n] = float(i)"))
    assert stores.split("|")[1].split() == ["3", "1", "1"]  # requests, sectors of each, as few as can be
    (folder / "quiet.py").write_text(PROGRAM.replace("    atexit", "    # atexit"), encoding="utf-8")
    one = sim(folder, "--json", "--profile", "--kernel", "clear", "--max-launches", "1", "quiet.py", "0")
    (report,) = answer(one)["reports"]
    assert report.startswith("__main__:clear: 1 blocks, 1 warps, 1 threads\n")


def test_a_name_that_no_launch_has(folder: Path) -> None:
    done = sim(folder, "--trace", "t.jsonl", "--kernel", "nobody", "app.py", "0")
    assert done.returncode == 0
    assert done.stderr == "no launch was traced: the program launched __main__:clear, __main__:fill\n"


def test_settings(folder: Path) -> None:
    text = "import kbuild as kb, os\nprint(kb.sim.configure())\nprint(os.environ['KBUILD_SIM'])\n"
    (folder / "shows.py").write_text(text, encoding="utf-8")
    done = sim(folder, "--no-races", "--seed", "7", "--nan", "shows.py", KBUILD_SIM="seed=3,divisions=off")
    assert done.returncode == 0, done.stderr
    settings, variable = done.stdout.splitlines()
    assert "races=False, unassigned=True, divisions=False, nan=True" in settings
    assert "seed=7" in settings
    assert variable == "races=off,divisions=off,nan=on,seed=7", "processes that the program starts have them too"


def test_races_can_be_left_out(folder: Path) -> None:
    text = """\
import kbuild as kb


@kb.kernel
def collide(x: kb.array(dtype=float)):
    x[0] = float(kb.tid())


kb.launch(collide, 4, [kb.zeros(1, dtype=float)])
"""
    (folder / "races.py").write_text(text, encoding="utf-8")
    assert sim(folder, "races.py").stderr.startswith("Race: ")
    assert sim(folder, "--no-races", "races.py").returncode == 0


def test_the_limits_of_a_device(folder: Path) -> None:
    text = "import kbuild as kb\n@kb.kernel\ndef k(x: kb.array(dtype=float)):\n    x[kb.tid()] = 1.0\n"
    text += "kb.launch(k, 8, [kb.zeros(8, dtype=float)])\n"
    (folder / "small.py").write_text(text, encoding="utf-8")
    assert sim(folder, "--like", "sm_87", "small.py").returncode == 0
    done = sim(folder, "--like", "sm_86x", "small.py")
    assert done.returncode == 2
    assert "sm_86 has no variant 'x'" in done.stderr


def test_a_program_for_warp(folder: Path) -> None:
    (folder / "simulate.py").write_text(WARP_PROGRAM, encoding="utf-8")
    done = sim(folder, "--as", "warp", "simulate.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[3.0, 6.0] [2.0, 2.0] False"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "sim wants a program to run [KB001]\n  help: python -m kbuild sim app.py, or sim -m MODULE"),
        (["nobody.py"], "there is no file 'nobody.py' [KB001]\n  help: a module is run by -m: sim -m nobody.py"),
        (["--kernel", "k", "app.py"], "--kernel goes with --trace FILE or --profile"),
        (["--trace", "no/t.jsonl", "app.py", "0"], "no/t.jsonl cannot be opened: No such file or directory"),
        (["--trace", "t", "--trace-events", "all", "app.py", "0"], "a trace has no events 'all'; it has statement"),
        (["--seed", "x", "app.py"], "argument --seed: wants a number from 0 on, not 'x'"),
        (["--trace", "t", "--trace-lines", "a", "app.py"], "--trace-lines: wants a number from 0 on, not 'a'"),
    ],
)
def test_wrong_words(folder: Path, words: list[str], message: str) -> None:
    done = sim(folder, *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_wrong_settings_in_the_environment(folder: Path) -> None:
    done = sim(folder, "app.py", "0", KBUILD_SIM="rases=off")
    assert done.returncode == 2
    assert "KBUILD_SIM: the simulator has no setting 'rases'; it has races" in done.stderr


def test_exit_with_a_text(folder: Path) -> None:
    (folder / "exits.py").write_text("import sys\nsys.exit('no input')\n", encoding="utf-8")
    done = sim(folder, "exits.py")
    assert (done.returncode, done.stderr) == (1, "no input\n")


def test_what_the_program_prints_stays_in_order(folder: Path) -> None:
    """Kernels and Python write to one stream, also where that is a file."""
    text = PROGRAM.replace("    main()", "    print('before')\n    main()")
    (folder / "order.py").write_text(text, encoding="utf-8")
    assert sim(folder, "order.py", "0").stdout.startswith("before\n2\n2\n2\n[")
