"""Property tests are bounded by their number of examples, never by the speed of the machine."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("visavis", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("visavis")


@pytest.fixture(autouse=True, scope="session")
def _nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither see nor touch the avatars and weights of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VISAVIS_HOME", str(tmp_path_factory.mktemp("home")))
        yield
