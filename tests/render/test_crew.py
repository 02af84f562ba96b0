import threading
import time

from visavis.render.crew import IDLE_NS, Crew
from visavis.stream.clock import NS_PER_MS


class Hands:
    """Threads of one crew that note when they look."""

    def __init__(self, count: int) -> None:
        self.lock = threading.Lock()
        self.crew = Crew(self.lock)
        self.until_ns: int | None = None
        self.looks: list[int] = []
        self.over = False
        self.threads = [threading.Thread(target=self._rest, args=(n,)) for n in range(count)]
        for thread in self.threads:
            thread.start()
            time.sleep(0.01)

    def _rest(self, number: int) -> None:
        with self.lock:
            while not self.over:
                self.crew.rest(self.until_ns)
                self.looks.append(number)

    def end(self) -> None:
        with self.lock:
            self.over = True
            self.crew.dismiss()
        for thread in self.threads:
            thread.join(5)
        assert not any(thread.is_alive() for thread in self.threads)


def test_one_of_many_watches_the_clock_and_the_others_sleep() -> None:
    hands = Hands(6)
    time.sleep(3.4 * IDLE_NS / 1e9)
    looks = list(hands.looks)
    hands.end()
    assert 2 <= len(looks) <= 4
    assert len(set(looks)) == 1


def test_a_call_wakes_one() -> None:
    hands = Hands(6)
    with hands.lock:
        before = len(hands.looks)
        hands.crew.call()
    time.sleep(0.05)
    with hands.lock:
        looked = len(hands.looks) - before
    hands.end()
    assert 1 <= looked <= 2


def test_when_the_watcher_has_work_another_watches() -> None:
    lock = threading.Lock()
    crew = Crew(lock)
    seen: list[str] = []
    gone = threading.Event()

    def watcher() -> None:
        with lock:
            crew.rest(time.monotonic_ns() + 20 * NS_PER_MS)
            crew.call()
        seen.append("first")
        gone.wait(5)

    def sleeper() -> None:
        with lock:
            while len(seen) < 3:
                crew.rest(time.monotonic_ns() + 20 * NS_PER_MS)
                seen.append("second")

    threads = [threading.Thread(target=watcher), threading.Thread(target=sleeper)]
    threads[0].start()
    time.sleep(0.005)
    threads[1].start()
    threads[1].join(5)
    gone.set()
    threads[0].join(5)
    assert not threads[1].is_alive()
    assert seen.count("second") >= 2


def test_an_earlier_time_is_watched_too() -> None:
    lock = threading.Lock()
    crew = Crew(lock)
    woke_ns: list[int] = []

    def rest(until_ns: int) -> None:
        with lock:
            crew.rest(until_ns)
            woke_ns.append(time.monotonic_ns() - until_ns)

    now_ns = time.monotonic_ns()
    threads = [threading.Thread(target=rest, args=(now_ns + ms * NS_PER_MS,)) for ms in (200, 50)]
    for thread in threads:
        thread.start()
        time.sleep(0.01)
    for thread in threads:
        thread.join(5)
    assert len(woke_ns) == 2
    assert all(late_ns > -NS_PER_MS for late_ns in woke_ns)
    assert woke_ns[0] < 100 * NS_PER_MS
