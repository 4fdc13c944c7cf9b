"""The table of methods: one entry makes a learner known to every command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from vicinal.methods._making import takes_neighbors

if TYPE_CHECKING:  # the command line reads this table for its help, and must not load NumPy
    from vicinal._types import Task

EUCLIDEAN = "euclidean"
CLASSES: tuple[Task, ...] = ("classification",)
NUMBERS: tuple[Task, ...] = ("regression",)
BOTH = (*CLASSES, *NUMBERS)
MODELS = ("Classifier", "Regressor")


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
        Whether ``compare`` runs it unless told otherwise; a reference, where any are asked for.
    parameters : mapping
        Arguments of the learner that differ from its own defaults.
    wraps : str or None
        "package.module:Class" of the learner that is the argument ``estimator`` of this one.
    reference : bool
        Whether it is a model of its own that asks no neighbours.
    chooses_vote : bool
        Whether k, weights and head are chosen by held-out rows, too, whatever k is asked for.
    unasked : bool
        Whether such a model stands beside the metrics where it costs less than they do.
    closed_form : bool
        Whether it is solved by one decomposition, or by none: on a small table, in milliseconds.
    back_to_unit : bool
        Whether mapped rows of unit length may be brought back to it, where that is better.
    estimator : estimator or None
        A learner of the user's own instead of a factory; it is cloned, never changed.
    citation : str
        A BibTeX key.
    package : str
        What has to be installed beside vicinal for it.
    """

    name: str
    title: str
    factory: str | Mapping[Task, str] | None
    tasks: tuple[Task, ...] = CLASSES
    depends_on_k: bool = False
    default: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)
    wraps: str | None = None
    reference: bool = False
    chooses_vote: bool = False
    unasked: bool = False
    closed_form: bool = False
    back_to_unit: bool = False
    estimator: Any = None
    citation: str = ""
    package: str = ""

    def factory_for(self, task: Task) -> str | None:
        """Return the import path of the learner for a task."""
        return self.factory[task] if isinstance(self.factory, Mapping) else self.factory


def _metric(
    name: str, title: str, path: str, citation: str = "", *, k: bool = False, default: bool = False,
    tasks: tuple[Task, ...] = CLASSES, back_to_unit: bool = True, **more: Any,
) -> Method:  # fmt: skip
    """A learned metric; ``k`` says whether it takes ``n_neighbors``."""
    more |= {"citation": citation, "back_to_unit": back_to_unit}
    return Method(name, title, path, tasks, k, default, **more)


_codes = partial(_metric, back_to_unit=False)


def _reference(
    name: str, title: str, path: str, kinds: tuple[str, str], *, unasked: bool = False
) -> Method:
    """A model of scikit-learn, whose class ends otherwise for classes and for numbers."""
    factory = {task: path + kind for task, kind in zip(BOTH, kinds, strict=True)}
    return Method(name, title, factory, BOTH, reference=True, unasked=unasked)


def _installed(
    name: str, title: str, package: str, path: str, citation: str, **parameters: Any
) -> Method:
    """A model of another package, that runs by name alone where that is installed."""
    factory = {task: path + kind for task, kind in zip(BOTH, MODELS, strict=True)}
    return Method(
        name, title, factory, BOTH, default=False, parameters=parameters, reference=True,
        citation=citation, package=package,
    )  # fmt: skip


