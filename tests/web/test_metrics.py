from prometheus_client.parser import text_string_to_metric_families
from support.front import Port, tick
from visavis.stream.controls import Controls
from visavis.stream.link import EngineCounts, Gauges, Opened, Ready
from visavis.web.bitrate import Estimate
from visavis.web.chores import Chores
from visavis.web.metrics import Metrics
from visavis.web.peer import Peers, WebRtcOptions
from visavis.web.sessions import SessionOptions, Sessions, Wish
from visavis.web.tracks import Feed


def values(metrics: Metrics) -> dict[str, float]:
    return {
        sample.name + sample.labels.get("le", "") + sample.labels.get("worker", ""): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


async def test_counters_of_the_engine_are_shown_once_it_counts_and_never_go_backwards() -> None:
    async with Chores() as chores:
        one, two = ports = Port(), Port()
        sessions = Sessions(SessionOptions(), workers=ports, on_close=lambda _: None)
        metrics = Metrics(sessions, ports, Peers(WebRtcOptions(), chores))
        assert not [name for name in values(metrics) if "motion_cache" in name or "mended" in name]
        sessions.message(one, EngineCounts(7, 5, 3, 4_096, 1))
        names = [f"visavis_motion_cache_{name}" for name in ("hits_total", "misses_total", "evictions_total")]
        names += ["visavis_motion_cache_bytes", "visavis_mended_samples_total"]
        seen: list[list[float]] = []
        for step in (
            lambda: None,
            lambda: sessions.message(two, EngineCounts(10, 10, 10, 1_000, 10)),
            lambda: sessions.worker_lost(one),
            lambda: sessions.worker_up(one),
            lambda: sessions.message(one, EngineCounts(1, 1, 0, 64, 0)),
            lambda: sessions.worker_lost(two),
        ):
            step()
            seen.append([values(metrics)[name] for name in names])
        assert seen == [
            [7, 5, 3, 4_096, 1],
            [17, 15, 13, 5_096, 11],
            [17, 15, 13, 1_000, 11],
            [17, 15, 13, 1_000, 11],
            [18, 16, 13, 1_064, 11],
            [18, 16, 13, 64, 11],
        ]


async def test_figures_are_those_of_the_sessions() -> None:
    async with Chores() as chores:
        port, other = Port(), Port(restarts=3)
        sessions = Sessions(SessionOptions(), workers=[port, other], on_close=lambda _: None)
        metrics = Metrics(sessions, [port, other], Peers(WebRtcOptions(), chores))
        assert values(metrics)["visavis_worker_up0"] == 0
        port.ready = Ready("fake", 240, "clip", 2)

        def opened() -> None:
            sessions.message(port, Opened(port.said[-1].session))

        port.send = lambda message: (port.said.append(message), opened())  # type: ignore[method-assign]
        program = await sessions.create(Wish("ruby", (64, 64), 1, Controls()), 0)
        port.send = port.said.append  # type: ignore[method-assign]
        program.viewers.append(Feed(has_video=True, has_audio=True, estimate=Estimate(1)))
        for index in range(30):
            program.tick(tick(index, size=998), index * 40_000_000 + 12_000_000)
        program.counts.take(Gauges("s", 30, 2, 1, 4, 0))
        seen = values(metrics)
        assert (seen["visavis_sessions0"], seen["visavis_sessions1"]) == (1, 0)
        assert (seen["visavis_worker_up0"], seen["visavis_worker_up1"]) == (1, 0)
        assert (seen["visavis_worker_restarts_total0"], seen["visavis_worker_restarts_total1"]) == (0, 3)
        assert seen["visavis_ticks_total"] == 30
        assert (seen["visavis_frames_generated_total"], seen["visavis_frames_repeated_total"]) == (30, 2)
        assert (seen["visavis_frames_late_total"], seen["visavis_underruns_total"]) == (1, 4)
        assert seen["visavis_bitrate_bps"] == 200_000
        assert seen["visavis_tick_lateness_seconds_bucket0.01"] == 0
        assert seen["visavis_tick_lateness_seconds_bucket0.015"] == 30
        assert seen["visavis_tick_lateness_seconds_bucket+Inf"] == 30
        sessions.close_all()
        seen = values(metrics)
        assert (seen["visavis_sessions0"], seen["visavis_ticks_total"]) == (0, 30)
