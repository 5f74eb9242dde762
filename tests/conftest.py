"""Settings of every test run. Python 3.8, since `make test-gpu` runs it on old machines, where little is installed."""

from importlib.util import find_spec

if find_spec("hypothesis"):
    import hypothesis

    # Time is no property: the machine is shared, and a first example may fill a cache.
    hypothesis.settings.register_profile("kbuild", deadline=None)
    hypothesis.settings.load_profile("kbuild")


def pytest_addoption(parser):
    """Options of every test run."""
    parser.addoption("--update-golden", action="store_true", help="write the texts that tests expect again")