METHODS = (
    Method(EUCLIDEAN, "Euclidean", None, tasks=BOTH, closed_form=True),
    _metric(
        "lda", "LDA", "vicinal.rivals:LDA", "fisher1936", default=True, closed_form=True
    ),
    _metric("lmnn", "LMNN", "vicinal.rivals:LMNN", "weinberger2009", k=True, default=True),
    _metric("nca", "NCA", "vicinal.rivals:NCA", "goldberger2004", default=True),
    _metric("mlng", "MLNG", "vicinal.metric:MLNG", "trivedi2014", k=True, default=True),
    _metric(
        "mlng-asymmetric", "asymmetric MLNG", "vicinal.metric:AsymmetricMLNG", "trivedi2018", k=True
    ),
    _metric(
        "mlng-regression", "MLNG for numbers", "vicinal.metric:RegressionMLNG", "trivedi2018",
        k=True, tasks=NUMBERS,
    ),
    _codes(
        "mlng-hamming", "MLNG codes", "vicinal.metric:HammingMLNG", "trivedi2018", k=True
    ),
    _codes("hdml", "HDML", "vicinal.rivals:HDML", "norouzi2012"),
    _codes("lsh", "LSH", "vicinal.rivals:LSH", "charikar2002", tasks=BOTH),
    _codes("itq", "ITQ", "vicinal.rivals:ITQ", "gong2013", tasks=BOTH),
    _codes(
        "spectral-hashing", "spectral hashing", "vicinal.rivals:SpectralHashing", "weiss2009",
        tasks=BOTH,
    ),
    _codes(
        "classifier-codes", "codes of a classifier", "vicinal.rivals:ClassifierCodes",
        "sablayrolles2017",
    ),
    _metric(
        "mlng-mean", "mean of MLNG", "vicinal.combine:MeanMetric", "trivedi2014", k=True,
        wraps="vicinal.metric:MLNG",
    ),
    _metric(
        "query-adapter", "query adapter", "vicinal.search:QueryAdapter", "trivedi2018",
        back_to_unit=False,
    ),
    _metric(
        "auto", "chosen", "vicinal.combine:AutoMetric", tasks=BOTH, chooses_vote=True
    ),
    _metric("gw", "GW", "vicinal.metric:GradientWeights", "kpotufe2016", k=True, tasks=BOTH),
    _metric(
        "egop", "EGOP", "vicinal.metric:EGOP", "trivedi2014egop", k=True, default=True,
        tasks=NUMBERS,
    ),
    _metric("relieff", "ReliefF", "vicinal.metric:ReliefF", "kononenko1994", tasks=BOTH),
    _metric(
        "gdm", "GDM", "vicinal.metric:GradientDiffusionMap", "trivedi2018", tasks=NUMBERS,
        parameters={"n_components": 10},
    ),
    _metric("ejop", "EJOP", "vicinal.metric:EJOP", "trivedi2018", k=True, default=True),
    _metric("gblmnn", "GB-LMNN", "vicinal.rivals:GBLMNN", "kedem2012", k=True),
    _metric("knca", "k-NCA", "vicinal.rivals:KNCA", "tarlow2013", k=True),
    _metric("mcml", "MCML", "vicinal.rivals:MCML", "globerson2005"),
    _metric("itml", "ITML", "vicinal.rivals:ITML", "davis2007"),
    _metric("mmc", "MMC", "vicinal.rivals:MMC", "xing2002"),
    _metric("mlr", "MLR", "vicinal.rivals:MLR", "mcfee2010", k=True),
    _metric("lfda", "LFDA", "vicinal.rivals:LFDA", "sugiyama2007", closed_form=True),
    _metric("rca", "RCA", "vicinal.rivals:RCA", "barhillel2005", closed_form=True),
    _metric("sdml", "SDML", "vicinal.rivals:SDML", "qi2009"),
    _metric("lsml", "LSML", "vicinal.rivals:LSML", "liu2012"),
    _metric("scml", "SCML", "vicinal.rivals:SCML", "shi2014", k=True),
    _metric(
        "covariance", "covariance", "vicinal.rivals:Covariance", "mahalanobis1936", tasks=BOTH,
        closed_form=True,
    ),
    _metric("neural", "neural map", "vicinal.neural:NeuralMetric", "ye2025", tasks=BOTH),
    _metric("mlkr", "MLKR", "vicinal.rivals:MLKR", "weinberger2007", tasks=NUMBERS),
    _reference(
        "hgb", "gradient boosting", "sklearn.ensemble:HistGradientBoosting", MODELS, unasked=True
    ),
    _reference("forest", "random forest", "sklearn.ensemble:RandomForest", MODELS),
    _reference("svm", "SVM", "sklearn.svm:SV", ("C", "R")),
    Method(
        "logistic", "logistic regression", "sklearn.linear_model:LogisticRegression",
        parameters={"max_iter": 1000}, reference=True, unasked=True,
    ),
    Method(
        "linear", "linear regression", "sklearn.linear_model:LinearRegression", NUMBERS,
        reference=True, unasked=True,
    ),
    Method(
        "gp", "Gaussian process", "vicinal.methods._gaussian_process:GaussianProcess", NUMBERS,
        default=False, citation="rasmussen2006", reference=True,
    ),
    _installed(
        "catboost", "CatBoost", "catboost", "catboost:CatBoost", "prokhorenkova2018", verbose=0,
        allow_writing_files=False,
    ),
    _installed("realmlp", "RealMLP", "pytabkit", "pytabkit:RealMLP_TD_", "holzmuller2024"),
    _installed("tabm", "TabM", "pytabkit", "pytabkit:TabM_D_", "gorishniy2025"),
    _installed("xrfm", "xRFM", "pytabkit", "pytabkit:XRFM_D_", "beaglehole2025"),
)  # fmt: skip


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
    methods = {method.name: method for method in METHODS}
    if name.lower() in methods:
        return methods[name.lower()]
    close = get_close_matches(name.lower(), methods, n=3)
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    raise ValueError(f"no method is called {name!r}. {hint}Known: {', '.join(methods)}.")


def refuse_missing(methods: Iterable[Method]) -> None:
    """Refuse methods whose package is not installed, before anything is measured."""
    for method in methods:
        if method.package and find_spec(method.package) is None:
            raise ValueError(
                f"{method.name} needs the package {method.package}, which is not installed: "
                f"pip install {method.package}"
            )


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
    unasked: bool = False,
) -> tuple[Method, ...]:
    """Return the methods asked for (None: the default ones) after the Euclidean distance.

    ``references`` adds the references that are made for the task, but for those too slow to be
    a default; ``unasked`` only those that stand beside the metrics unasked.

    Raises
    ------
    ValueError
        For an unknown name, or a method that is not made for the task.
    """
    defaults = [method for method in list_methods(task) if method.default]
    if names is None:
        chosen = [method for method in defaults if not method.reference]
    else:
        chosen = [n if isinstance(n, Method) else get_method(n) for n in names]
    unfit = [method.name for method in chosen if task not in method.tasks]
    if unfit:
        fit = ", ".join(method.name for method in list_methods(task))
        raise ValueError(f"{', '.join(unfit)}: not made for {task}. Methods that are: {fit}.")
    refuse_missing(chosen)
    more = [m for m in defaults if m.reference and (references or (unasked and m.unasked))]
    return tuple(
        {method.name: method for method in (get_method(EUCLIDEAN), *chosen, *more)}.values()
    )
