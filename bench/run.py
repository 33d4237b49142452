#!/usr/bin/env python3
"""Sarrus beside other simulators: processor time to reach an error, in one run on one machine.

    python3 bench/run.py [--quick] [--only chain nfourbar] [--sizes 10 100] [--programs sarrus exudyn] [--label NAME]

Creates `bench/.venv` with the pinned peers (`requirements.txt`), builds `cargo build --release`, runs the settings of `cases.py`
through `driver.py`, a process for each program and mechanism, measures the cheapest of each program once more, in turns, and writes
`runs/<date>-<label>/`: README.md (machine, versions, command), summary.md (tables), raw.csv (every setting) and a plot per mechanism.
Needs Python 3.10 or later and, the first time, a package index.
"""

import argparse
import csv
import datetime
import json
import os
import platform
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import summary
from cases import CASES, PROGRAMS, few

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MEMORY = 8 << 30  # [B]; a peer's constrained dynamics takes memory as N³
FIELDS = ["program", "problem", "n", "setting", "cpu_s", "wall_s", "error", "gap", "steps", "rhs", "iterations", "certified", "failure"]


def environment(folder):
    """The Python of the benchmark's environment, made on the first call."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"creating {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
    return python


def build():
    subprocess.run(["cargo", "build", "--release", "-p", "sarrus-cli"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "sarrus"


def limits():
    os.setsid()  # what a program starts ends with it
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Worker:
    """A process that runs one program on one mechanism; a setting that takes too long ends it, and the next one starts another."""

    def __init__(self, python, binary, timeout, program, case):
        self.timeout, self.program, self.case, self.process = timeout, program, case, None
        command = [python, HERE / "driver.py", program, case.problem, "--serve"] + (["--n", case.n] if case.n else [])
        self.command = [str(c) for c in command]
        self.env = dict(os.environ, SARRUS=str(binary), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", RAYON_NUM_THREADS="1")

    def start(self):
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=self.env, preexec_fn=limits)
        self.left = b""

    def stop(self):
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
            self.process = None

    def line(self, deadline):
        """The next answer; None when it takes too long, "" when the process ends."""
        while True:
            head, newline, rest = self.left.partition(b"\n")
            if newline:
                self.left = rest
                if head.startswith(b"@"):
                    return head[1:].decode()
                continue
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                return ""
            self.left += more

    def ask(self, setting, repeat, samples):
        if not self.process:
            self.start()
        request = dict(setting=setting, repeat=repeat, samples=samples)
        try:
            self.process.stdin.write((json.dumps(request) + "\n").encode())
            self.process.stdin.flush()
            line = self.line(time.monotonic() + self.timeout)
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        self.stop()
        if line is None:
            return dict(failure=f"more than {self.timeout:g} s")
        self.log.seek(0)
        return dict(failure=(self.log.read().strip().splitlines() or ["it ended"])[-1][:160])

    def measure(self, setting, repeat, samples):
        """A row of the results."""
        result = self.ask(setting, repeat, samples)
        if not result.get("failure") and result.get("error") is None:
            result["failure"] = "not finite"
        words = " ".join(f"{k}={v}" for k, v in setting.items())
        return dict(program=self.program, problem=self.case.problem, n=self.case.n or "", setting=words, **result)


def family(setting):
    return tuple((k, v) for k, v in setting.items() if k not in ("h", "rtol", "solref"))


def sweep(workers, case, repeat, quick):
    """Every setting; of settings that differ in step or tolerance alone, none after one that is far better than asked for, or too slow."""
    rows = []
    for program, worker in workers.items():
        settings = case.settings.get(program, [])
        settings = few(program, settings) if quick else settings
        finished = set()
        for setting in settings:
            if family(setting) in finished:
                continue
            row = worker.measure(setting, repeat if program != "sarrus" else 2 * repeat, 20)
            rows.append(row)
            failure = row.get("failure", "")
            outcome = failure or f"{row['cpu_s']:.4g} s, error {row['error']:.2g} m, gap {row.get('gap') or 0:.1e} m"
            print(f"{case.label}: {program} {row['setting']}: {outcome}", file=sys.stderr, flush=True)
            if failure.startswith("more than") or (not failure and row["error"] < min(case.targets) / 100):
                finished.add(family(setting))
    return rows


def once_more(workers, case, rows, rounds):
    """Measures the cheapest settings of each program again, in turns, so that a busy moment hits them alike; keeps the least times."""
    again = {}
    for target in case.targets:
        for program in {r["program"] for r in rows}:
            reached = [r for r in rows if r["program"] == program and not r.get("failure") and r["error"] <= target]
            for row in sorted(reached, key=lambda r: r["cpu_s"])[: 4 if program == "sarrus" else 2]:
                again[id(row)] = row
    for _ in range(rounds):
        for row in again.values():
            setting = dict(word.split("=", 1) for word in row["setting"].split())
            found = workers[row["program"]].measure(setting, 10 if row["program"] == "sarrus" else 2, 0)
            if not found.get("failure") and found["cpu_s"] < row["cpu_s"]:
                row.update(cpu_s=found["cpu_s"], wall_s=found["wall_s"])


def versions(python, binary):
    named = [line for line in (HERE / "requirements.txt").read_text().splitlines() if line and not line.startswith("#")]
    quiet = dict(capture_output=True, text=True)
    found = []
    if binary:
        found.append(subprocess.run([binary, "--version"], **quiet).stdout.strip())
    try:
        debian = subprocess.run(["dpkg-query", "-W", "-f", "libsimbody-dev==${Version}", "libsimbody-dev"], **quiet).stdout.strip()
    except OSError:
        debian = ""
    return ", ".join(found + named + ([debian] if debian else []))


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"True": True, "False": False}.get(text, text)


def kept(folder, cases):
    """Rows, mechanisms and commands of an earlier run into the folder, but for the mechanisms that are run now."""
    if not (folder / "raw.csv").exists():
        return [], [], []
    now = {(c.problem, c.n or "") for c in cases}
    with open(folder / "raw.csv", newline="") as text:
        rows = [{k: number(v) if k not in ("setting", "failure") else v for k, v in row.items()} for row in csv.DictReader(text)]
    rows = [{k: v for k, v in row.items() if v != "" or k == "n"} for row in rows if (row["problem"], row["n"]) not in now]
    there = {(row["problem"], row["n"]) for row in rows}
    lines = (folder / "README.md").read_text().splitlines()
    return rows, [c for c in CASES if (c.problem, c.n or "") in there], [line[3:-1] for line in lines if line.startswith("- `")]


def write(folder, rows, cases, programs, commands, installed, python):
    folder.mkdir(parents=True, exist_ok=True)
    order = [(c.problem, c.n or "") for c in CASES]
    rows = sorted(rows, key=lambda row: order.index((row["problem"], row["n"])))
    cases = sorted(cases, key=CASES.index)
    with open(folder / "raw.csv", "w", newline="") as text:
        writer = csv.DictWriter(text, FIELDS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "summary.md").write_text(summary.tables(rows, cases, programs))
    (folder / "README.md").write_text(
        f"# Benchmark of {datetime.date.today()}\n\n"
        f"On {processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}:\n\n"
        + "".join(f"- `{command}`\n" for command in commands) + "\n"
        f"Versions: {installed}.\n\n"
        "Seconds are processor time of the integration loop on one thread, the least of the repeats, for the cheapest setting tried "
        "that reached the error; \"-\" means that none did. Ratios compare programs on a mechanism, which was run by one command; below 1.3 they mean nothing.\n"
    )
    subprocess.run([python, HERE / "plots.py", folder], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few settings a program, small mechanisms, one repeat: minutes")
    parser.add_argument("--only", nargs="+", metavar="PROBLEM", help="problems to run")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="sizes to run, of problems that have one")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=PROGRAMS)
    parser.add_argument("--label", default=f"{platform.machine()}-{os.cpu_count()}cores", help="names the machine in the results")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3, help="times that the cheapest settings are measured again, in turns")
    parser.add_argument("--timeout", type=float, default=180, help="seconds for one setting, its repeats included")
    parser.add_argument("--venv", type=Path, default=HERE / ".venv")
    parser.add_argument("--binary", type=Path, help="a built sarrus; without it the workspace is built")
    parser.add_argument("--out", type=Path, help="folder for the results")
    parser.add_argument("--keep", action="store_true", help="keep what the folder has of other mechanisms")
    args = parser.parse_args()

    python = environment(args.venv)
    binary = (args.binary or build()) if "sarrus" in args.programs else None
    cases = [c for c in CASES if (not args.only or c.problem in args.only) and (not args.sizes or c.n is None or c.n in args.sizes)]
    if args.quick:
        cases = [c for c in cases if c.quick]
        args.repeat = args.rounds = 1
        args.timeout = min(args.timeout, 20)
    folder = args.out or HERE / "runs" / f"{datetime.date.today()}-{args.label}"
    hidden = {"--binary", "--venv", "--out"}
    words = [w for i, w in enumerate(sys.argv[1:], 1) if w not in hidden and sys.argv[i - 1] not in hidden]
    command = " ".join(["python3 bench/run.py", *words])
    installed = versions(python, binary)

    rows, done, commands = kept(folder, cases) if args.keep else ([], [], [])
    commands.append(command)
    begin = time.monotonic()
    for case in cases:
        workers = {p: Worker(python, binary, args.timeout, p, case) for p in args.programs}
        try:
            found = sweep(workers, case, args.repeat, args.quick)
            once_more(workers, case, found, args.rounds)
        finally:
            for worker in workers.values():
                worker.stop()
        rows += found
        done.append(case)
        write(folder, rows, done, PROGRAMS if args.keep else args.programs, commands, installed, python)
        print(summary.tables(found, [case], args.programs), f"{time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    print((folder / "summary.md").read_text())


if __name__ == "__main__":
    main()
