import jax

from plait.recipes.building import build_model
from plait.recipes.inspecting import describe_run, weight_table
from plait.recipes.options import ModelOptions
from plait.recipes.run_folder import RunFolder
from plait.recipes.running import load_model


def test_numbers_and_bytes_add_up(digits_run):
    bnn = load_model(RunFolder.open(digits_run))
    table = weight_table(bnn)
    *rows, total = table.rows

    def column(name):
        index = table.columns.index(name)
        return sum(int(row[index].replace(",", "")) for row in rows), int(total[index].replace(",", ""))

    # Each weight's prior has a learned scale of its own.
    numbers, all_numbers = column("numbers")
    assert all_numbers == bnn.num_params == numbers + len(rows)
    own_bytes, all_bytes = column("bytes")
    assert (own_bytes, all_bytes) == (4 * numbers, 4 * all_numbers)


def test_what_all_weights_share_is_said_once(digits_run):
    folder = RunFolder.open(digits_run)
    bnn = load_model(folder)
    said, table = describe_run(folder, bnn), weight_table(bnn)
    assert said["prior"] == "LearnedNormal(per weight)"
    assert said["data"] == "digits: classification, 1,257 training examples, inputs 8 × 8"
    assert "note" not in said
    assert table.columns == ("weight", "kind", "posterior", "shape", "numbers", "bytes")
    mixed = build_model(ModelOptions(widths=(3,), prior="he-normal"), folder.facts, key=jax.random.key(0))
    assert "prior" in weight_table(mixed).columns
