#!/usr/bin/env bash
# Builds the documentation as a site in build/site, with search; a broken link is an error.
# usage: scripts/site.sh [--serve]
#   --serve  also show it at http://127.0.0.1:8000
# Needs Python 3.9 with venv, and PyPI or a mirror of it the first time (exit code 3 when they are not there); with doxygen, the
# reference of the C++ headers is part of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
serve=0
case "${1:-}" in
  "") ;;
  --serve) serve=1 ;;
  *) sed -n '2,6s/^# //p' "$0"; exit 2 ;;
esac

tools=build/site-tools
wanted=(mkdocs==1.6.1 'mkdocs-material>=9.5,<10' mdx-truly-sane-lists latex2mathml)
if [[ $(cat "$tools/wanted" 2> /dev/null) != "${wanted[*]}" ]]; then
  mkdir -p build
  if ! { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --disable-pip-version-check "${wanted[@]}"; } 2> build/site-tools.log; then
    echo "site.sh: cannot install MkDocs (build/site-tools.log): it needs python3-venv and PyPI" >&2
    exit 3
  fi
  echo "${wanted[*]}" > "$tools/wanted"
fi

# The pages keep their places, so that links between them hold on the site as in the repository.
pages=build/site-pages
rm -rf "$pages" build/site
mkdir -p "$pages"
tar -c --exclude='__pycache__' --exclude='*.py' --exclude='*.msh' README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff LICENSE docs examples papers python/README.md |
  tar -x -C "$pages"

if command -v doxygen > /dev/null; then
  doxygen - > build/site-doxygen.log 2>&1 <<DOXYGEN
PROJECT_NAME = tutti
PROJECT_BRIEF = "C++ headers"
INPUT = tutti
RECURSIVE = YES
FILE_PATTERNS = *.hpp
EXTRACT_ALL = YES
GENERATE_LATEX = NO
HAVE_DOT = NO
QUIET = YES
WARNINGS = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = TUTTI_HD=
GENERATE_TREEVIEW = YES
VERBATIM_HEADERS = NO
STRIP_FROM_PATH = .
OUTPUT_DIRECTORY = $pages
HTML_OUTPUT = cpp
DOXYGEN
  settings=mkdocs.yml
else
  echo "site.sh: no doxygen, so the site has no reference of the C++ headers"
  settings=build/site.yml
  sed -e '/cpp\/index.html/d' -e 's|build/site|site|; s|scripts/site_hooks|../scripts/site_hooks|' mkdocs.yml > "$settings"
fi

export NO_MKDOCS_2_WARNING=1
if ! "$tools/bin/mkdocs" build --strict --config-file "$settings" > build/site.log 2>&1; then
  grep -E '^(WARNING|ERROR|Aborted)|Error' build/site.log >&2 || cat build/site.log >&2
  exit 1
fi
echo "site.sh: build/site/index.html, $(find build/site -name '*.html' -not -path '*/cpp/*' | wc -l) pages"
if ((serve)); then "$tools/bin/mkdocs" serve --config-file "$settings"; fi
