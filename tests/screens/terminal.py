# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the program in its own terminal (tmux with a private socket), types keys, reads the screen.

Nothing waits for a fixed time: tests wait for something that a key makes the screen show, or for Terminal.sync(), which
types a key without an action; when the screen says so, all earlier keys have been handled and their effects drawn.
"""

import atexit
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
PROGRAM = os.environ.get("LTTNGTOP", os.path.join(BUILD, "lttngtop"))
SHARED = os.environ.get("SHARED", os.path.join(ROOT, "..", "shared"))
EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected")
PATIENCE = float(os.environ.get("PATIENCE", "60"))  # seconds after which waiting for something fails


def skip(why):
    print(f"skip {os.path.basename(sys.argv[0])}: {why}")
    sys.exit(77)


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    if not os.access(PROGRAM, os.X_OK):
        skip(f"{PROGRAM} is not built")


def unpack(name):
    """The directory of a recording from traces/ or from the shared ones; None if there is none."""
    for base in (os.path.join(ROOT, "traces"), os.path.join(SHARED, "traces")):
        archive = os.path.join(base, name + ".tar.zst")
        if not os.path.exists(archive):
            continue
        target = os.path.join(os.environ.get("TMPDIR", tempfile.gettempdir()), "recordings")
        if not os.path.isdir(os.path.join(target, name)):
            os.makedirs(target, exist_ok=True)
            subprocess.run(["tar", "--use-compress-program=zstd --long=27", "-xf", archive, "-C", target], check=True)
        return os.path.join(target, name)
    return None


READY = r"\A(?! READING).*(\n.*)*F1He"  # the first events have arrived, or live sessions are awaited


class Failed(Exception):
    pass


class Terminal:
    """
    The program on a screen of width × height; use it with "with". If an exception
    prevents the block from being entered, it ends with the test.
    """

    count = 0

    def __init__(self, *args, size=(80, 24), env=None, program=None, ready=READY):
        Terminal.count += 1
        self.turn = "Y"
        self.directory = tempfile.mkdtemp(prefix="screen-")
        self.socket = f"lttngtop-{os.getpid()}-{Terminal.count}"
        variables = {"LC_ALL": "C.UTF-8", "TERM": "tmux-256color", "TZ": "UTC", "HOME": self.directory,
                     "ESCDELAY": "25", "PATH": os.environ["PATH"]}
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "LD_PRELOAD"):
            if name in os.environ:
                variables[name] = os.environ[name]
        variables.update(env or {})
        script = os.path.join(self.directory, "run")
        with open(script, "w") as f:
            command = shlex.join([program or PROGRAM, *args])
            assignments = shlex.join(f"{k}={v}" for k, v in variables.items())
            # Ctrl-C and Ctrl-\\ reach the shell, too: it must survive them without making the program ignore them
            f.write(f"trap : INT QUIT\nstty -a >{self.directory}/before\n"
                    f"echo $$ >{self.directory}/shell\n"
                    f"env -i {assignments} {command} 2>{self.directory}/stderr\n"
                    f"echo $? >{self.directory}/status.new\n"
                    f"stty -a >{self.directory}/after\n"
                    f"mv {self.directory}/status.new {self.directory}/status\n"
                    "echo ENDED\n"
                    "exec sleep 1000\n")
        w, h = size
        atexit.register(self.__exit__)
        self.tmux("new-session", "-d", "-x", str(w), "-y", str(h), f"exec sh {script}")
        if ready:
            self.wait(ready)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        atexit.unregister(self.__exit__)
        # also end the program, if it is still running: cleanly, so that it writes its counters and frees its memory
        if os.path.exists(self.path("shell")) and not self.has_ended():
            self.signal("TERM", missing_ok=True)
            until = time.monotonic() + 5
            while not self.has_ended() and time.monotonic() < until:
                time.sleep(0.02)
            if not self.has_ended():
                self.signal("KILL", missing_ok=True)
        subprocess.run(self.tmux_command("kill-server"), env=self.tmux_environment(), stderr=subprocess.DEVNULL,
                       check=False)
        shutil.rmtree(self.directory, ignore_errors=True)

    def has_ended(self):
        return os.path.exists(self.path("status"))

    def path(self, name):
        return os.path.join(self.directory, name)

    def tmux_command(self, *args):
        return ["tmux", "-u", "-L", self.socket, "-f", "/dev/null", *args]

    def tmux_environment(self):
        return {"PATH": os.environ["PATH"], "HOME": self.directory, "LC_ALL": "C.UTF-8", "TZ": "UTC",
                "TERM": "tmux-256color", "TMUX_TMPDIR": self.directory}

    def tmux(self, *args):
        return subprocess.run(self.tmux_command(*args), check=True, env=self.tmux_environment(),
                              stdout=subprocess.PIPE, text=True).stdout

    # keys

    def keys(self, *keys):
        """Types keys as tmux names them: "q", "Down", "C-Left", "F5"."""
        for key in keys:
            self.tmux("send-keys", "--", key)
        return self

    def keys_at_once(self, *keys):
        """The same in one request, so that the program finds all of them pending."""
        self.tmux("send-keys", "--", *keys)
        return self

    def keys_pending(self, *keys):
        """The same while the program is stopped: however slowly they arrive, it handles none before all are there."""
        self.signal("STOP")
        self.keys_at_once(*keys)
        self.caret()  # tmux answers after it has passed them on
        self.signal("CONT")
        return self

    def text(self, text):
        self.tmux("send-keys", "-l", "--", text)
        return self

    def send(self, data):
        """Sends bytes, or text as UTF-8, as a terminal might, whatever keys they are."""
        self.tmux("send-keys", "-H", *(f"{byte:02x}" for byte in (data.encode() if isinstance(data, str) else data)))
        return self

    def sync(self):
        """Waits until all keys typed before have been handled; returns the screen without its last row."""
        # alternate between two keys, so that the previous call's answer is not mistaken for this one's
        self.turn = "Y" if self.turn == "Z" else "Z"
        self.keys(self.turn)
        self.wait(f"{self.turn} does nothing here;")
        return self.screen()[:-1]

    def press(self, *keys):
        """Types keys and returns the resulting screen; see sync()."""
        self.keys(*keys)
        return self.sync()

    def choose(self, key, title, item):
        """Opens a menu with a key, and chooses the first item that contains the pattern."""
        self.keys(key)
        self.wait(title)
        self.keys("Home")
        items, ends = [], 0
        while True:
            page = [line.split("│")[1] for line in self.sync() if line.startswith("│")]
            new = page[page.index(items[-1]) + 1:] if items and items[-1] in page else page
            ends = 0 if new else ends + 1
            if ends > 1:  # the first PgDn goes to the end of what is shown
                raise Failed(f"no {item} in {items}")
            items += new
            number = next((i for i, line in enumerate(items) if re.search(item, line)), None)
            if number is not None:
                break
            self.keys("PgDn")
        self.keys("Home", *["Down"] * number, "Enter")

    def written(self, path):
        """What key x writes of the list that is shown, to a file of that name."""
        self.keys("x")
        self.wait("^Write to")
        self.keys("C-u").text(path).keys("Enter")
        self.wait("written")
        with open(path) as f:
            return json.load(f)

    def write_behind(self, text):
        """Writes to the terminal, without the program's knowledge."""
        tty = self.tmux("display-message", "-p", "#{pane_tty}").strip()
        with open(tty, "w") as f:
            f.write(text)

    def resize(self, w, h):
        self.tmux("resize-window", "-x", str(w), "-y", str(h))

    # the screen

    def screen(self, styles=False):
        text = self.tmux("capture-pane", "-p", *(["-e"] if styles else []))
        lines = [line.rstrip() for line in text.split("\n")]
        return lines[:-1]

    def caret(self):
        """The column of the terminal's cursor, from 0."""
        return int(self.tmux("display-message", "-p", "#{cursor_x}"))

    def wait(self, pattern, seconds=None):
        """Waits until the screen contains the pattern; returns the match."""
        return self.wait_for(lambda text: re.search(pattern, text, re.M), f"/{pattern}/", seconds)

    def wait_gone(self, pattern):
        return self.wait_for(lambda text: not re.search(pattern, text, re.M), f"no /{pattern}/")

    def wait_for(self, condition, what, seconds=None):
        until = time.monotonic() + (seconds or PATIENCE)
        while True:
            text = "\n".join(self.screen())
            result = condition(text)
            if result:
                return result
            if time.monotonic() > until:
                raise Failed(f"waited for {what}, the screen is\n{text}\nstderr: {self.stderr()}")
            time.sleep(0.02)

    def wait_read(self):
        """Waits until the whole recording has been read and is shown on the hosts' final clocks: the
        timeline is full, and the first line does not say otherwise."""
        self.wait_for(lambda text: not re.search(r"^ WAITING|reading (\d+%|the first)|[·.]{2} (\d\d-\d\d )?\d\d:\d\d:\d\d$", text,
                                                 re.M) and not re.search("^(?! LIVE).*(clocks|±|~)", text),
                      "the end of reading")
        return self

    # its end

    def signal(self, name, missing_ok=False):
        """Sends a signal to the program."""
        with open(self.path("shell")) as f:
            shell = f.read().strip()
        found = subprocess.run(["pgrep", "-P", shell], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
        if not found and not missing_ok:
            raise Failed("the program is not running")
        for pid in found:
            subprocess.run(["kill", "-" + name, pid], check=False, stderr=subprocess.DEVNULL)

    def wait_program(self):
        """Waits for the program to start; returns its pid."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self.program_pid()
            except (OSError, ValueError, IndexError, subprocess.CalledProcessError):
                if time.monotonic() > until:
                    raise Failed("the program does not start") from None
            time.sleep(0.02)

    def program_pid(self):
        with open(self.path("shell")) as f:
            shell = f.read().strip()
        return int(subprocess.run(["pgrep", "-P", shell], stdout=subprocess.PIPE, text=True,
                                  check=True).stdout.split()[0])

    def status(self):
        """Waits for the program to end; returns its exit status."""
        until = time.monotonic() + PATIENCE
        while not os.path.exists(self.path("status")):
            if time.monotonic() > until:
                raise Failed("the program does not end")
            time.sleep(0.02)
        with open(self.path("status")) as f:
            return int(f.read())

    def stderr(self):
        try:
            with open(self.path("stderr"), errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def modes_restored(self):
        """Whether the terminal's modes are the same as before the start. To be called after status()."""
        with open(self.path("before")) as a, open(self.path("after")) as b:
            return a.read() == b.read()


class Checks:
    """Counts the checks of a script and prints a line for each."""

    def __init__(self):
        self.failed = 0

    def check(self, name, condition, detail=""):
        if condition:
            print(f"ok {name}", flush=True)
        else:
            self.failed += 1
            print(f"not ok {name}", flush=True)
            if detail:
                print("\n".join("  " + line for line in str(detail).split("\n")), flush=True)

    def equal(self, name, got, wanted):
        self.check(name, got == wanted, f"got    {got!r}\nwanted {wanted!r}")

    def contains(self, name, screen, pattern):
        text = "\n".join(screen)
        self.check(name, re.search(pattern, text, re.M), f"no /{pattern}/ in\n{text}")

    def lacks(self, name, screen, pattern):
        text = "\n".join(screen)
        self.check(name, not re.search(pattern, text, re.M), f"/{pattern}/ in\n{text}")

    def expected(self, name, screen):
        """Compares with expected/NAME.txt; UPDATE=1 writes that file instead."""
        path = os.path.join(EXPECTED, name + ".txt")
        text = "\n".join(screen) + "\n"
        if os.environ.get("UPDATE"):
            with open(path, "w") as f:
                f.write(text)
        with open(path) as f:
            wanted = f.read()
        detail = []
        if wanted != text:
            for i, (a, b) in enumerate(zip(wanted.split("\n"), text.split("\n"))):
                if a != b:
                    detail += [f"row {i}", f"- {a}", f"+ {b}"]
        self.check(f"screen {name}", wanted == text, "\n".join(detail))

    def run(self, *tests):
        """Runs functions, passing these checks to each; ends the script."""
        chosen = [t for t in tests if len(sys.argv) < 2 or t.__name__ in sys.argv[1:]]
        for test in chosen:
            try:
                test(self)
            except Failed as error:
                self.check(test.__name__, False, error)
        sys.exit(1 if self.failed else 0)
