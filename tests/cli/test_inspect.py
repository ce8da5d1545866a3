from plait.cli.main import main


def test_weights_and_their_sizes_are_shown(trained, capsys):
    assert main(["inspect", str(trained)]) == 0
    shown = capsys.readouterr().out
    for text in ("layers.0.weight", "Tied(2)", "Categorical", "total", "bytes", "LearnedNormal"):
        assert text in shown


def test_a_model_that_was_cut_off_is_a_message(run, capsys):
    content = (run / "model.safetensors").read_bytes()
    (run / "model.safetensors").write_bytes(content[:-50])
    assert main(["inspect", str(run)]) == 2
    assert "is not a whole safetensors file" in capsys.readouterr().err


def test_spectra_are_shown_and_written(run, capsys):
    assert main(["inspect", str(run), "--spectrum"]) == 0
    shown = capsys.readouterr().out
    for text in ("effective rank", "stds", "means", "spectrum.html"):
        assert text in shown
    for name in ("spectrum.html", "spectrum.png", "standard_deviations.png", "spectrum.csv"):
        assert (run / name).is_file()
