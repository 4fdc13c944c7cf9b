"""Entries of the regression sets: DELVE's robots, Torgo's collection, UCI, recorded arms."""

from __future__ import annotations

from functools import partial

from vicinal.data import _raw
from vicinal.data._decoding import (
    Decoder,
    decode_regression,
    decode_target,
    group_by_subject,
    group_by_time,
)
from vicinal.data._measurements import MEASURED, STORED
from vicinal.data._registry import Entry, RawFile, Source

_UCI_FILES = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_DELVE = "https://www.cs.toronto.edu/~delve/data"
_DELVE_FILES = "https://www.cs.toronto.edu/pub/neuron/delve/data/tarfiles"
_FANN = (
    "https://raw.githubusercontent.com/libfann/fann/"
    "42a0eade29f4eca0ba897191eee8afd6fd2060ab/datasets"
)
_TORGO = "https://www.dcc.fc.up.pt/~ltorgo/Regression"
_IAS = "https://www.ias.informatik.tu-darmstadt.de/Miscellaneous/Miscellaneous"
_UCI_LICENCE = "CC BY 4.0 (UCI)"
_JOINTS = tuple(f"{kind}{joint}" for kind in ("q", "qd", "qdd") for joint in range(1, 8))


def _regression(
    name: str,
    title: str,
    source: Source,
    citation: str,
    licence: str,
    *,
    decode: Decoder = decode_regression,
    file: str | None = None,
    groups: str = "",
    protocol: str = "kfold",
    note: str = "",
) -> Entry:
    return Entry(
        name=name,
        title=title,
        task="regression",
        measured=MEASURED[name],
        stored=STORED[file or name],
        decode=decode,
        source=source,
        citation=citation,
        licence=licence,
        groups=groups,
        protocol=protocol,
        note=note,
    )


# --- DELVE: simulated robot arms ------------------------------------------------------------

_KIN = "Distance of a simulated arm's hand from a point"
_PUMA = "Acceleration of a simulated Puma 560 arm"
_KINDS = {"f": "nearly linear", "n": "non-linear", "m": "medium noise", "h": "high noise"}
_NO_LICENCE = "none stated (DELVE)"


def _kin_names(n_features: int) -> tuple[str, ...]:
    kinds = ("theta",) if n_features == 8 else ("theta", "alpha", "a", "d")
    return tuple(f"{kind}{joint}" for kind in kinds for joint in range(1, 9))


def _puma_names(n_features: int) -> tuple[str, ...]:
    counts = {"theta": 3, "thetad": 3, "tau": 2}
    if n_features == 32:
        counts = {"theta": 6, "thetad": 6, "tau": 5, "dm": 5, "da": 5, "db": 5}
    return tuple(f"{kind}{joint}" for kind, n in counts.items() for joint in range(1, n + 1))


def _delve(family: str, n_features: int, linearity: str, noise: str, note: str = "") -> Entry:
    kind = f"{n_features}{linearity}{noise}"
    short, names = ("kin", _kin_names) if family == "kin" else ("puma", _puma_names)
    archive = f"{family}-{kind}.tar.gz"
    return _regression(
        f"{short}{kind}",
        f"{_KIN if short == 'kin' else _PUMA}: {_KINDS[linearity]}, {_KINDS[noise]}",
        Source(
            page=f"{_DELVE}/{family}/desc.html",
            files=(RawFile(archive, f"{_DELVE_FILES}/{family}-family/{archive}"),),
            read=partial(_raw.read_delve, names=names(n_features)),
            openml={"kin8nm": 189, "puma8nh": 225}.get(f"{short}{kind}"),
        ),
        "rasmussen1996",
        _NO_LICENCE,
        note=note,
    )


def _fann(name: str, stem: str, title: str, rows: str) -> Entry:
    files = tuple(RawFile(f"{stem}.{part}", f"{_FANN}/{stem}.{part}") for part in ("train", "test"))
    return _regression(
        name,
        title,
        Source(
            page="https://github.com/libfann/fann",
            files=files,
            read=partial(_raw.read_fann, names=tuple(f"x{i}" for i in range(32))),
        ),
        "rasmussen1996",
        "LGPL-2.1 (FANN's copy); none stated by DELVE",
        protocol="official",
        note=f"{rows} of DELVE's 8,192 rows, every column rescaled to [0, 1] by FANN's authors",
    )


