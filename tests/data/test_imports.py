"""`import plait` is light: what only some uses need is imported by them."""

import subprocess
import sys


def test_importing_the_data_package_imports_nothing_heavy():
    heavy = "('sklearn', 'pooch', 'matplotlib', 'rich', 'requests', 'scipy.io')"
    code = f"import sys, plait, plait.data, plait.metrics; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
