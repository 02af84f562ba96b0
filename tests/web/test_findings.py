import pytest
from visavis.stream.errors import SetupError
from visavis.web.findings import Finding, Level, from_error, lacking


@pytest.mark.parametrize(
    ("text", "said", "advice"),
    [
        ("x: y is broken; mend it: so", "x: y is broken", "mend it: so"),
        ("x: y is missing: fetch it", "x: y is missing", "fetch it"),
        ("broken", "broken", ""),
    ],
)
def test_an_error_is_split_into_what_is_wrong_and_what_to_do(text: str, said: str, advice: str) -> None:
    assert from_error("it", SetupError(text), needed=True) == Finding("it", Level.FAULT, said, advice)


@pytest.mark.parametrize(("needed", "level"), [(True, Level.FAULT), (False, Level.NOTE)])
def test_what_is_lacking_is_a_fault_only_where_it_is_needed(needed: bool, level: Level) -> None:
    assert lacking("it", "gone", "get it", needed=needed).level is level
