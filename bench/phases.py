#!/usr/bin/env python3
"""Instructions per body and step, by phase: the numbers of docs/costs.md.

    python3 bench/phases.py [--binary PATH] [--only NAME] [--functions]

Runs `sarrus run` with rk4, projection and a sample at each step under callgrind, some steps and twice as many; the difference is what the steps cost,
without loading, assembly and report. Nearly everything of a step is inlined into a few functions, so every instruction is
looked up with all functions that it was inlined from, and goes to the first phase that one of them belongs to. --functions lists what is behind
each phase. Needs valgrind and addr2line, and a release build, whose line tables it reads.
"""

import argparse
import collections
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# name: model, step [s], what is set, further arguments, steps; more than ten, as accelerations are looked at ten times in a run
CASES = [
    ("four-bar", "four_bar", 1e-4, {}, [], 100),
    ("N-four-bar, N = 4", "n_four_bar", 1e-3, {"n": 4}, [], 100),
    ("N-four-bar, N = 40", "n_four_bar", 1e-3, {"n": 40}, [], 20),
    ("Andrews' mechanism", "andrews", 1e-6, {}, [], 100),
    ("McPherson strut", "mcpherson", 1e-3, {}, [], 100),
    ("chain of 1000, poses", "chain", 2e-5, {"n": 1000}, [], 12),
    ("chain of 1000, joint coordinates", "chain", 2e-5, {"n": 1000}, ["--coordinates", "joint"], 12),
]

# Phases, and what belongs to them, as crate/file:function; the first that fits the innermost function, or the one that it is inlined into, and so on.
PHASES = [
    ("sines", r"sarrus-math/lane/(sin_cos|dispatch)"),
    ("places", r"tables/passes.rs:put|tables/solve.rs:place|tables/(planar|spatial).rs:(place|set_velocity)|tree/(plain|planar)/mod.rs:(place|turn)"),
    ("rows", r"tables/(passes|solve).rs:(evaluate|fill)"),
    ("S", r"tables/passes.rs:(diagonal|couple)"),
    ("factors", r"tables/factor.rs:factor"),
    ("solution", r"tables/factor.rs:(lower|upper|collect)|tables/passes.rs:(take|multiply|fall|exceed)|tables/(solve|engine|advance|strips|pattern).rs"),
    ("projection", r"onto_constraints"),
    ("recursions", r"sarrus-system/tree/"),
    ("integrator", r"sarrus-solve/(?!tables)"),
    ("general", r"sarrus-system/"),
    ("run", r"sarrus-(analysis|cli|view)/"),
]
COPIES = r"memcpy|memmove|memset|bcmp|memcmp|malloc|free\b|calloc|realloc"


def command(binary, model, step, given, more, steps):
    """A run of so many steps."""
    sets = [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
    run = [binary, "run", str(ROOT / "models" / f"{model}.toml"), "--certify", "basic", "--allow-uncertified", "--integrator", "rk4"]
    return run + ["--step", repr(step), "--every", repr(step), "--t-end", repr(step * steps), *sets, *more]


def profile(binary, run, folder):
    """Instructions of each address of the binary, of each function elsewhere, what function an address is in, and what the program printed."""
    out = Path(folder) / "callgrind.out"
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--demangle=no", f"--callgrind-out-file={out}", *run], capture_output=True, text=True, check=True
    )
    own, other, names = collections.Counter(), collections.Counter(), {}
    objects, functions = {}, {}
    object_, function, address, calls = "", "", 0, False

    def named(table, text):
        number, _, text = text.partition(" ")
        if text:
            table[number] = text
        return table[number]

    for line in out.read_text().splitlines():
        if line.startswith("ob="):
            object_ = named(objects, line[3:])
        elif line.startswith("fn="):
            function = named(functions, line[3:])
        elif line.startswith("cfn="):
            named(functions, line[4:])
        elif line.startswith("cob="):
            named(objects, line[4:])
        elif line.startswith("calls="):
            calls = True
        elif line and (line[0].isdigit() or line[0] in "+-*"):
            place, _, cost, *_ = line.split() + ["0"]
            if place[0] == "0":
                address = int(place, 16)
            elif place[0] in "+-":
                address += int(place)
            if calls:
                # what the line calls is counted where it is
                calls = False
            elif object_.endswith(Path(binary).name):
                own[address] += int(cost)
                names[address] = function
            else:
                other[function] += int(cost)
    return own, other, names, done.stdout


