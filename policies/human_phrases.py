"""Phrases about what people decide in a run; `say` in phrases finds them like all others."""

HUMAN_PHRASES: dict[str, tuple[str, str]] = {
    "human_replan": (
        "人工判定：这一步要换一种做法",
        "A human decided that this must be done differently",
    ),
}
"""Each phrase in Chinese and in English."""
