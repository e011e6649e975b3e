#!/usr/bin/env bash
# What action.yml runs. The inputs are in the environment. It has to run with bash 3.2, which macOS has.
set -euo pipefail

version=$GRAMC_VERSION
if [[ -n $version ]] || ! command -v gramc >/dev/null; then
    if [[ -z $version ]]; then
        version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$GITHUB_ACTION_PATH/Cargo.toml")
    fi
    pipx install --force "gramc==$version"
fi

set --
while IFS= read -r path; do
    [[ -z $path ]] || set -- "$@" "$path"
done <<<"$GRAMC_PATHS"

status=0
if [[ -n $GRAMC_DIFF ]]; then
    allow=${GRAMC_ALLOW:+--allow=$GRAMC_ALLOW}
    # Without paths, the project around the current folder.
    for path in "${@:-.}"; do
        if [[ -e $path ]] && git cat-file -e "$GRAMC_DIFF^{tree}" 2>/dev/null &&
            ! git cat-file -e "$GRAMC_DIFF:./${path%/}" 2>/dev/null &&
            ! git cat-file -e "$GRAMC_DIFF:${path%/}" 2>/dev/null; then
            echo "::notice title=gramc diff::$path is not in $GRAMC_DIFF, so there is nothing to compare it with"
            continue
        fi
        gramc diff "$GRAMC_DIFF:$path" "$path" --format github ${allow:+"$allow"} || status=1
    done
fi
if [[ $GRAMC_FMT == true ]]; then
    gramc fmt --check --format github "$@" || status=1
fi
if [[ $GRAMC_CHECK == true ]]; then
    for lint in $GRAMC_DENY; do
        set -- --deny "$lint" "$@"
    done
    gramc check --format github "$@" || status=1
fi
exit "$status"
