"""Entries of the classification sets."""

from __future__ import annotations

from functools import partial

from vicinal.data import _raw
from vicinal.data._decoding import decode_covtype, decode_surf, decode_table
from vicinal.data._measurements import MEASURED, STORED
from vicinal.data._registry import Entry, RawFile, Source

_UCI_FILES = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_MNIST_FILES = "https://storage.googleapis.com/cvdf-datasets/mnist"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
_ESL = "https://hastie.su.domains/ElemStatLearn"
_UCI_LICENCE = "CC BY 4.0 (UCI)"
_LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_OBJECTS = (
    "backpack",
    "bike",
    "calculator",
    "headphones",
    "keyboard",
    "laptop",
    "monitor",
    "mouse",
    "mug",
    "projector",
)


def _uci_page(number: int) -> str:
    return f"https://archive.ics.uci.edu/dataset/{number}"


def _uci(path: str, sha256: str | None = None) -> RawFile:
    # Without a checksum of its own, what is read from the file is recognised by its fingerprint.
    return RawFile(path.rpartition("/")[2], f"{_UCI_FILES}/{path}", sha256)


def _pixels(rows: int, columns: int) -> tuple[str, ...]:
    return tuple(f"pixel_{row}_{column}" for row in range(rows) for column in range(columns))


MNIST = Entry(
    name="mnist",
    title="Handwritten digits, 28 x 28",
    task="classification",
    measured=MEASURED["mnist"],
    stored=STORED["mnist"],
    decode=decode_table,
    source=Source(
        page="http://yann.lecun.com/exdb/mnist/",
        files=tuple(
            RawFile(f"{name}-ubyte.gz", f"{_MNIST_FILES}/{name}-ubyte.gz", sha256)
            for name, sha256 in (
                (
                    "train-images-idx3",
                    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                ),
                (
                    "train-labels-idx1",
                    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                ),
                (
                    "t10k-images-idx3",
                    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                ),
                (
                    "t10k-labels-idx1",
                    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                ),
            )
        ),
        read=_raw.read_mnist,
        openml=554,
    ),
    citation="lecun1998",
    licence="usually given as CC BY-SA 3.0",
    classes=tuple("0123456789"),
    feature_names=_pixels(28, 28),
    image_shape=(28, 28),
    protocol="official",
    single_precision=True,
)

LETTER = Entry(
    name="letter",
    title="Printed capital letters, by 16 numbers of their shape",
    task="classification",
    measured=MEASURED["letter"],
    stored=STORED["letter"],
    decode=decode_table,
    source=Source(
        page=_uci_page(59),
        files=(
            _uci(
                "letter-recognition/letter-recognition.data",
                "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
            ),
        ),
        read=_raw.read_letter,
        openml=6,
    ),
    citation="frey1991",
    licence=_UCI_LICENCE,
    classes=_LETTERS,
    feature_names=(
        *("x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar"),
        *("y2bar", "xybar", "x2ybr", "xy2br", "x-ege", "xegvy", "y-ege", "yegvx"),
    ),
    note="the last 4,000 rows are the source's test part; five folds are the usual protocol",
)

USPS = Entry(
    name="usps",
    title="Handwritten digits from envelopes, 16 x 16",
    task="classification",
    measured=MEASURED["usps"],
    stored=STORED["usps"],
    decode=partial(decode_table, divisor=1000.0),
    source=Source(
        page=f"{_ESL}/data.html",
        files=tuple(
            RawFile(f"zip.{part}.gz", f"{_ESL}/datasets/zip.{part}.gz")
            for part in ("train", "test")
        ),
        read=_raw.read_usps,
    ),
    citation="lecun1990",
    licence="none stated",
    classes=tuple("0123456789"),
    feature_names=_pixels(16, 16),
    image_shape=(16, 16),
    protocol="official",
    note="the version of 'The Elements of Statistical Learning'; LIBSVM's is smoothed otherwise",
)

