"""The table of methods: one entry makes a learner known to every command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from vicinal.methods._making import takes_neighbors

if TYPE_CHECKING:  # the command line reads this table for its help, and must not load NumPy
    from vicinal._types import Task

EUCLIDEAN = "euclidean"
BOTH: tuple[Task, ...] = ("classification", "regression")


@dataclass(frozen=True)
class Method:
    """A way to measure nearness, or to do without it, by name.

    Attributes
    ----------
    name, title : str
        What the user types, and what tables show.
    factory : str, mapping of task to str, or None
        "package.module:Class" of the learner, imported only where it runs; None is the plain
        Euclidean distance.
    tasks : tuple of "classification" and "regression"
    depends_on_k : bool
        Whether the learner takes ``n_neighbors``, so that every k needs a fit of its own.
    default : bool
        Whether ``compare`` runs it unless told otherwise.
    parameters : mapping
        Arguments of the learner that differ from its own defaults.
    wraps : str or None
        "package.module:Class" of the learner that is the argument ``estimator`` of this one.
    reference : bool
        Whether it is a model of its own that asks no neighbours.
    estimator : estimator or None
        A learner of the user's own instead of a factory; it is cloned, never changed.
    citation : str
        A BibTeX key.
    """

    name: str
    title: str
    factory: str | Mapping[Task, str] | None
    tasks: tuple[Task, ...] = ("classification",)
    depends_on_k: bool = False
    default: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)
    wraps: str | None = None
    reference: bool = False
    estimator: Any = None
    citation: str = ""

    def factory_for(self, task: Task) -> str | None:
        """Return the import path of the learner for a task."""
        return self.factory[task] if isinstance(self.factory, Mapping) else self.factory


METHODS = (
    Method(EUCLIDEAN, "Euclidean", None, tasks=BOTH),
    Method("lda", "LDA", "vicinal.rivals:LDA", citation="fisher1936"),
    Method("lmnn", "LMNN", "vicinal.rivals:LMNN", depends_on_k=True, citation="weinberger2009"),
    Method("nca", "NCA", "vicinal.rivals:NCA", citation="goldberger2004"),
    Method(
        "mlng",
        "MLNG",
        "vicinal.metric:MLNG",
        depends_on_k=True,
        citation="trivedi2014",
    ),
    Method(
        "mlng-asymmetric",
        "asymmetric MLNG",
        "vicinal.metric:AsymmetricMLNG",
        depends_on_k=True,
        default=False,
        citation="trivedi2018",
    ),
    Method(
        "mlng-regression",
        "MLNG for numbers",
        "vicinal.metric:RegressionMLNG",
        tasks=("regression",),
        depends_on_k=True,
        default=False,
        citation="trivedi2018",
    ),
    Method(
        "mlng-hamming",
        "MLNG codes",
        "vicinal.metric:HammingMLNG",
        depends_on_k=True,
        default=False,
        citation="trivedi2018",
    ),
    Method("hdml", "HDML", "vicinal.rivals:HDML", default=False, citation="norouzi2012"),
    Method("lsh", "LSH", "vicinal.rivals:LSH", tasks=BOTH, default=False, citation="charikar2002"),
    Method("itq", "ITQ", "vicinal.rivals:ITQ", tasks=BOTH, default=False, citation="gong2013"),
    Method(
        "classifier-codes",
        "codes of a classifier",
        "vicinal.rivals:ClassifierCodes",
        default=False,
        citation="sablayrolles2017",
    ),
    Method(
        "mlng-mean",
        "mean of MLNG",
        "vicinal.combine:MeanMetric",
        depends_on_k=True,
        default=False,
        wraps="vicinal.metric:MLNG",
        citation="trivedi2014",
    ),
    Method(
        "auto",
        "chosen",
        "vicinal.combine:AutoMetric",
        tasks=BOTH,
        depends_on_k=True,
        default=False,
    ),
    Method(
        "gw",
        "GW",
        "vicinal.metric:GradientWeights",
        tasks=BOTH,
        default=False,
        depends_on_k=True,
        citation="kpotufe2016",
    ),
    Method(
        "egop",
        "EGOP",
        "vicinal.metric:EGOP",
        tasks=("regression",),
        depends_on_k=True,
        citation="trivedi2014egop",
    ),
    Method(
        "relieff",
        "ReliefF",
        "vicinal.metric:ReliefF",
        tasks=BOTH,
        default=False,
        citation="kononenko1994",
    ),
    Method(
        "gdm",
        "GDM",
        "vicinal.metric:GradientDiffusionMap",
        tasks=("regression",),
        default=False,
        parameters={"n_components": 10},
        citation="trivedi2018",
    ),
    Method("ejop", "EJOP", "vicinal.metric:EJOP", depends_on_k=True, citation="trivedi2018"),
    Method(
        "gblmnn",
        "GB-LMNN",
        "vicinal.rivals:GBLMNN",
        depends_on_k=True,
        default=False,
        citation="kedem2012",
    ),
    Method(
        "knca",
        "k-NCA",
        "vicinal.rivals:KNCA",
        depends_on_k=True,
        default=False,
        citation="tarlow2013",
    ),
    Method(
        "itml",
        "ITML",
        "vicinal.rivals:ITML",
        default=False,
        citation="davis2007",
    ),
    Method(
        "mmc",
        "MMC",
        "vicinal.rivals:MMC",
        default=False,
        citation="xing2002",
    ),
    Method(
        "mlr",
        "MLR",
        "vicinal.rivals:MLR",
        depends_on_k=True,
        default=False,
        citation="mcfee2010",
    ),
    Method(
        "lfda",
        "LFDA",
        "vicinal.rivals:LFDA",
        default=False,
        citation="sugiyama2007",
    ),
    Method(
        "rca",
        "RCA",
        "vicinal.rivals:RCA",
        default=False,
        citation="barhillel2005",
    ),
    Method(
        "sdml",
        "SDML",
        "vicinal.rivals:SDML",
        default=False,
        citation="qi2009",
    ),
    Method(
        "lsml",
        "LSML",
        "vicinal.rivals:LSML",
        default=False,
        citation="liu2012",
    ),
    Method(
        "scml",
        "SCML",
        "vicinal.rivals:SCML",
        depends_on_k=True,
        default=False,
        citation="shi2014",
    ),
    Method(
        "covariance",
        "covariance",
        "vicinal.rivals:Covariance",
        tasks=BOTH,
        default=False,
        citation="mahalanobis1936",
    ),
    Method(
        "mlkr",
        "MLKR",
        "vicinal.rivals:MLKR",
        tasks=("regression",),
        default=False,
        citation="weinberger2007",
    ),
    Method(
        "hgb",
        "gradient boosting",
        {
            "classification": "sklearn.ensemble:HistGradientBoostingClassifier",
            "regression": "sklearn.ensemble:HistGradientBoostingRegressor",
        },
        tasks=BOTH,
        default=False,
        reference=True,
    ),
    Method(
        "forest",
        "random forest",
        {
            "classification": "sklearn.ensemble:RandomForestClassifier",
            "regression": "sklearn.ensemble:RandomForestRegressor",
        },
        tasks=BOTH,
        default=False,
        reference=True,
    ),
    Method(
        "svm",
        "SVM",
        {"classification": "sklearn.svm:SVC", "regression": "sklearn.svm:SVR"},
        tasks=BOTH,
        default=False,
        reference=True,
    ),
    Method(
        "logistic",
        "logistic regression",
        "sklearn.linear_model:LogisticRegression",
        default=False,
        parameters={"max_iter": 1000},
        reference=True,
    ),
)


def list_methods(task: Task | None = None) -> tuple[Method, ...]:
    """Return the known methods, or those for one task."""
    return tuple(m for m in METHODS if task is None or task in m.tasks)


def get_method(name: str) -> Method:
    """Return a known method, or one made from "module:Class"; refuse other names.

    Raises
    ------
    ValueError
        For a name nobody knows, with the nearest ones that are known.
    """
    if ":" in name:
        return _outside_method(name)
    known = {method.name: method for method in METHODS}
    if name.lower() in known:
        return known[name.lower()]
    close = get_close_matches(name.lower(), known, n=3)
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    raise ValueError(f"no method is called {name!r}. {hint}Known: {', '.join(known)}.")


def _outside_method(path: str) -> Method:
    """A learner of the user's own, given by its import path."""
    title = path.rpartition(":")[2]
    return Method(path, title, path, BOTH, depends_on_k=takes_neighbors(path))


