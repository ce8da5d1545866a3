import sys
import types

import pytest

from plait.recipes import studies
from plait.recipes.studies import STUDIES, Study, find_study


def test_every_study_has_its_module():
    for study in STUDIES.values():
        assert callable(study.reproduce)


def test_a_study_is_a_module_and_a_line(monkeypatch):
    module = types.ModuleType("plait.recipes.small")
    module.reproduce = lambda output, **options: (output, options)
    monkeypatch.setitem(sys.modules, "plait.recipes.small", module)
    monkeypatch.setitem(studies.STUDIES, "small", Study("A small one.", "small"))
    assert find_study("small").reproduce("there", seed=1) == ("there", {"seed": 1})
    with pytest.raises(ValueError, match=r"unknown study 'smal' \(did you mean 'small'\?\): known are .*small"):
        find_study("smal")


def test_an_unknown_study_says_where_there_is_none(monkeypatch):
    monkeypatch.setattr(studies, "STUDIES", {})
    with pytest.raises(ValueError, match="unknown study 'ktied': there are none in this version"):
        find_study("ktied")
