"""Reference figures and published delays against the source they are taken from, UCAM-CL-TR-937."""

import pytest

from sinemora.measurements.latency_budget import published, reference
from sinemora.measurements.latency_budget.published import Place
from sinemora.measurements.latency_budget.reference import Component
from sinemora.measurements.latency_budget.split import fibre_delay_ns

# Table 2.6, ns: minimum, median.
TABLE_2_6 = {"4": (3_900, 4_500), "5": (895, 946), "7a": (804, 834), "7b": (960, 985), "8c": (512, 534)}


def test_reference_is_that_of_table_2_6_and_sections_3_4_and_4_9():
    ends = {part.component: (part.low_ns, part.high_ns) for part in reference.REFERENCES}
    assert ends == {
        Component.NIC: (TABLE_2_6["7a"][0], TABLE_2_6["7b"][1]),
        Component.KERNEL: (0, TABLE_2_6["4"][1] - TABLE_2_6["5"][1]),
        Component.HYPERVISOR: (0, 200_000),
        Component.SWITCHES: (TABLE_2_6["8c"][0], 15_000),
    }


def test_fibre_takes_4_9_ns_a_metre_as_section_2_6_3_measured():
    assert fibre_delay_ns(1) == pytest.approx(4_900, abs=5)
    assert fibre_delay_ns(0.1) == pytest.approx(490, abs=1)  # 100 m, the longest fibre of the fat tree


@pytest.mark.parametrize(
    ("low_us", "high_us", "ways", "verdict"),
    [
        (0.2, 1.2, 1, "below"),
        (0.2, 1.4, 1, "within"),
        (60, 80, 1, "within"),
        (200, 230, 1, "within"),
        (221, 300, 1, "above"),
        (221, 300, 2, "within"),
        (440, 500, 2, "above"),
    ],
)
def test_verdict_needs_the_whole_interval(low_us, high_us, ways, verdict):
    assert reference.verdict(round(low_us * 1e3), round(high_us * 1e3), ways) == verdict


def test_published_traces_are_those_of_table_4_3():
    traces = published.traces()
    assert len(traces) == 31
    golden = next(trace for trace in traces if trace.name == "GCE-USW-1" and trace.messages_per_second == 1)
    assert (golden.started_on, golden.mean_ns, golden.sd_ns) == ("2017-10-16", 81_050, 60_640)
    percentiles = golden.p50_ns, golden.p99_ns, golden.p999_ns, golden.max_ns
    assert percentiles == (76_900, 120_340, 981_940, 4_570_000)
    for trace in traces:
        assert 0 < trace.p50_ns < trace.p99_ns < trace.p999_ns < trace.max_ns, trace.name


@pytest.mark.parametrize(
    ("source", "target", "path_class"),
    [
        (("aws", "eu-west-1", "1"), ("aws", "eu-west-1", "1"), "same_zone"),
        (("aws", "eu-west-1", "1"), ("aws", "eu-west-1", "2"), "between_zones"),
        (("aws", "eu-west-1", "1"), ("aws", "us-east-1", "3"), "between_regions"),
        (("aws", "eu-west-1", "1"), ("gcp", "eu-west-1", "1"), "between_providers"),
    ],
)
def test_class_of_a_path(source, target, path_class):
    assert published.class_of(Place(*source), Place(*target)) == path_class
