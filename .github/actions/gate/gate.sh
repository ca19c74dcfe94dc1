#!/usr/bin/env bash
# Runs voirdire gate with the inputs of the action (GATE_...), shows the verdict in the job's summary, and ends with 0, 4
# or 5 as the gate does (an inconclusive one with 0 where that is to pass).
set -euo pipefail

case "$GATE_INCONCLUSIVE" in
    fail | pass) ;;
    *)
        echo "inconclusive: '$GATE_INCONCLUSIVE' is neither fail nor pass" >&2
        exit 1
        ;;
esac

case "$GATE_INSTALL" in
    none) ;;
    source) python -m pip install --quiet "$(cd "$(dirname "$0")/../../.." && pwd)" ;;
    *) python -m pip install --quiet -- "$GATE_INSTALL" ;;
esac

folder="$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/voirdire-gate.XXXXXX")"
arguments=(--margin="$GATE_MARGIN" --items="$GATE_ITEMS" --json --overwrite --markdown="$folder/gate.md")
[ -z "$GATE_NEW_NAME" ] || arguments+=(--new="$GATE_NEW_NAME")
[ -z "$GATE_OLD_NAME" ] || arguments+=(--old="$GATE_OLD_NAME")
[ -z "$GATE_HUMANS" ] || arguments+=(--humans="$GATE_HUMANS")
[ -z "$GATE_BADGE" ] || arguments+=(--badge="$GATE_BADGE")
while IFS= read -r word; do
    [ -z "$word" ] || arguments+=("$word")
done <<< "$GATE_OPTIONS"
tables=("$GATE_NEW")
[ -z "$GATE_OLD" ] || tables+=("$GATE_OLD")

code=0
python -m voirdire gate "${arguments[@]}" -- "${tables[@]}" > "$folder/gate.json" || code=$?
case "$code" in
    0) verdict=pass ;;
    4) verdict=fail ;;
    5) verdict=inconclusive ;;
    *) exit "$code" ;;
esac

cat "$folder/gate.md" >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
{
    echo "verdict=$verdict"
    echo "json=$folder/gate.json"
    echo "markdown=$folder/gate.md"
} >> "${GITHUB_OUTPUT:-/dev/stdout}"

echo "voirdire gate: $verdict"
if [ "$verdict" = inconclusive ] && [ "$GATE_INCONCLUSIVE" = pass ]; then
    exit 0
fi
exit "$code"
