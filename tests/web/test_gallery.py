from pathlib import Path

import pytest
from support.faces import extractors, head, landmarks
from support.front import GALLERY
from visavis.render.avatar import PREVIEW, store
from visavis.render.portrait import portrait
from visavis.render.register import register
from visavis.stream.errors import AvatarError
from visavis.web.gallery import Card, Gallery, engine_for, open_gallery

CARD = Card("ruby", "Ruby", "rig", ((720, 1280), (512, 512)), Path("preview.png"))


def test_the_first_size_is_taken_when_none_is_asked_for() -> None:
    assert CARD.size_of(None) == (720, 1280)


def test_a_size_is_found_by_its_text() -> None:
    assert CARD.size_of("512x512") == (512, 512)


@pytest.mark.parametrize("text", ["", "1x1", "512X512", "512x512x3", "x" * 1000])
def test_another_size_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(AvatarError, match="choose one of 720x1280, 512x512"):
        CARD.size_of(text)


def test_cards_are_found_by_name() -> None:
    card = GALLERY.find("marcus")
    assert card is not None
    assert card.title == "Marcus"
    assert GALLERY.find("nobody") is None
    assert GALLERY.names == tuple(card.name for card in GALLERY)


async def test_the_presenters_that_ship_with_the_project_are_there() -> None:
    gallery = await open_gallery()
    assert {"ruby", "marcus"} <= set(gallery.names)
    for card in gallery:
        assert card.preview.is_file()
        assert {(720, 1280), (512, 512)} <= set(card.sizes)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's store with an avatar called ada."""
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    register("ada", portrait(head(), landmarks()), extractors(), store())
    return store()


@pytest.mark.parametrize(
    ("engine", "names"),
    [
        ("auto", ("marcus", "ruby")),
        ("rig", ("marcus", "ruby")),
        ("ditto", ("ada",)),
        ("some.module:Engine", ("marcus", "ruby", "ada")),
    ],
)
async def test_only_what_the_engine_can_draw_is_offered(
    own: Path, engine: str, names: tuple[str, ...]
) -> None:
    assert (await open_gallery(engine)).names == names


async def test_an_avatar_of_another_engine_says_which_draws_it(own: Path) -> None:
    rig, ditto = await open_gallery("rig"), await open_gallery("ditto")
    assert "ada is drawn by engine ditto" in rig.why_not("ada")
    assert "visavis serve --avatar ada" in rig.why_not("ada")
    assert "ruby is drawn by engine rig" in ditto.why_not("ruby")
    assert rig.why_not("nobody") == "choose one of marcus, ruby"
    assert "visavis avatar add" in Gallery([]).why_not("nobody")


@pytest.mark.parametrize(
    ("engine", "avatar", "name"),
    [
        ("auto", "ada", "ditto"),
        ("auto", "ruby", "rig"),
        ("auto", "nobody", "rig"),
        ("rig", "ada", "rig"),
        ("some.module:Engine", "ada", "some.module:Engine"),
    ],
)
async def test_auto_is_what_draws_the_avatar_that_is_shown(
    own: Path, engine: str, avatar: str, name: str
) -> None:
    assert await engine_for(engine, avatar) == name


async def test_a_damaged_avatar_is_left_out_and_logged(own: Path, caplog: pytest.LogCaptureFixture) -> None:
    (own / "ada" / PREVIEW).unlink()
    assert (await open_gallery("ditto")).names == ()
    assert "avatar ada is left out" in caplog.text
