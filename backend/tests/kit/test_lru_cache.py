import time

from sinemora.kit.lru_cache import LruCache


def test_the_least_recently_used_values_are_dropped():
    held = LruCache(100)
    for key in "abc":
        held.put(key, key.upper(), 40)
    assert [held.get(key) for key in "abc"] == [None, "B", "C"]
    held.get("b")
    held.put("d", "D", 40)
    assert [held.get(key) for key in "bcd"] == ["B", None, "D"]
    held.put("e", "E", 101)
    held.put("d", "again", 60)
    assert [held.get(key) for key in "bde"] == ["B", "again", None]


def test_a_value_is_dropped_when_it_is_too_old(monkeypatch):
    held = LruCache(10, max_age_s=60)
    held.put("a", "A")
    assert held.get("a") == "A"
    now_s = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now_s + 61)
    assert held.get("a") is None


def test_sizes_are_reported_after_each_change():
    sizes: list[int] = []
    held = LruCache(10, on_resize=sizes.append)
    held.put("a", "A", 6)
    held.put("b", "B", 6)
    held.remove("b")
    held.put("c", "C", 11)
    assert sizes == [6, 6, 0, 0]
    assert held.get("a") is None
    held.put("a", "A", 6)
    held.clear()
    assert held.get("a") is None
    assert sizes[4:] == [6, 0]
