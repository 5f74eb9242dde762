#!/usr/bin/env bash
# Everything that wants a GPU, in one go and without a network, from build/gpu-kit (see prepare.py): the GPU tests, the
# sample, the benchmarks of start, launch, step, fast, memory and gradients, what ulps.py judges. Results go to $OUT, or
# to build/gpu-results. STEPS chooses among them; what is not done after nine minutes is cut off. KBUILD_PEERS is a
# folder with packages to measure beside kbuild that are not installed (see parts.py).
#
#   [STEPS="launch step"] [KBUILD_PEERS=/tmp/peers] PYTHON=python3.12 benchmarks/on_gpu.sh [arguments for pytest]
set -uo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
OUT=${OUT:-$PWD/build/gpu-results}
STEPS=${STEPS:-robosim start launch step fast memory primitives gradients learn ulps cuda agreement adjoints tests}
KIT=$PWD/build/gpu-kit
RUN=$(mktemp -d)
trap 'rm -rf "$RUN"' EXIT
mkdir -p "$OUT"
failed=()

step() { # name, command: runs it, keeps its output, notes its failure
    local name=$1 start=$SECONDS
    shift
    [[ " $STEPS " == *" $name "* ]] || return 0
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

limit() { # seconds: these, or what is left of nine minutes
    local left=$((535 - SECONDS))
    echo $((left < 1 ? 1 : left < $1 ? left : $1))
}

no_jit=(env CUDA_DISABLE_PTX_JIT=1 CUDA_CACHE_DISABLE=1)
sample="import runpy, sys; sys.path[:0] = ['$KBUILD_SITE']; runpy.run_module('robosim', run_name='__main__')"
learn="import sys; sys.path[:0] = ['$KBUILD_SITE']; from robosim import learn; sys.exit(learn.main(['--plot', '$OUT/loss.svg']))"

run_tests() { # plugins that happen to be installed could warn, and a warning is an error
    cd "$RUN/checkout" || return
    [ $# -gt 0 ] || set -- tests/gpu
    PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH=$KBUILD_SITE timeout "$(limit 260)" "${no_jit[@]}" "$PYTHON" -m pytest \
        -m gpu -o minversion=6.0 -p no:cacheprovider --tb=short --durations=10 -q "$@"
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm --format=csv 2>/dev/null | tee "$OUT/machine.txt"
step robosim timeout "$(limit 60)" "${no_jit[@]}" "$PYTHON" -I -S -c "$sample"
# Other packages may compile as they like: only what is ours does without.
step start timeout "$(limit 240)" "$PYTHON" benchmarks/start.py
step launch timeout "$(limit 120)" "$PYTHON" benchmarks/launch.py
step step timeout "$(limit 60)" "$PYTHON" benchmarks/step.py
step fast timeout "$(limit 240)" "$PYTHON" benchmarks/fast.py
step memory timeout "$(limit 60)" "$PYTHON" benchmarks/memory.py
step primitives timeout "$(limit 100)" "$PYTHON" benchmarks/primitives.py
step gradients timeout "$(limit 240)" "$PYTHON" benchmarks/gradients.py
step learn timeout "$(limit 120)" "${no_jit[@]}" "$PYTHON" -I -S -c "$learn"
step ulps timeout "$(limit 120)" "${no_jit[@]}" "$PYTHON" benchmarks/ulps.py run "$OUT"
[ ! -d "$KIT/cuda" ] || step cuda timeout "$(limit 60)" "${no_jit[@]}" "$PYTHON" benchmarks/cuda_files.py run "$KIT/cuda"
language="atomics blocks composites conversions flow functions generics rotations scalars shapes statics structs warp"
agree() { # every launch of the tests in the simulator too
    KBUILD_SHADOW=$RUN/shadow.json run_tests $(printf "tests/gpu/test_%s.py " $language) || return
    cd - >/dev/null && "$PYTHON" benchmarks/agreement.py "$RUN/shadow.json"
}
agree_backward() { # the adjoint of every kernel, on both
    local status=0
    KBUILD_SHADOW_ADJOINTS=$RUN/adjoints.json run_tests $(printf "tests/gpu/test_%s.py " $language gradients) || status=1
    cd - >/dev/null && "$PYTHON" benchmarks/agreement.py --adjoints "$RUN/adjoints.json" && return $status
}

step agreement agree
step adjoints agree_backward
step tests run_tests "$@"
if [ ${#failed[@]} -gt 0 ]; then
    echo "failed: ${failed[*]}"
    exit 1
fi
echo "all done in $SECONDS s"
