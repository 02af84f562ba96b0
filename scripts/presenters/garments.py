"""The clothes in the scene."""

from typing import Any

from .person import Person


def add_garments(person: Person) -> list[Any]:
    return []
