"""The command starts with few imports, and can be stopped at any moment of its start without a traceback."""

import importlib
import os
import re
import signal
import subprocess
import sys

import pytest

from supersample.cli.group import COMMANDS, group

#: What the script that pip writes does, and the other way to start.
SCRIPT = [sys.executable, "-c", "import sys; from supersample.cli import main; sys.exit(main())"]
MODULE = [sys.executable, "-m", "supersample"]
#: Python then writes a line to standard error for each module that it has imported.
TOLD = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
#: The first module that is imported where the command can be stopped; what comes before is the interpreter's own start.
FIRST = "supersample.cli.interrupts"
HEAVY = {"matplotlib", "numba", "numpy", "pandas", "pyarrow", "scipy", "sklearn"}


def imported(told):
    return re.findall(r"^import time: +\d+ \| +\d+ \| +(\S+)$", told, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name):
    module, line = COMMANDS[name]
    command = getattr(importlib.import_module(module), name)
    assert command.name == name
    assert command.short_help == line
    assert group.commands[name].get_short_help_str(200) == line


def test_a_command_of_another_name_is_told(run):
    done = run("summarise", status=2)
    assert "No such command 'summarise'" in done.stderr


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)], ids=" ".join)
def test_help_needs_no_numbers(arguments):
    done = subprocess.run([*MODULE, *arguments], capture_output=True, text=True, check=True, env=TOLD)
    names = imported(done.stderr)
    assert FIRST in names
    assert not HEAVY & {name.split(".")[0] for name in names}


def interrupted(command, moment):
    """Run a command, interrupt it when it has told of so many imports, and return its status and what it told after that.

    The moment is counted from where the command can be stopped, so that nothing here depends on time.
    """
    told, count = [], -1
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=TOLD) as process:
        try:
            for line in process.stderr:
                told.append(line)
                count += count >= 0 or line.rstrip().endswith(f" {FIRST}")
                if count == moment:
                    process.send_signal(signal.SIGINT)
                    break
            told.append(process.stderr.read())
            status = process.wait()
        finally:
            process.kill()
    return status, "".join(told)


@pytest.fixture(scope="module")
def starts(data):
    """What to run, and how many imports each tells of."""
    source = str(data / "a.parquet")
    commands = {"script": [*SCRIPT, "--help"], "module": [*MODULE, "summarize", source, "-p", "3", "--no-progress"]}
    counted = {}
    for name, command in commands.items():
        names = imported(subprocess.run(command, capture_output=True, text=True, check=True, env=TOLD).stderr)
        counted[name] = command, len(names) - names.index(FIRST) - 1
    return counted


MOMENTS = [("script", place / 9) for place in range(9)] + [("module", place / 7) for place in range(7)]


@pytest.mark.parametrize(("start", "share"), MOMENTS)
def test_stopped_at_any_moment_without_a_traceback(starts, start, share):
    command, imports = starts[start]
    status, told = interrupted(command, int(share * imports))
    assert status in (0, 130)  # 0: it was done before the signal came
    others = [line for line in told.splitlines() if not line.startswith("import time:")]
    assert all(line.startswith("stopped") for line in others), told


# Gets the signal in a file of llvmlite's binding: what is made there is whole before the exception comes.
IN_A_WRAPPER = """
import os, signal, time
from supersample.cli import interrupts
text = "def made():\\n    signal.raise_signal(signal.SIGINT)\\n    return 'whole'"
space = {"signal": signal}
exec(compile(text, os.path.join("site-packages", "llvmlite", "binding", "ffi.py"), "exec"), space)
interrupts.install()
with interrupts.working():
    try:
        print(space["made"](), flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("stopped")
"""


def test_objects_of_libraries_are_not_interrupted_while_they_are_made():
    done = subprocess.run([sys.executable, "-c", IN_A_WRAPPER], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("whole\nstopped\n", "")


# Sends the signal to itself when the interpreter is ending and has dropped its handlers: after the last exit function.
AT_THE_END = """
import os, signal, sys
from supersample.cli import main


class Last:
    def __del__(self, kill=os.kill, me=os.getpid(), number=signal.SIGINT):
        kill(me, number)


sys.last_of_all = Last()
main()
"""


def test_a_signal_at_the_very_end_does_not_take_the_status_along():
    done = subprocess.run([sys.executable, "-c", AT_THE_END, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


# Sends the signal to itself from inside the import system: when the callback runs that follows the nth import of a phase.
# Exceptions that are raised there are printed and lost.
AT_CALLBACK = """
import atexit, os, signal, sys
from supersample.cli import main

moment, working = int(sys.argv.pop(1)), sys.argv.pop(1) == "working"


def profile(frame, event, argument):
    global moment
    if event == "call" and frame.f_code.co_name == "cb" and "importlib" in frame.f_code.co_filename:
        interrupts = sys.modules.get("supersample.cli.interrupts")
        if getattr(interrupts, "_working", False) == working:
            moment -= 1
            if moment == 0:
                os.kill(os.getpid(), signal.SIGINT)


atexit.register(print, "the interpreter's usual end")
sys.setprofile(profile)
main()
"""


@pytest.mark.parametrize(("phase", "moment"), [*(("starting", each) for each in (1, 2, 3, 5, 20, 300)), ("working", 100)])
def test_stopped_between_two_imports(data, phase, moment):
    command = [sys.executable, "-c", AT_CALLBACK, str(moment), phase, "summarize", str(data / "a.parquet"), "-p", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert re.fullmatch("stopped.*\n", done.stderr)
    assert done.stdout == ""  # the process ends at once: libraries at work in threads may crash in the usual end


def test_a_job_that_shall_not_be_stopped_goes_on(data):
    command = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *MODULE, "summarize", str(data / "a.parquet"), "-p", "3", "-q"]
    status, told = interrupted(command, 10)
    assert status == 0
    assert "stopped" not in told
