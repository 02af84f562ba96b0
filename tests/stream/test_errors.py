import re

import pytest
from visavis.stream import errors

CODES = {
    "VisavisError": "failed",
    "UsageError": "bad_request",
    "AudioError": "bad_audio",
    "ControlError": "bad_control",
    "AvatarError": "bad_avatar",
    "ProtocolError": "bad_message",
    "CapacityError": "full",
    "StartingError": "starting",
    "IllegalTransition": "illegal_transition",
    "LinkError": "link_lost",
    "EncoderError": "encoder_lost",
    "DeviceError": "device_lost",
    "SetupError": "setup",
}


def drawn_parents() -> dict[str, str]:
    """Child to parent, as the module's docstring draws it."""
    parents: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^([ │├└─]*)([A-Z]\w+(?:Error|Transition))\b", line)
        if not found or "::" in line:
            continue
        depth, name = len(found[1]), found[2]
        path = [step for step in path if step[0] < depth]
        if path:
            parents[name] = path[-1][1]
        path.append((depth, name))
    return parents


def real_parents() -> dict[str, str]:
    """Child to parent, as the classes are."""
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    return {one.__name__: one.__mro__[1].__name__ for one in classes if one is not errors.VisavisError}


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    assert drawn_parents() == real_parents()


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_each_error_keeps_the_word_that_goes_over_the_wire(name: str, code: str) -> None:
    assert getattr(errors, name).code == code


def test_no_error_is_without_a_promised_word_and_no_word_stands_for_two() -> None:
    assert {*real_parents(), "VisavisError"} == set(CODES)
    assert len(set(CODES.values())) == len(CODES)


def test_one_except_clause_catches_everything_raised_on_purpose() -> None:
    assert all(issubclass(getattr(errors, name), errors.VisavisError) for name in CODES)
    assert not issubclass(errors.VisavisError, ValueError | OSError)
