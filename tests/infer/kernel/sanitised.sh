#!/usr/bin/env bash
# The tests of the kernel under a build of it that ends the process at an access out of bounds (AddressSanitizer, whose
# library is gcc's) or at undefined behaviour (a trap). The compiler is the wheel that builds the kernel.
#   bash tests/infer/kernel/sanitised.sh .venv
set -euo pipefail
venv=$(cd "${1:-.venv}" && pwd)
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r src models "$folder/"
kernel="$folder/src/voirdire/infer/kernel"
compiler=$(sed -n 's/^COMPILER = "\(.*\)"$/\1/p' hatch_build.py)
"$venv/bin/python" -m pip install --quiet --target "$folder/zig" "$compiler"
export ZIG_GLOBAL_CACHE_DIR="$folder/cache" ZIG_LOCAL_CACHE_DIR="$folder/cache"
objects=()
for source in kernel coordinates path rescale; do
    PYTHONPATH="$folder/zig" "$venv/bin/python" -m ziglang cc -c -g -O1 -fPIC -fno-builtin -fsanitize=undefined \
        -fsanitize-trap=undefined -Xclang -fsanitize=address -mcpu=x86_64_v3 -target x86_64-linux-gnu.2.17 \
        -o "$folder/$source.o" "$kernel/$source.c"
    objects+=("$folder/$source.o")
done
rm -f "$kernel"/built/*
gcc -shared -fsanitize=address -o "$kernel/built/linux-x86_64-v2.so" "${objects[@]}" -lm
LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONPATH="$folder/src" OMP_NUM_THREADS=1 \
    "$venv/bin/python" -m pytest tests/infer/kernel -q --capture=sys -p no:xdist -p no:cacheprovider
