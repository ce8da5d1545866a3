"""Strict settings for every test: no silent promotion, types checked at run time, warnings are errors."""

import importlib.metadata
import os
import pathlib
import random
import zlib

# Eight devices for the tests of sharding. Tests compile far more than they compute: skip what makes programs fast. The
# last flag is unknown to later versions of XLA, which stop the process at flags they do not know.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
    + (" --xla_cpu_use_fusion_emitters=false" if importlib.metadata.version("jaxlib").startswith("0.10.") else ""),
)

from jaxtyping import install_import_hook

with install_import_hook("plait", "beartype.beartype"):
    import plait  # noqa: F401

import jax
import jaxtyping
import pytest

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
cache = os.environ.get("JAX_COMPILATION_CACHE_DIR", str(pathlib.Path(__file__).parents[1] / ".cache" / "jax"))
jax.config.update("jax_compilation_cache_dir", cache)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.01)

SEED = int(os.environ.get("PLAIT_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
if "PYTEST_XDIST_TESTRUNUID" in os.environ and "PLAIT_TEST_SEED" not in os.environ:
    # All workers of one run share its seed.
    SEED = zlib.crc32(os.environ["PYTEST_XDIST_TESTRUNUID"].encode()) or 1


def pytest_report_header() -> str:
    return f"seed: {SEED} (repeat with PLAIT_TEST_SEED={SEED}), jax {jax.__version__}"


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A seed for this test, printed when it fails."""
    value = (SEED + zlib.crc32(request.node.nodeid.encode())) % 2**31
    print(f"seed {value} (run with PLAIT_TEST_SEED={SEED})")
    return value


@pytest.fixture
def key(seed: int) -> jax.Array:
    return jax.random.key(seed)


@pytest.fixture(scope="module", autouse=True)
def programs_of_one_file():
    """Compiled programs are dropped after each file: by the thousand they exhaust the memory maps of a process."""
    yield
    jax.clear_caches()


@pytest.fixture
def unchecked():
    """Annotations are not checked: a wrong argument reaches the library's own checks, as it does for users."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
