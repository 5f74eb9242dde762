"""Settings of every test run. Python 3.8, since `make test-gpu` runs it on old machines, where little is installed."""

import os
import signal
from importlib.util import find_spec

# A job that a shell started in the background ignores Ctrl-C, and its children inherit that: those of tests must not.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter):
    """Prints the figures that tests recorded as `record_property("figure: …", number)`, summed over all of them."""
    sums = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call":
                for name, value in report.user_properties:
                    if name.startswith("figure: "):
                        sums[name[8:]] = sums.get(name[8:], 0) + value
    for name, value in sorted(sums.items()):
        terminalreporter.write_line(f"{value} {name}")


if find_spec("hypothesis"):
    import hypothesis

    # Time is no property: the machine is shared, and a first example may fill a cache.
    # The examples are the same every time: whoever changes something finds its own faults, and no others. `make
    # test-deep` looks for more, each time elsewhere.
    hypothesis.settings.register_profile("kbuild", deadline=None, derandomize="KBUILD_DEEP" not in os.environ)
    hypothesis.settings.load_profile("kbuild")


def pytest_addoption(parser):
    """Options of every test run."""
    parser.addoption("--update-golden", action="store_true", help="write the texts that tests expect again")
