"""The order of the gallery: a table of one's own, then what to choose, then all else."""

FIRST = (
    "own_table",
    "choosing_learner",
    "choosing_k",
    "digits",
    "regression",
    "search",
    "pipeline_search",
    "saving",
    "wide",
    "imbalanced",
    "dimension_reduction",
)


class GalleryOrder:
    """Sorts the examples named above as they stand there, and the others by name after them."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return "<GalleryOrder>"

    def __call__(self, file: str) -> tuple[int, str]:
        """Return the key that an example's file is sorted by."""
        name = file.removeprefix("plot_").removesuffix(".py")
        return FIRST.index(name) if name in FIRST else len(FIRST), name
