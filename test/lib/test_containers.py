# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""docker/: the paths and names in its files are those of the package.

No container is built or started here.
"""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
TEXTS = [(DOCKER / name).read_text() for name in ("Dockerfile", "compose.yaml")]
INSTALLED = "/opt/gjk_collision"


@pytest.mark.parametrize("text", TEXTS, ids=["Dockerfile", "compose.yaml"])
def test_installed_files_exist(text: str) -> None:
    """The folders are those of CMakeLists.txt: share/ has config, lib/ has the scripts."""
    paths = re.findall(rf"{INSTALLED}/([\w./]+)", text)
    assert paths
    for path in paths:
        source = path.replace("share/gjk_collision/", "").replace("lib/gjk_collision/", "scripts/")
        assert (ROOT / source).is_file() or path == "setup.bash", path


def test_the_health_check_reads_the_heartbeat() -> None:
    found = re.search(r'"/collision_server/(\w+)", "gjk_collision/msg/(\w+)"', TEXTS[0])
    assert found is not None
    assert (ROOT / f"msg/{found.group(2)}.msg").is_file()
    node = (ROOT / "gjk_collision/ros/node.py").read_text()
    assert re.search(rf'{found.group(2)}, "~/{found.group(1)}"', node)


def test_what_is_built_and_installed_is_in_the_context() -> None:
    """A folder that CMakeLists.txt installs must not be left out of the image."""
    kept = set(re.findall(r"^!(.+)$", (DOCKER / "Dockerfile.dockerignore").read_text(), re.M))
    assert all((ROOT / name).exists() for name in kept)
    cmake = re.sub(r"#.*|\"[^\"]*\"", "", (ROOT / "CMakeLists.txt").read_text())
    needed = {name for name in re.findall(r"[\w.]+", cmake) if (ROOT / name).exists()}
    assert needed - {"test"} <= kept  # the tests are not built
    assert {"msg", "srv", "scripts", "config", "launch", "src_cpp"} <= needed


def test_services_of_compose() -> None:
    services = yaml.safe_load(TEXTS[1])["services"]
    stages = re.findall(r"^FROM .* AS (\w+)$", TEXTS[0], re.M)
    for service in services.values():
        build = service["build"]
        assert (DOCKER / build["context"] / build["dockerfile"]).is_file()
        assert build["target"] in stages
    assert set(services) == {"server", "player", "bridge"}
