import msgspec
import pytest
from visavis.stream.errors import (
    AudioError,
    AvatarError,
    CapacityError,
    ControlError,
    EncoderError,
    ProtocolError,
    StartingError,
    VisavisError,
)
from visavis.web.answers import Refusal, answer, method_message, not_found, refusal_of, refused
from visavis.web.whep import NotAcceptable


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ProtocolError("m"), 400, "bad_message"),
        (AudioError("m"), 400, "bad_audio"),
        (AvatarError("m"), 400, "bad_avatar"),
        (ControlError("m"), 422, "bad_control"),
        (NotAcceptable("m"), 406, "not_acceptable"),
        (CapacityError("m"), 503, "full"),
        (StartingError("m"), 503, "starting"),
        (EncoderError("m"), 500, "encoder_lost"),
    ],
)
def test_an_error_of_ours_has_its_status_and_code(error: VisavisError, status: int, code: str) -> None:
    refusal = refusal_of(error)
    assert (refusal.status, refusal.code, str(refusal)) == (status, code, "m")
    assert ("Retry-After" in refusal.headers) == (status == 503)


def test_an_error_is_told_as_json_with_code_and_message() -> None:
    response = refused(Refusal(418, "teapot", "use the kettle", {"X-Hint": "hot"}))
    assert response.status == 418
    assert response.headers["X-Hint"] == "hot"
    assert isinstance(response.body, bytes)
    assert msgspec.json.decode(response.body) == {"error": {"code": "teapot", "message": "use the kettle"}}


def test_an_answer_is_json() -> None:
    response = answer({"a": 1}, status=201, headers={"Location": "/x"})
    assert (response.status, response.content_type, response.body) == (201, "application/json", b'{"a":1}')
    assert response.headers["Location"] == "/x"


def test_what_is_not_found_says_what_to_do() -> None:
    refusal = not_found("session 'a'", "open one")
    assert (refusal.status, str(refusal)) == (404, "there is no session 'a'; open one")


@pytest.mark.parametrize("status", [404, 405, 413, 499])
def test_errors_of_the_http_library_get_a_sentence(status: int) -> None:
    assert len(method_message(status, "/x")) > 20
