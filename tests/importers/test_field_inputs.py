"""Every text that was found in the field gives the values that its notes say, through sim and the command line."""

import json
from pathlib import Path

import pytest

from sim.importers import read_paste
from sim.importers.playable import playable
from sim.importers.told import lines_of
from tests.importers.command_line import run_import
from tests.importers.expected import EXPECTED, assert_expected


@pytest.mark.parametrize("name", EXPECTED)
def test_field_input_gives_the_values_of_its_notes(shared: Path, name: str):
    reading = read_paste((shared / "field_inputs" / name).read_bytes(), name)
    assert_expected(reading.as_json(), name)


@pytest.mark.parametrize("name", EXPECTED)
def test_field_input_is_read_on_the_command_line(shared: Path, name: str, capsys: pytest.CaptureFixture[str]):
    assert run_import(str(shared / "field_inputs" / name), "--json") == 0
    assert_expected(json.loads(capsys.readouterr().out), name)


@pytest.mark.parametrize("name", EXPECTED)
def test_field_input_leads_to_a_scenario_and_readable_lines(shared: Path, name: str):
    reading = read_paste((shared / "field_inputs" / name).read_bytes(), name)
    assert playable(reading).scenario.workload.num_requests > 0
    lines = list(lines_of(reading))
    assert lines[0].startswith(reading.kind)
    assert "distrust" in lines[-1]


def test_every_field_input_is_expected(shared: Path):
    names = {path.name for path in (shared / "field_inputs").iterdir()} - {"NOTES.md"}
    assert names == set(EXPECTED)
