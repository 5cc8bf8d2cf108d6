"""Every test starts with an empty environment and its own home."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from inspect import isfunction
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

import certifi
import pytest

# It would import trio, which no test uses.
os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.support.clock import FakeClock
from tests.support.environment import is_foreign, places
from tests.support.sampling import leave_out_the_rest, mark_the_rest

if TYPE_CHECKING:
    from tests.support.scripted import ScriptedService

ROOT: Final = Path(__file__).resolve().parents[1]
END_OF_CERTIFICATE: Final = "-----END CERTIFICATE-----\n"
_number: Final = count()

# The same tree gives the same answer, on a busy machine too; RUNWATCH_EXPLORE=1 looks for new cases.
settings.register_profile(
    "gate", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("short", parent=settings.get_profile("gate"), max_examples=10)
settings.register_profile("explore", parent=settings.get_profile("gate"), derandomize=False)

# Hundreds of processes import the same sources, most of them started by tests: compile each file once.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell starts what runs in its background with interruptions ignored, and so would every program of a test be.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Nothing that is made while tests are collected is garbage.
gc.disable()


def pytest_xdist_auto_num_workers() -> int:
    """Two processes a core for ``-n auto``: a test also waits for a screen, a process or a deadline."""
    return min(16, 2 * (os.cpu_count() or 1))


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples in the short run; ``.ci/run`` repeats every property with all of them.

    The short run also takes no constants from the source, which every process would have to parse for that.
    """
    short = "short" if is_short(config) else "gate"
    settings.load_profile("explore" if os.environ.get("RUNWATCH_EXPLORE") else short)
    if is_short(config):
        vars(providers)["is_local_module_file"] = lambda _: False


def is_short(config: pytest.Config) -> bool:
    """Whether this is the short run, of all tests or of some."""
    return bool(config.option.markexpr == "not exhaustive")


def is_of_everything(config: pytest.Config) -> bool:
    """Whether no file and no test is named."""
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """In a run of everything, compile a share of the test modules for the other workers, which compile the others."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1 and is_of_everything(session.config):
        for file in sorted(ROOT.glob("tests/**/test_*.py"))[int(worker) :: workers]:
            # What is wrong with a module is reported when it is collected.
            with contextlib.suppress(Exception, pytest.skip.Exception):
                import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[pytest.Item] | None:
    """In a short run of everything, make nothing of a test that it leaves out."""
    config = collector.config
    if isfunction(obj) and name.startswith("test_") and is_short(config) and is_of_everything(config):
        return [] if any(mark.name == "exhaustive" for mark in getattr(obj, "pytestmark", [])) else None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """In a short run of everything, leave out its other cases before anything is made of them."""
    yield
    if is_short(metafunc.config) and is_of_everything(metafunc.config):
        leave_out_the_rest(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose the cases of the short run before markers and names select."""
    mark_the_rest(items)


def pytest_collection_finish() -> None:
    """Take modules and cases out of every later garbage collection: they live as long as the process.

    Tests make much garbage in cycles, such as consoles. It is collected less often than Python does by default, because
    each look at the young objects of a console finds little and takes long.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _runtime_directory() -> Iterator[Path]:
    """A short path for the sockets of local services, and one authority to trust."""
    with tempfile.TemporaryDirectory(prefix="rw-") as directory, pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        # Every client reads the authorities it trusts; all of Mozilla's take 30 ms, and no test meets one of them.
        authorities = Path(certifi.where()).read_text("utf-8")
        first = Path(directory) / "authority.pem"
        first.write_text("".join(authorities.partition(END_OF_CERTIFICATE)[:2]), "utf-8")
        monkeypatch.setattr(certifi, "where", lambda: str(first))
        yield Path(directory)


@pytest.fixture(autouse=True)
def _clean_environment(
    request: pytest.FixtureRequest, _runtime_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Take away what could reach into a test from outside, and point every place into the test's own directory.

    That of a test that names no directory is made only by what writes there: making one takes as long as a small test.
    """
    has_own = "tmp_path" in request.fixturenames
    home: Path = request.getfixturevalue("tmp_path") if has_own else _runtime_directory / f"home-{next(_number)}"
    for name in os.environ:
        if is_foreign(name):
            monkeypatch.delenv(name)
    # A terminal of few symbols, or none, around the tests is another thing that could reach into them.
    for name, value in (places(home) | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def noon_service() -> Iterator[ScriptedService]:
    """A service with the runs of an ordinary noon, which takes the consoles' key."""
    from tests.support.scripted import running_service
    from tests.tui import noon
    from tests.tui.console import KEY

    with running_service(noon.service(key=KEY)) as service:
        yield service
