from plait.cli.main import main


def test_sets_are_sorted_into_those_here_and_the_others(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("plait.data.locate.data_folders", lambda data_dir=None: ())
    assert main(["datasets"]) == 0
    here, others = capsys.readouterr().out.split("not on this machine")
    assert "digits" in here
    assert "in scikit-learn" in here
    assert "mnist" in others
    assert "download 12 MB" in others
    assert max(map(len, here.splitlines())) <= 80


def test_a_folder_that_does_not_exist(capsys):
    assert main(["datasets", "--data-dir", "/nowhere"]) == 2
    assert "names the folder /nowhere, which does not exist" in capsys.readouterr().err
