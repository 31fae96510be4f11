"""Which deals are for training and which for evaluation; the reasons are in `seeds/README.md`."""

FIRST_EVALUATION_SEED = 2**63


def check_training_seed(seed: int) -> int:
    """Return `seed` if training may use it.

    Raises:
        ValueError: if it is none of the seeds 0 to 2**63 - 1.
    """
    if not 0 <= seed < FIRST_EVALUATION_SEED:
        raise ValueError(
            f"seed {seed} is not for training: it deals from seeds 0 to 2**63 - 1, and those from "
            "2**63 on are kept for evaluation"
        )
    return int(seed)
