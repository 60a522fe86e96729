"""Predicted and measured time to bring an image to a VM that holds some of its blocks already."""

from lab.benchmarks import figures

from spreading.cloud import BLOCK_BYTES, Cloud

IMAGE_BYTES = 20_000_000
RATE_MBIT = 15
"""Limit of the mesh: half of what a VM sends to the other region, so that it is the limit, as it should be."""
# Shares of the blocks that the target holds: none, and what checkpoints had in common with their image in the source.
SIMILARITIES = (0.0, 0.24, 0.53)


def run(cloud: Cloud, seed: int) -> None:
    """Report the largest error of the predicted time over three similarities, within a region and between both."""
    cloud.limit(RATE_MBIT)
    worst, detail = 0.0, {}
    for nth, (share, region) in enumerate((share, region) for share in SIMILARITIES for region in ("west", "east")):
        holder, target = cloud.of("west")[0], cloud.of(region)[1]
        whole = cloud.file(f"image-{nth}", IMAGE_BYTES, 1000 * seed + nth)
        common = whole.read_bytes()[: round(share * IMAGE_BYTES / BLOCK_BYTES) * BLOCK_BYTES]
        if common:
            cloud.publish(
                cloud.file(f"checkpoint-{nth}", len(common) + 1000, 2000 * seed + nth, shared=common), [target]
            )
        artifact_id = cloud.publish(whole, [holder])
        predicted = cloud.client.get(f"/v1/artifacts/{artifact_id}/move-costs/{target.id}")
        (copy,) = cloud.fetch([(artifact_id, target)]).values()
        error = 100 * abs(predicted["seconds"] / copy["seconds"] - 1)
        moved = sum(source["size_bytes"] for source in copy["sources"])
        shown = (
            f"{predicted['words']}; took {copy['seconds']:.1f} s for {moved / 1e6:.1f} MB from {predicted['source']}"
        )
        figures.comment(f"{share:.0%} held, to {region}: {shown}")
        detail[f"{share:.0%} to {region}"] = {"predicted_s": round(predicted["seconds"], 2), "took_s": copy["seconds"]}
        worst = max(worst, error)
    figures.report("artifacts_move_cost_error_percent", worst, **detail)
