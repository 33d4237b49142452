# What the scripts share; sourced, not run.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
page=$root/crates/sarrus-view/page

say() { printf '%s\n' "$*" >&2; }

# Chromium, by CHROMIUM or where Debian puts it.
need_chromium() {
    local found=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
    if [[ -z $found && $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        say "installing chromium"
        (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium) >/dev/null
        found=$(command -v chromium || true)
    fi
    if [[ -z $found ]]; then
        say "there is no chromium: apt-get install chromium, or name one in CHROMIUM"
        exit 1
    fi
    export CHROMIUM=$found
}

# Valgrind, installed where Debian has it and that is allowed; whether it is there.
need_valgrind() {
    if ! command -v valgrind >/dev/null && [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        say "installing valgrind"
        # libc6-dbg: valgrind starts no program without the symbols of the loader
        (apt-get update -qq && apt-get install -y -qq --no-install-recommends valgrind libc6-dbg) >/dev/null || true
    fi
    command -v valgrind >/dev/null
}

# What the page's tests are made of, into page/node_modules, once.
need_npm() {
    command -v npm >/dev/null || { say "there is no npm: apt-get install nodejs npm"; exit 1; }
    [[ -e $page/node_modules/.package-lock.json ]] || (cd "$page" && npm ci --no-audit --no-fund)
}

# The program, by SARRUS_BIN or built here.
need_sarrus() {
    if [[ -z ${SARRUS_BIN:-} ]]; then
        (cd "$root" && cargo build --release -p sarrus-cli)
        SARRUS_BIN=${CARGO_TARGET_DIR:-$root/target}/release/sarrus
    fi
    export SARRUS_BIN
}
