"""Rules of the house that no linter knows."""

import re
from pathlib import Path

import pytest
from support.tree import PLANES, modules, relative, texts

MOST_LINES = 400
WRITTEN = {".py", ".js", ".css", ".html"}
CODE_RULES = {
    "the wall clock jumps; take now_ns from the caller": r"\btime\.time(_ns)?\(|from time import .*\btime\b",
    "tasks belong to a TaskGroup": r"\basyncio\.(create_task|ensure_future)\b",
    "a queue is bounded and counts what it loses": r"\basyncio\.Queue\b",
}
TEXT_RULES = {
    "finish it or leave it": r"\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b",
    "paths of one machine": r"(?<![\w.$}/-])/(work|root|home|tmp|Users)/",
}


def breaks(paths: list[Path], pattern: str) -> list[str]:
    found = re.compile(pattern)
    return [
        f"{relative(path)}:{number}: {line.strip()[:80]}"
        for path in paths
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if found.search(line)
    ]


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {
        relative(path): len(path.read_text("utf-8").splitlines())
        for path in texts()
        if path.suffix in WRITTEN
    }
    assert {path: lines for path, lines in lengths.items() if lines > MOST_LINES} == {}


@pytest.mark.parametrize("rule", CODE_RULES)
def test_code_keeps_the_rules_of_the_house(rule: str) -> None:
    assert breaks(modules(*PLANES), CODE_RULES[rule]) == []


@pytest.mark.parametrize("rule", TEXT_RULES)
def test_texts_keep_the_rules_of_the_house(rule: str) -> None:
    assert breaks(texts(), TEXT_RULES[rule]) == []


@pytest.mark.parametrize(
    ("rules", "line"),
    [
        (CODE_RULES, "now = time.time()"),
        (CODE_RULES, "from time import sleep, time"),
        (CODE_RULES, "asyncio.create_task(run())"),
        (CODE_RULES, "queue: asyncio.Queue[int]"),
        (TEXT_RULES, "# TO" + "DO later"),
        (TEXT_RULES, 'open("/' + 'root/x")'),
        (TEXT_RULES, "see /" + "tmp/notes"),
    ],
)
def test_the_rules_see_what_breaks_them(rules: dict[str, str], line: str) -> None:
    assert any(re.search(pattern, line) for pattern in rules.values())


@pytest.mark.parametrize("line", ["runtime.time", "/v1/sessions/{id}/home/", "TEMPORARY", "${HOME}/x"])
def test_the_rules_let_harmless_lines_pass(line: str) -> None:
    assert not any(re.search(pattern, line) for pattern in (CODE_RULES | TEXT_RULES).values())
