#!/usr/bin/env bash
# clang-format over every source of the tree, changing nothing. --fix rewrites the files instead.
# Without clang-format: skipped on a developer's machine, an error in CI.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=(--dry-run -Werror)
case "${1:-}" in
  "") ;;
  --fix) mode=(-i) ;;
  *) echo "usage: scripts/check_format.sh [--fix]" >&2; exit 2 ;;
esac

# Versions format differently; 14 is Debian 12's and the reference.
tool=$(command -v clang-format-14 || command -v clang-format || true)
if [[ -z $tool ]]; then
  echo "format: clang-format is not installed (scripts/install-dependencies.sh --dev)" >&2
  if [[ ${CI:-} == true ]]; then exit 3; fi
  exit 0
fi
version=$("$tool" --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
if [[ $version != 14 && ${CI:-} != true ]]; then
  echo "format: skipped, clang-format $version formats differently from the reference 14" >&2
  exit 0
fi

mapfile -d '' files < <(find tutti app tests bench examples -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 | sort -z)
if ((${#files[@]} == 0)); then
  echo "format: no sources found" >&2
  exit 1
fi
if ! messages=$("$tool" "${mode[@]}" "${files[@]}" 2>&1); then
  # One line a file is enough: the tool mends the rest.
  sed -n 's/^\([^ ]*:[0-9]*\):[0-9]*: error:.*/\1/p' <<<"$messages" | awk -F: '!seen[$1]++ {print $0 ": not as clang-format writes it"}'
  echo "format: mend with scripts/check_format.sh --fix"
  exit 1
fi
echo "format: ${#files[@]} files"
