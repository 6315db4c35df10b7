# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# ./dev docs: the documentation site.

command_docs() {
    local out=$DEV/docs
    lib_environment
    once "$out/venv.stamp" "$(hash_of requirements/docs.txt)-$("$PYTHON" -VV)" "docs: environment from PyPI" \
        "check the network and PyPI access, then run again" venv "$out/venv" '' requirements/docs.txt
    must "docs: sphinx" "mend each warning above" docs_build "$out"
    say "   $out/html/index.html"
}

# docs_build FOLDER: a warning is an error. The docstrings are those of the installed package.
docs_build() {
    local site
    site=$("$DEV/lib/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    PYTHONSAFEPATH=1 PYTHONPATH=$site "$1/venv/bin/python" -m sphinx --fail-on-warning --keep-going --fresh-env --quiet \
        --builder html --doctree-dir "$1/doctrees" docs "$1/html"
}