ISOLET = Entry(
    name="isolet",
    title="Spoken names of letters",
    task="classification",
    measured=MEASURED["isolet"],
    stored=STORED["isolet"],
    decode=partial(decode_table, divisor=10_000.0, group_key="group"),
    source=Source(
        page=_uci_page(54),
        files=(_uci("isolet/isolet1+2+3+4.data.Z"), _uci("isolet/isolet5.data.Z")),
        read=_raw.read_isolet,
        openml=300,
        note="the archive has rows in order of speaker; the stored file, of letter in each group",
    ),
    citation="fanty1990",
    licence=_UCI_LICENCE,
    classes=_LETTERS,
    groups="30 speakers",
    protocol="official",
    note="the test part is the fifth group of speakers",
)

COVTYPE = Entry(
    name="covtype",
    title="Forest cover, from maps",
    task="classification",
    measured=MEASURED["covtype"],
    stored=STORED["covtype"],
    decode=decode_covtype,
    source=Source(
        page=_uci_page(31),
        files=(
            RawFile(
                "covtype.data.gz",
                "https://ndownloader.figshare.com/files/5976039",
                "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
            ),
        ),
        read=_raw.read_covtype,
        openml=1596,
    ),
    citation="blackard1999",
    licence=_UCI_LICENCE,
    classes=(
        "Spruce/Fir",
        "Lodgepole Pine",
        "Ponderosa Pine",
        "Cottonwood/Willow",
        "Aspen",
        "Douglas-fir",
        "Krummholz",
    ),
    feature_names=(
        "Elevation",
        "Aspect",
        "Slope",
        "Horizontal_Distance_To_Hydrology",
        "Vertical_Distance_To_Hydrology",
        "Horizontal_Distance_To_Roadways",
        "Hillshade_9am",
        "Hillshade_Noon",
        "Hillshade_3pm",
        "Horizontal_Distance_To_Fire_Points",
        *(f"Wilderness_Area{i}" for i in range(1, 5)),
        *(f"Soil_Type{i}" for i in range(1, 41)),
    ),
    protocol="official",
    single_precision=True,
    note="training part: the source's 11,340 training and 3,780 validation rows, equal by class",
)

MAGIC = Entry(
    name="magic",
    title="Gamma rays or hadrons in a telescope",
    task="classification",
    measured=MEASURED["magic"],
    stored=STORED["magic"],
    decode=decode_table,
    source=Source(
        page=_uci_page(159),
        files=(
            _uci(
                "magic/magic04.data",
                "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
            ),
        ),
        read=_raw.read_magic,
        openml=1120,
    ),
    citation="bock2004",
    licence=_UCI_LICENCE,
    classes=("hadron", "gamma"),
    feature_names=(
        *("fLength", "fWidth", "fSize", "fConc", "fConc1"),
        *("fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist"),
    ),
    note="115 duplicate rows",
)

PAGE_BLOCKS = Entry(
    name="page_blocks",
    title="Blocks of a page: text, lines, pictures",
    task="classification",
    measured=MEASURED["page_blocks"],
    stored=STORED["page_blocks"],
    decode=partial(decode_table, first_label=1),
    source=Source(
        page=_uci_page(78),
        files=(_uci("page-blocks/page-blocks.data.Z"),),
        read=_raw.read_page_blocks,
        openml=30,
    ),
    citation="esposito1994",
    licence=_UCI_LICENCE,
    classes=("text", "horizontal line", "graphic", "vertical line", "picture"),
    feature_names=(
        *("height", "length", "area", "eccen", "p_black"),
        *("p_and", "mean_tr", "blackpix", "blackand", "wb_trans"),
    ),
)

SHUTTLE = Entry(
    name="shuttle",
    title="States of the space shuttle's radiators",
    task="classification",
    measured=MEASURED["shuttle"],
    stored=STORED["shuttle"],
    decode=partial(decode_table, first_label=1),
    source=Source(
        page=_uci_page(148),
        files=(_uci("statlog/shuttle/shuttle.trn.Z"), _uci("statlog/shuttle/shuttle.tst")),
        read=_raw.read_shuttle,
        openml=40685,
    ),
    citation="michie1994",
    licence=_UCI_LICENCE,
    classes=(
        *("Rad Flow", "Fpv Close", "Fpv Open", "High"),
        *("Bypass", "Bpv Close", "Bpv Open"),
    ),
    protocol="official",
    note="classes of 10 to 45,586 rows",
)

