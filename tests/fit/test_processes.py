"""Two processes that share each batch train the model that one trains, and their checkpoints are its checkpoints."""

import socket
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np

import plait

PROCESS = """
import importlib.util, os, sys
shared_path, port, process, folder = sys.argv[1:]
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
jax.distributed.initialize(f"localhost:{port}", num_processes=2, process_id=int(process))
import numpy as np
import plait
spec = importlib.util.spec_from_file_location("shared", shared_path)
shared = importlib.util.module_from_spec(spec)
sys.modules["shared"] = shared
spec.loader.exec_module(shared)
problem = shared.Problem(shared.make_model(jax.random.key(1)), shared.make_data())
mesh = jax.sharding.Mesh(np.asarray(jax.devices()), ("data",))
assert (jax.process_count(), len(jax.devices())) == (2, 4)

options = {"mesh": mesh, "validation": problem.data, "early_stopping": 9, "checkpoint": folder + "/run"}
problem.fit(epochs=1, **options)
fit = problem.fit(epochs=3, resume=True, **options)
x, y = problem.data
half = slice(4 * int(process), 4 * int(process) + 4)
batches = [(x[i : i + 8][half], y[i : i + 8][half]) for i in range(0, 40, 8)]
streamed = problem.fit(data=batches, batch_size=None, dataset_size=40, epochs=2, mesh=mesh)
if process == "0":
    plait.save(folder + "/model", fit.model)
    plait.save(folder + "/streamed", streamed.model)
    fit.history.to_csv(folder + "/history.csv")
"""


def test_two_processes_are_one(problem, tmp_path):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    shared = Path(__file__).parent / "conftest.py"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(shared), str(port), str(number), str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in range(2)
    ]
    try:
        texts = [process.communicate(timeout=300)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], "\n".join(text[-3000:] for text in texts)

    options = {"validation": problem.data, "early_stopping": 9}
    one = problem.fit(epochs=3, **options)
    problem.assert_equal(plait.load(tmp_path / "model", like=problem.bnn), one.model, 1e-4)
    x, y = problem.data
    batches = [(x[i : i + 8], y[i : i + 8]) for i in range(0, 40, 8)]
    streamed = problem.fit(data=batches, batch_size=None, dataset_size=40, epochs=2)
    problem.assert_equal(plait.load(tmp_path / "streamed", like=problem.bnn), streamed.model, 1e-4)
    losses = np.genfromtxt(tmp_path / "history.csv", delimiter=",", names=True)["loss"]
    np.testing.assert_allclose(losses, one.history["loss"], rtol=1e-4)
    # What two processes wrote, one goes on with.
    resumed = problem.fit(epochs=4, resume=True, checkpoint=tmp_path / "run", **options)
    problem.assert_equal(resumed.model, problem.fit(epochs=4, **options).model, 1e-4)
    assert jax.process_count() == 1
