# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev docs: the documentation site.

command_docs() {
    local out=$DEV/docs
    lib_tests
    environment docs "$out/venv" requirements/docs.txt
    packages 'command -v doxygen' doxygen
    must "docs: doxygen" "mend each error above" docs_headers "$out"
    must "docs: sphinx" "mend each warning above" docs_build "$out"
    say "   $out/html/index.html"
}

# docs_headers FOLDER: what the reference of C++ is made from.
docs_headers() {
    { cat docs/Doxyfile && printf 'OUTPUT_DIRECTORY = %s\n' "$1/doxygen"; } | doxygen -
}

# docs_build FOLDER: a warning is an error. The docstrings are those of the installed package.
docs_build() {
    PYTHONSAFEPATH=1 PYTHONPATH=$(site_of "$DEV/lib/venv/bin/python") "$1/venv/bin/python" -m sphinx --fail-on-warning --keep-going --fresh-env --quiet \
        --builder html --doctree-dir "$1/doctrees" docs "$1/html"
}
