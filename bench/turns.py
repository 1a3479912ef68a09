"""The programs of a group, which take turns: one measures while the others wait."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

TURN_SECONDS = 300  # for one row; compiling a GPT takes torch.compile minutes
PAUSE_SECONDS = 0.05  # until the threads of the one before have gone to sleep


class Failure(Exception):
    pass


class Program:
    """One run of a program. Ours find the package of the build tree, peers do not. `peer`: whose rows those of another checkout are."""

    def __init__(self, command, root, peer=None):
        self.name, self.ended, self._late = next((word for word in reversed(command) if "/bench" in word), command[-1]), False, False
        self._command, self._root, self._peer, self._process = command, root, peer, None
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")

    def turn(self):
        """What it printed until it had a row, or ended, as a list of objects."""
        timer = threading.Timer(TURN_SECONDS, self._give_up)
        try:
            if self._process:
                self._process.stdin.write("\n")
                self._process.stdin.flush()
            else:
                self._start()
            timer.start()
            lines = []
            for line in self._process.stdout:
                if line == "turn\n":
                    break
                lines += [json.loads(line)] if line.startswith("{") else []
            else:
                self._end()
            return lines if not self._peer else [{**line, "peer": self._peer} for line in lines if not line.get("limit")]
        except (OSError, json.JSONDecodeError) as error:
            raise Failure(f"{self.name}: {error}") from error
        finally:
            timer.cancel()

    def kill(self):
        if self._process:
            self._process.kill()
            self._process.wait()

    def _give_up(self):
        self._late = True
        self._process.kill()

    def _start(self):
        places = [str(self._root / "bench")]
        if "/bench/groups/" in self.name:
            places.append(str(self._root / "build/release/python"))
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.pathsep.join(places), "THUNDER_BENCH_TURNS": "1",
                       "THUNDER_BENCH_LIMITS": str(self._root / "build/release/bin/bench_limits")}
        self._process = subprocess.Popen(self._command, cwd=self._root, env=environment, text=True, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=self._errors)

    def _end(self):
        self.ended, code = True, self._process.wait()
        if code == 0:
            return
        if self._late:
            raise Failure(f"{self.name}: no row within {TURN_SECONDS} seconds")
        self._errors.seek(0)
        errors = self._errors.read()
        lacks = re.search(r"No module named '(\w+)'", errors) if "/bench/peers/" in self.name else None
        if not lacks:
            raise Failure(f"{self.name}: exit {code}\n{errors[-2000:]}")
        print(f"{pathlib.Path(self.name).name} is left out: there is no {lacks[1]}; bench/setup-peers installs it", file=sys.stderr)


def take_turns(programs, seen=None):
    """All lines of all programs, each of which has a row a turn until all have ended. seen(lines) is told those of each turn."""
    lines = []
    try:
        while waiting := [program for program in programs if not program.ended]:
            for program in waiting:
                found = program.turn()
                if seen:
                    seen(found)
                lines += found
                time.sleep(PAUSE_SECONDS)
    finally:
        for program in programs:
            program.kill()
    return lines