DELVE = (
    *(_delve("kin", 8, linearity, noise) for linearity in "fn" for noise in "mh"),
    _delve("kin", 32, "f", "h"),
    _regression(
        "kin32nh",
        f"{_KIN}: non-linear, high noise",
        Source(
            page=f"{_DELVE}/kin/desc.html",
            note="the stored copy is rescaled and re-ordered; DELVE's own file differs from it",
        ),
        "rasmussen1996",
        _NO_LICENCE,
        note="every column rescaled to [0, 1]; the split is that of the copy, drawn at random",
    ),
    _fann("kin32fm_fann4096", "kin32fm", f"{_KIN}: nearly linear, medium noise", "4,096"),
    *(_delve("pumadyn", 8, linearity, noise) for linearity in "fn" for noise in "mh"),
    _delve("pumadyn", 32, "n", "m", note="also known as puma32H; not the high-noise set 32nh"),
    _fann("puma32fm_fann1024", "pumadyn-32fm", f"{_PUMA}: nearly linear, medium noise", "1,024"),
)

# --- Torgo's collection ---------------------------------------------------------------------

_AILERONS = (
    *("climbRate", "Sgz", "p", "q", "curPitch", "curRoll", "absRoll"),
    *("diffClb", "diffRollRate", "diffDiffClb"),
    *(f"SeTime{i}" for i in range(1, 15)),
    *(f"diffSeTime{i}" for i in range(1, 15)),
    *("alpha", "Se"),
)
TORGO = (
    _regression(
        "ailerons",
        "Control of an F-16's ailerons",
        Source(
            page=f"{_TORGO}/ailerons.html",
            files=(
                RawFile(
                    "ailerons.tgz",
                    f"{_TORGO}/ailerons.tgz",
                    "2eb15628e03b0686cb84d199570f5caa9a01755136d87d0002f805dde8464c71",
                ),
            ),
            read=partial(
                _raw.read_torgo,
                members=("ailerons.data", "ailerons.test"),
                names=_AILERONS,
            ),
            openml=296,
        ),
        "torgo1999",
        "none stated",
        protocol="official",
    ),
    _regression(
        "delta_ailerons",
        "Changes of an F-16's ailerons",
        Source(
            page=f"{_TORGO}/delta_ailerons.html",
            files=(RawFile("delta_ailerons.tgz", f"{_TORGO}/delta_ailerons.tgz"),),
            read=partial(
                _raw.read_torgo,
                members=("delta_ailerons.data",),
                names=("RollRate", "PitchRate", "currPitch", "currRoll", "diffRollRate"),
            ),
        ),
        "torgo1999",
        "none stated",
    ),
    _regression(
        "pol_telecomm",
        "Telecommunications (pole)",
        Source(
            page=f"{_TORGO}/pol.html",
            files=(RawFile("openml-201.arff", "openml:201"),),
            read=partial(_raw.read_arff, names=tuple(f"f{i}" for i in range(1, 49))),
            openml=201,
        ),
        "torgo1999",
        "none stated",
        note="22 of the 48 features are constant; 42 duplicate rows",
    ),
)

# --- UCI and StatLib ------------------------------------------------------------------------

_WINE = (
    *("fixed acidity", "volatile acidity", "citric acid", "residual sugar", "chlorides"),
    *("free sulfur dioxide", "total sulfur dioxide", "density", "pH", "sulphates", "alcohol"),
)


def _wine(colour: str, sha256: str, n_repeated: int) -> Entry:
    file = f"winequality-{colour}.csv"
    return _regression(
        f"wine_{colour}",
        f"Tasters' marks of {colour} Vinho Verde",
        Source(
            page="https://archive.ics.uci.edu/dataset/186",
            files=(RawFile(file, f"{_UCI_FILES}/wine-quality/{file}", sha256),),
            read=partial(_raw.read_wine_quality, names=_WINE),
        ),
        "cortez2009",
        _UCI_LICENCE,
        note=f"{n_repeated} duplicate rows; the marks are whole numbers",
    )