def frames(binary, addresses, bias):
    """All functions that each address was inlined from, the innermost first."""
    asked = "".join(f"{a - bias:#x}\n" for a in addresses)
    told = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", binary], input=asked, capture_output=True, text=True, check=True)
    found, current = [], None
    lines = told.stdout.splitlines()
    i = 0
    while i < len(lines):
        if re.fullmatch(r"0x[0-9a-f]{16}", lines[i]):
            current = []
            found.append(current)
            i += 1
        else:
            # <S as T>::f, a::b::f::<T>, f<T>, {closure#0}<T>
            name = re.sub(r"^<.*>::", "", lines[i])
            name = re.sub(r"(::)?<.*", "", name).split("::")[-1]
            file = re.search(r"crates/(sarrus[^/]*)/src/(.*\.rs)", lines[i + 1])
            current.append(f"{file[1]}/{file[2]}:{name}" if file else f"?:{name}")
            i += 2
    return dict(zip(addresses, found, strict=True))


def bias_of(binary, functions):
    """Where the binary was loaded: what most functions that were entered say, whose first instruction is where their symbol is."""
    symbols = {}
    for line in subprocess.run(["nm", binary], capture_output=True, text=True, check=True).stdout.splitlines():
        address, _, name = line.rpartition(" ")
        if address[:16].strip():
            symbols[name] = int(address[:16], 16)
    first = {}
    for address, function in functions.items():
        first[function] = min(address, first.get(function, address))
    found = collections.Counter(address - symbols[function] for function, address in first.items() if function in symbols)
    return found.most_common(1)[0][0]


def phase_of(stack):
    # projection is what it is, whatever it calls
    if any("onto_constraints" in function for function in stack):
        return "projection"
    for function in stack:
        for name, pattern in PHASES:
            if re.search(pattern, function):
                return name
    return "solution" if any("/tables/" in function for function in stack) else "rest"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=None)
    parser.add_argument("--only", default="")
    parser.add_argument("--functions", action="store_true")
    options = parser.parse_args()
    binary = options.binary
    if binary is None:
        subprocess.run(["cargo", "build", "--release", "-p", "sarrus-cli"], cwd=ROOT, check=True)
        binary = str(ROOT / "target/release/sarrus")
    names = [name for name, _ in PHASES] + ["copies", "rest"]
    print("| model | " + " | ".join(names) + " | all |")
    print("|---|" + "---|" * (len(names) + 1))
    for title, *case, steps in CASES:
        if options.only not in title:
            continue
        with tempfile.TemporaryDirectory() as folder:
            few, few_other, _, _ = profile(binary, command(binary, *case, steps), folder)
            own, other, functions, told = profile(binary, command(binary, *case, 2 * steps), folder)
        own.subtract(few)
        other.subtract(few_other)
        bodies = int(re.search(r"bodies +(\d+)", told)[1])
        addresses = [a for a, n in own.items() if n]
        stacks = frames(binary, addresses, bias_of(binary, functions))
        sums, behind = collections.Counter(), collections.defaultdict(collections.Counter)
        for a in addresses:
            phase = phase_of(stacks[a])
            sums[phase] += own[a]
            behind[phase][" < ".join([s for s in stacks[a] if s[0] != "?"][:3]) or "?"] += own[a]
        for function, n in other.items():
            phase = "sines" if "sincos" in function else "copies" if re.search(COPIES, function) else "rest"
            sums[phase] += n
            behind[phase][function] += n
        per = steps * bodies
        print(f"| {title} | " + " | ".join(f"{sums[n] / per:.0f}" for n in names) + f" | {sum(sums.values()) / per:.0f} |", flush=True)
        if options.functions:
            print(told)
            for phase in names:
                for function, n in behind[phase].most_common(12):
                    print(f"    {phase:12} {n / per:9.1f}  {function}")


if __name__ == "__main__":
    main()
