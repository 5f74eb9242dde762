#!/usr/bin/env bash
# Everything that wants a GPU, in one go and without a network, from build/gpu-kit (see prepare.py): the GPU tests, the
# sample, the benchmarks of start and launch, what ulps.py judges. Results go to $OUT, or to build/gpu-results. Under nine minutes.
#
#   PYTHON=python3.12 benchmarks/on_gpu.sh [arguments for pytest]
set -uo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
OUT=${OUT:-$PWD/build/gpu-results}
KIT=$PWD/build/gpu-kit
RUN=$(mktemp -d)
trap 'rm -rf "$RUN"' EXIT
mkdir -p "$OUT"
failed=()

step() { # name, command: runs it, keeps its output, notes its failure
    local name=$1 start=$SECONDS
    shift
    echo "=== $name"
    "$@" 2>&1 | tee "$OUT/$name.txt"
    local status=${PIPESTATUS[0]}
    echo "--- $name: status $status, $((SECONDS - start)) s"
    [ "$status" = 0 ] || failed+=("$name")
}

[ -d "$KIT/wheels" ] || { echo "no $KIT: run benchmarks/prepare.py where there is a network" >&2; exit 2; }
export KBUILD_SITE=$RUN/site KBUILD_KIT=$KIT KBUILD_PLAIN=$KIT/c/plain KBUILD_BENCH_RESULTS=$OUT
export KBUILD_BENCH_COMMIT=$(cat "$KIT/commit")
for wheel in "$KIT"/wheels/*.whl; do "$PYTHON" -m zipfile -e "$wheel" "$KBUILD_SITE"; done
"$PYTHON" -m compileall -q "$KBUILD_SITE"

# The tests meet the unpacked wheels: a checkout without kbuild's sources.
mkdir -p "$RUN/checkout/tests"
cp pyproject.toml "$RUN/checkout"
cp -r tests/conftest.py tests/gpu tests/helpers "$RUN/checkout/tests"

no_jit=(env CUDA_DISABLE_PTX_JIT=1 CUDA_CACHE_DISABLE=1)
sample="import runpy, sys; sys.path[:0] = ['$KBUILD_SITE']; runpy.run_module('robosim', run_name='__main__')"

run_tests() { # plugins that happen to be installed could warn, and a warning is an error
    cd "$RUN/checkout" || return
    PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH=$KBUILD_SITE timeout 260 "${no_jit[@]}" "$PYTHON" -m pytest tests/gpu \
        -m gpu -o minversion=6.0 -p no:cacheprovider --tb=short --durations=10 -q "$@"
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm --format=csv 2>/dev/null | tee "$OUT/machine.txt"
step robosim timeout 60 "${no_jit[@]}" "$PYTHON" -I -S -c "$sample"
step start timeout 120 "${no_jit[@]}" "$PYTHON" benchmarks/start.py
step launch timeout 60 "${no_jit[@]}" "$PYTHON" benchmarks/launch.py
step primitives timeout 100 "${no_jit[@]}" "$PYTHON" benchmarks/primitives.py
step ulps timeout 120 "${no_jit[@]}" "$PYTHON" benchmarks/ulps.py run "$OUT"
step tests run_tests "$@"
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]}"
    exit 1
fi
echo "all done in $SECONDS s"