MUSK2 = Entry(
    name="musk2",
    title="Molecules that smell of musk, by their shapes",
    task="classification",
    measured=MEASURED["musk2"],
    stored=STORED["musk2"],
    decode=partial(decode_table, group_key="bag"),
    source=Source(
        page=_uci_page(75),
        files=(_uci("musk/clean2.data.Z"),),
        read=_raw.read_musk2,
        openml=1116,
    ),
    citation="dietterich1997",
    licence=_UCI_LICENCE,
    classes=("non-musk", "musk"),
    groups="molecule",
    protocol="grouped",
    note="rows are shapes of 102 molecules: folds over rows test on molecules seen in training",
)

IJCNN1 = Entry(
    name="ijcnn1",
    title="Misfires of an engine (IJCNN 2001 challenge)",
    task="classification",
    measured=MEASURED["ijcnn1"],
    stored=STORED["ijcnn1"],
    decode=decode_table,
    source=Source(
        page=f"{_LIBSVM}/binary.html",
        files=tuple(
            RawFile(name, f"{_LIBSVM}/binary/{name}") for name in ("ijcnn1.bz2", "ijcnn1.t.bz2")
        ),
        read=_raw.read_ijcnn1,
    ),
    citation="prokhorov2001",
    licence="none stated",
    classes=("normal", "misfire"),
    protocol="official",
    note="consecutive rows follow one another in time and share most values",
)

CODRNA = Entry(
    name="codrna",
    title="Non-coding RNA, from the folding of sequence pairs",
    task="classification",
    measured=MEASURED["codrna"],
    stored=STORED["codrna"],
    decode=decode_table,
    source=Source(
        page=f"{_LIBSVM}/binary.html",
        files=(RawFile("cod-rna", f"{_LIBSVM}/binary/cod-rna"),),
        read=_raw.read_codrna,
    ),
    citation="uzilov2006",
    licence="none stated",
    classes=("other", "ncRNA"),
    feature_names=(
        *("ten_deltaG", "length", "A_1", "U_1"),
        *("C_1", "A_2", "U_2", "C_2"),
    ),
    note="the training file only; 10,084 rows repeat another",
)


def _surf(name: str, domain: str | None, title: str, note: str) -> Entry:
    return Entry(
        name=name,
        title=title,
        task="classification",
        measured=MEASURED[name],
        stored=STORED["office_caltech_surf"],
        decode=partial(decode_surf, domain=domain),
        source=Source(
            page="http://www-scf.usc.edu/~boqinggo/domainadaptation.html",
            files=tuple(
                RawFile(f"{stem}_SURF_L10.mat", None)
                for stem in ("amazon", "Caltech10", "dslr", "webcam")
            ),
            read=_raw.read_surf,
            note="no lasting address: get the four files from any copy of the set",
        ),
        citation="gong2012",
        licence="none stated; published for research",
        classes=_OBJECTS,
        feature_names=tuple(f"word{i}" for i in range(800)),
        groups="" if domain else "domain",
        note=note,
    )


_COUNTS = "counts of 800 visual words; the usual preparation is the histogram"
SURF = (
    _surf("office_caltech_surf", None, "Office + Caltech objects, SURF words", _COUNTS),
    _surf("amazon", "amazon", "Objects from a shop's pages, SURF words", _COUNTS),
    _surf("caltech10", "caltech10", "Objects from Caltech-256, SURF words", _COUNTS),
    _surf("dslr", "dslr", "Objects before a good camera, SURF words", _COUNTS),
    _surf("webcam", "webcam", "Objects before a web camera, SURF words", _COUNTS),
)

ENTRIES = (
    MNIST,
    LETTER,
    USPS,
    ISOLET,
    *SURF,
    COVTYPE,
    MAGIC,
    PAGE_BLOCKS,
    SHUTTLE,
    MUSK2,
    IJCNN1,
    CODRNA,
)