UCI = (
    _regression(
        "concrete",
        "Strength of concrete",
        Source(
            page="https://archive.ics.uci.edu/dataset/165",
            files=(RawFile("openml-4353.arff", "openml:4353"),),
            read=partial(
                _raw.read_arff,
                names=(
                    *("Cement", "Blast Furnace Slag", "Fly Ash", "Water"),
                    *("Superplasticizer", "Coarse Aggregate", "Fine Aggregate", "Age"),
                ),
            ),
            openml=4353,
        ),
        "yeh1998",
        _UCI_LICENCE,
        note="25 duplicate rows; rows of one mixture at different ages are not independent",
    ),
    _regression(
        "boston_housing",
        "House prices around Boston, 1970",
        Source(
            page="http://lib.stat.cmu.edu/datasets/",
            files=(RawFile("boston", "http://lib.stat.cmu.edu/datasets/boston"),),
            read=partial(
                _raw.read_boston,
                names=(
                    *("CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE"),
                    *("DIS", "RAD", "TAX", "PTRATIO", "B", "LSTAT"),
                ),
            ),
            openml=531,
        ),
        "harrison1978",
        "none stated",
        note="for comparison with published figures only: column B rests on a racist assumption",
    ),
    _wine("red", "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e", 240),
    _wine("white", "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836", 937),
    *(
        _regression(
            f"parkinsons_{target}",
            f"Severity of Parkinson's disease from voice ({target} UPDRS)",
            Source(
                page="https://archive.ics.uci.edu/dataset/189",
                files=(
                    RawFile(
                        "parkinsons_updrs.data",
                        f"{_UCI_FILES}/parkinsons/telemonitoring/parkinsons_updrs.data",
                        "f2c7d5025dec4e92e7feae367a5f7ccf58789a10ac6b54bdf15976c599f9dd39",
                    ),
                ),
                read=_raw.read_parkinsons,
            ),
            "tsanas2010",
            _UCI_LICENCE,
            decode=partial(decode_target, target=index, group_rows=group_by_subject),
            file="parkinsons",
            groups="subject",
            protocol="grouped",
            note="about 140 recordings of each of 42 people: folds over rows test on people known",
        )
        for index, target in enumerate(("motor", "total"))
    ),
)

# --- Recorded robot arms: one target a joint ------------------------------------------------

_INTERLEAVED = (
    "the source's test rows lie between its training rows in time; groups are blocks of time"
)


def _arm(stem: str, file: str, joint: int) -> Entry:
    raw = {"sarcos_ias": "ias_sarcos_data.mat", "barrett": "ias_real_barrett_data.mat"}[stem]
    n_blocks = {"sarcos_ias": 13_922 / 1617.6, "barrett": 20}[stem]
    arm = {"sarcos_ias": "Sarcos", "barrett": "Barrett"}[stem]
    return _regression(
        f"{stem}_{joint}",
        f"Torque of a {arm} arm's joint {joint} (recording of TU Darmstadt)",
        Source(
            page=_IAS,
            files=(RawFile(raw, None),),
            read=partial(_raw.read_robot_arm, names=_JOINTS),
            note="no lasting address: get the file from any copy of the set",
        ),
        "nguyentuong2009",
        "none stated by the authors",
        decode=partial(
            decode_target,
            target=joint - 1,
            group_rows=partial(group_by_time, n_blocks=n_blocks),
        ),
        file=file,
        groups="run of the arm" if stem == "sarcos_ias" else "block of time",
        protocol="grouped",
        note=_INTERLEAVED + ("; 2,785 duplicate rows" if stem == "sarcos_ias" else ""),
    )


def _sarcos_gpml(joint: int) -> Entry:
    return _regression(
        f"sarcos_gpml_{joint}",
        f"Torque of a Sarcos arm's joint {joint} (GPML book, part)",
        Source(
            page="http://gaussianprocess.org/gpml/data/",
            note="put together from partial copies; the source's own files are larger",
        ),
        "vijayakumar2000",
        "none stated",
        decode=partial(decode_target, target=joint - 1),
        file="sarcos_gpml",
        note="the rows whose torque is known; recorded along trajectories, so folds are easy",
    )


ARMS = (
    *(_sarcos_gpml(joint) for joint in range(1, 8)),
    *(_arm("sarcos_ias", "sarcos_ias", joint) for joint in range(1, 8)),
    *(_arm("barrett", "barrett_real", joint) for joint in range(1, 8)),
)

ENTRIES = (*DELVE, *TORGO, *UCI, *ARMS)