def own_method(estimator: Any, title: str = "") -> Method:
    """Return a method made of an estimator object, which keeps its own parameters."""
    if isinstance(estimator, type) or not all(hasattr(estimator, v) for v in ("fit", "transform")):
        raise ValueError(
            "a method is a name, or a metric learner (an object with fit and transform); got "
            f"{estimator!r}."
        )
    name = " ".join(repr(estimator).split())
    return Method(name, title or type(estimator).__name__, None, BOTH, estimator=estimator)


def choose_methods(
    names: Iterable[str | Method] | None,
    task: Task,
    *,
    references: bool = False,
) -> tuple[Method, ...]:
    """Return the methods asked for (None: the default ones) after the Euclidean distance.

    ``references`` adds every reference that is made for the task.

    Raises
    ------
    ValueError
        For an unknown name, or a method that is not made for the task.
    """
    if names is None:
        chosen = [method for method in list_methods(task) if method.default]
    else:
        chosen = [n if isinstance(n, Method) else get_method(n) for n in names]
    unfit = [method.name for method in chosen if task not in method.tasks]
    if unfit:
        fit = ", ".join(method.name for method in list_methods(task))
        raise ValueError(f"{', '.join(unfit)}: not made for {task}. Methods that are: {fit}.")
    more = [method for method in list_methods(task) if references and method.reference]
    return tuple(
        {method.name: method for method in (get_method(EUCLIDEAN), *chosen, *more)}.values()
    )
