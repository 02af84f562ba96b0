from pathlib import Path

import numpy as np
import pytest
from support.onnx import node
from support.onnx_graphs import read
from visavis.render.ditto.onnx.finder import Finder
from visavis.render.ditto.onnx.program import program_of

CONSTANTS = {
    **{"cut": np.array([1, 4, 6]), "half": np.array([[0.5]], np.float32), "whole": np.array(2)},
    **{"row": np.arange(6, dtype=np.float32), "ones": np.ones((4, 6), np.float32), "all": np.ones(6, bool)},
}


@pytest.fixture
def find(tmp_path: Path) -> Finder:
    nodes = [
        node("Reshape", ["x", "cut"], ["in"]),
        node("Mul", ["in", "half"], ["small"]),
        node("Add", ["small", "row"], ["a"]),
        node("ReduceMean", ["small"], ["mean"], axes=[2]),
        node("ReduceMean", ["small"], ["column"], axes=[1]),
        node("Where", ["all", "a", "ones"], ["b"]),
        node("Sub", ["b", "mean"], ["c"]),
        node("Mod", ["c", "whole"], ["d"]),
        node("Add", ["d", "column"], ["y"]),
    ]
    return Finder(program_of(read(tmp_path, nodes, CONSTANTS), (1, 24)))


def test_it_finds_what_made_a_value(find: Finder) -> None:
    made = find.by("small", "Div", "Mul")
    assert made is not None
    assert made.inputs == ("in", "half")
    assert find.by("small", "Add") is None
    assert find.by("row", "Mul") is None
    assert list(find.sides(made)) == [("in", "half"), ("half", "in")]


def test_it_knows_what_nobody_else_takes(find: Finder) -> None:
    assert find.once("a", "Add") is not None
    assert find.once("small", "Mul") is None
    assert find.once("y", "Add") is not None


def test_numbers_are_weights_of_one_float(find: Finder) -> None:
    assert find.scalar("half") == 0.5
    assert [find.scalar(name) for name in ("whole", "row", "in", "nothing")] == [None] * 4
    assert find.is_number("half", 0.50001)
    assert not find.is_number("half", 0.51)


def test_it_knows_weights_that_are_the_same_everywhere(find: Finder) -> None:
    assert find.uniform("ones") == 1
    assert find.uniform("all") is True
    assert [find.uniform(name) for name in ("row", "in", "nothing")] == [None] * 3


def test_means_over_columns_are_told_from_others(find: Finder) -> None:
    assert find.over_columns(find.by("mean", "ReduceMean")) == "small"
    assert find.over_columns(find.by("column", "ReduceMean")) is None
    assert find.over_columns(find.by("a", "Add")) is None


def test_rows_are_weights_of_a_column_each(find: Finder) -> None:
    assert find.row("row", find.width("in"))
    assert not find.row("row", 5)
    assert not find.row("ones", 6)
