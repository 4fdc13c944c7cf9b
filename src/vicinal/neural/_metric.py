"""NeuralMetric: a map for k-NN by small networks, for tables of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vicinal._lines import Lines
from vicinal._types import AnyArray, FloatArray, Fold
from vicinal.metric import MetricLearner
from vicinal.metric.held_out import CrossFit
from vicinal.metric.maps import FunctionMaps, Maps
from vicinal.neural._applied import Applied
from vicinal.neural._encoding import Encoding
from vicinal.neural._settings import read_settings
from vicinal.rows import Classes, Rows, read_rows

if TYPE_CHECKING:
    from vicinal.neural._fitting import Fitted


class NeuralMetric(MetricLearner):
    r"""Learn a map under which near rows vote right, by small networks side by side.

    E members φ_e map the encoded row to 24 numbers each and are trained on the soft vote of a batch
    on itself,

    .. math:: L = -\log \sum_{j: y_j = y_i} p_{ij}, \quad
              p_{ij} \propto \exp(-\|\varphi_e(x_i) - \varphi_e(x_j)\|),        (1)

    or, for numbers, on the squared error of a linear head that the neighbours correct. Rows are
    cut into E/2 folds, and member e is neither asked about fold e mod E/2 nor shown its targets, so
    that one fit gives held-out votes of all rows. Members of the first half see whole rows, those
    of the second rows with entries hidden; the held-out votes say which count. The metric is the
    members' root mean squared distance, turned to its first axes: one plain vector a row.

    Parameters
    ----------
    n_members : int, default=8
        E: 1, or an even number from 4 on. A single map is blind to a quarter of the rows.
    n_components : int or None, default=48
        Numbers of a mapped row, at most those of all members, which None takes.
    loss : {"softmax", "gerrymandering"}
        (1), or the loss of :class:`~vicinal.MLNG` on squared distances, for nine neighbours.
    encoding : {"tree", "quantile", "periodic"} or None
        What stands beside each standardised column of more than two values: its place in bins cut
        where the target changes (by a tree of that column), in bins of equal size, its waves, or
        nothing.
    module : torch module, function or None
        A module of your own from encoded rows (B, D) to (B, p), or a function that is called with
        D and makes one: then there is this one map instead of members.
    epochs : float or None
        None is 20, but at least 300 steps and at most 1200.
    batch_size : int, default=256
    learning_rate : float, default=0.003
    dropout : float, default=0.1
        Chance that a hidden unit is left out in a step.
    input_dropout : float, default=0.15
        Chance that an entry is hidden from the second half of the members.
    task : {"auto", "classification", "regression"}
    random_state : int, RandomState or None
        The same seed and number of threads give the same map.
    verbose : int, default=0
        1 prints a line a look at the held-out votes.
    callbacks : sequence of callables, default=()
        Each is called with every look (a dictionary, see ``history_``); a true answer ends the
        training.
    warm_start : bool, default=False
        Whether another ``fit`` goes on from the members of the last one. Held-out votes are blind
        only where the rows and the seed are the same.
    device : str, default="cpu"
        Where torch trains. What was trained is applied by NumPy.
    checkpoint : path or None
        A file that keeps the state of the training every half minute. A fit of the same rows and
        settings goes on from it to the very same map; it is removed when the fit is done.

    Attributes
    ----------
    temperature_ : float
        T of the vote softmax(−d/T) over the 64 nearest rows that loses least on held-out rows.
    held_out_proba_ : ndarray of shape (n, R)
        Of classes: the vote on each row by members that never saw its label, neither in a batch nor
        in the edges of bins. NaN for classes of one row, and beyond 10,000 rows. Temperature,
        halves and the moment to stop were chosen by these very votes, which makes them a little
        too sure.
    held_out_prediction_ : ndarray of shape (n,)
        The same for numbers.
    head_ : ndarray of shape (n_components,)
        Of numbers: what a mapped row says of y linearly, up to a constant. The prediction that was
        learned for is Σ_j w_j y_j + head · (z − Σ_j w_j z_j).
    history_ : list of dict
        A look each: step, n_steps, loss (mean since the last look) and held_out (the mean loss of
        held-out votes, a number a half).
    members_ : int ndarray
        The members that count.
    n_left_out_ : int
        Rows of classes that have no other row, which no fold of the fit's own holds out.
    n_iter_ : int
        Steps.
    classes_ : ndarray of shape (R,)

    Notes
    -----
    Time of a step O(E B (D p + B (p + R))) for B rows of D entries; memory O(n d) beside the rows,
    and of a batch and of 20,000 places, whatever the number of rows. Transforming needs no torch.
    The loss, batch norm as temperature, and piecewise linear encoding are those of the sources;
    members blind to folds, two halves and the choice between them are ours.

    References
    ----------
    Goldberger, Roweis, Hinton and Salakhutdinov 2004 [goldberger2004]; Ye, Yin, Zhan and Chao 2025
    [ye2025]; Gorishniy, Rubachev and Babenko 2022 [gorishniy2022].

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vicinal import KNNClassifier, NeuralMetric
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KNNClassifier(metric=NeuralMetric(epochs=5, random_state=0)).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    _task = "auto"
    _least_rows = 2
    _takes_missing = True
    mean_squared_slopes_: Any

    def __init__(
        self,
        n_members: int = 8,
        *,
        n_components: int | None = 48,
        loss: str = "softmax",
        encoding: str | None = "tree",
        module: Any = None,
        epochs: float | None = None,
        batch_size: int = 256,
        learning_rate: float = 3e-3,
        dropout: float = 0.1,
        input_dropout: float = 0.15,
        task: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Sequence[Any] = (),
        warm_start: bool = False,
        device: str = "cpu",
        checkpoint: Any = None,
    ) -> None:
        self.n_members = n_members
        self.n_components = n_components
        self.loss = loss
        self.encoding = encoding
        self.module = module
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.task = task
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.device = device
        self.checkpoint = checkpoint

    def fit(
        self, X: AnyArray, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n, d)
            NaN is a value that is missing: its entries are hidden.
        y : array-like of shape (n,)
            Classes or numbers.
        sample_weight : array-like of shape (n,) or None
            What each row counts, as one that asks and as one that votes.
        groups : array-like of shape (n,) or None
            Rows of one group are held out together.
        """
        return self.fit_rows(self._read(X, y, sample_weight, groups))

    def _read(self, X: AnyArray, y: Any, sample_weight: Any = None, groups: Any = None) -> Rows:
        return read_rows(
            self, X, y, sample_weight, groups, task=self.task, least_rows=self._least_rows,
            missing=self._takes_missing,
        )  # fmt: skip

    def _take_target(self, target: Any) -> Any:
        target = super()._take_target(target)
        if isinstance(target, Classes):
            from vicinal.rows import check_at_least_two_classes

            target = target.present()
            check_at_least_two_classes(self, target)
        return target

    def learn(self, rows: Rows) -> Maps:
        """Train the members and choose among them."""
        self._keep_fit(self._fit_members(rows), rows)
        return self.maps_

    def cross_fit(self, rows: Rows, folds: Sequence[Fold]) -> CrossFit:
        """Begin a fit whose members are blind to the folds: it is trained once, for all of them."""
        n_folds = self.n_members // 2 if isinstance(self.n_members, int) else 0
        if self.module is not None or self.n_members == 1 or len(folds) > n_folds:
            return super().cross_fit(rows, folds)
        rows = self.note_rows(rows)
        fitted = self._fit_members(rows, folds)
        number = {int(fold.test[0]): f for f, fold in enumerate(folds)}

        def without(fold: Fold) -> Maps:
            assert fitted.applied is not None
            f, X = number[int(fold.test[0])], rows.X[fold.train]
            return FunctionMaps(fitted.applied.blind_to(f, n_folds, X, self.n_components))

        def finish() -> NeuralMetric:
            self._keep_fit(fitted, rows)
            return self

        return CrossFit(without, finish)

    def _fit_members(self, rows: Rows, held: Sequence[Fold] = ()) -> Fitted:
        """Train; remove the checkpoint when it is of no more use."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        settings = read_settings(self, seed)
        try:
            from vicinal.neural._fitting import fit_members
        except ImportError as error:
            raise ImportError(
                "NeuralMetric is trained by PyTorch, which is not installed: "
                "pip install 'vicinal[torch]'"
            ) from error
        start = self._start(rows) if self.warm_start else None
        fitted = fit_members(rows, settings, self._watch, self._lines, start, held)
        if settings.checkpoint is not None:
            settings.checkpoint.unlink(missing_ok=True)
        return fitted

    def _keep_fit(self, fitted: Fitted, rows: Rows) -> None:
        """Keep as plain arrays what the fit left."""
        for name in ("held_out_proba_", "held_out_prediction_", "head_", "module_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        self.encoding_ = {f.name: getattr(fitted.encoding, f.name) for f in fields(Encoding)}
        self.parameters_ = fitted.parameters
        self.temperature_, self.history_ = fitted.choice.temperature, fitted.history
        self.n_iter_, self.n_left_out_ = fitted.n_steps, fitted.n_left_out
        if isinstance(rows.target, Classes):
            self.held_out_proba_ = fitted.held_out
        else:
            self.held_out_prediction_, self.head_ = fitted.held_out[:, 0], fitted.head
        if fitted.applied is None:
            self.module_ = fitted.module
            return
        self.members_ = fitted.applied.chosen
        self.centre_, self.axes_ = fitted.applied.centre, fitted.applied.axes
        self.mean_squared_slopes_ = fitted.gradients

    def _start(self, rows: Rows) -> tuple[Encoding, dict[str, FloatArray]] | None:
        """Return what the last fit left, where it was of rows and members like these."""
        if not self._is_fitted or "module_" in vars(self):
            return None
        encoding = Encoding(**self.encoding_)
        same = encoding.centre.shape[0] == rows.X.shape[1]
        return (encoding, self.parameters_) if same and self._same_members() else None

    def _same_members(self) -> bool:
        return len(self.parameters_["first"]) == self.n_members and self.module is None

    @property
    def _is_fitted(self) -> bool:
        return "encoding_" in vars(self)

    @property
    def maps_(self) -> Maps:
        """The map, for both sides."""
        check_is_fitted(self, "encoding_")
        if "module_" in vars(self):
            return FunctionMaps(self._apply_module)
        return FunctionMaps(self._applied())

    def _applied(self) -> Applied:
        encoding = Encoding(**self.encoding_)
        return Applied(encoding, self.parameters_, self.members_, self.centre_, self.axes_)

    def _apply_module(self, X: AnyArray) -> FloatArray:
        from vicinal.neural._one_map import apply_module

        return apply_module(self.module_, Encoding(**self.encoding_), X)

    @property
    def _lines(self) -> Lines:
        return Lines("NeuralMetric", self.verbose)

    def _watch(self, look: dict[str, Any]) -> bool:
        scores = ", ".join(f"{value:.4f}" for value in look["held_out"])
        self._lines.say(
            f"step {look['step']} of {look['n_steps']}, loss {look['loss']:.4f}, held out {scores}"
        )
        answers = [callback(dict(look)) for callback in self.callbacks]  # every one is asked
        return any(bool(answer) for answer in answers)

    @property
    def feature_relevance_(self) -> FloatArray:
        """Each feature's share in how far the map moves, of shape (d,).

        r_j ∝ E[Σ_i (∂φ_i/∂x_j)²] var_j: the diagonal of the expected gradient outer product of the
        map, in standard units, over 2,000 rows.
        """
        check_is_fitted(self, "encoding_")
        if "module_" in vars(self):
            raise AttributeError("a map by a module of your own has no feature_relevance_.")
        slopes: FloatArray = self.mean_squared_slopes_
        total = slopes.sum()
        return slopes / total if total > 0 else slopes

    @property
    def _n_features_out(self) -> int:
        if "module_" in vars(self):
            return int(self.maps_.database(np.zeros((1, self.n_features_in_))).shape[1])
        return int(self.axes_.shape[1])
