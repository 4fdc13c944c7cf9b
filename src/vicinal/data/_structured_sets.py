"""Entries of sets that are more than a table: molecules and meshes."""

from __future__ import annotations

from vicinal.data import _raw
from vicinal.data._decoding import decode_meshes, decode_qm7
from vicinal.data._measurements import MEASURED, STORED
from vicinal.data._registry import Entry, RawFile, Source

QM7 = Entry(
    name="qm7",
    title="Atomisation energies of small organic molecules",
    task="regression",
    measured=MEASURED["qm7"],
    stored=STORED["qm7"],
    decode=decode_qm7,
    source=Source(
        page="http://quantum-machine.org/datasets/",
        files=(RawFile("qm7.mat", "http://quantum-machine.org/data/qm7.mat"),),
        read=_raw.read_qm7,
    ),
    citation="rupp2012",
    licence="none stated",
    note="X is the sorted Coulomb matrix; atoms and the published folds are in extras",
)

SHAPEDB69 = Entry(
    name="shapedb69",
    title="Three-dimensional shapes of 69 kinds of objects",
    task="classification",
    measured=MEASURED["shapedb69"],
    stored=STORED["shapedb69"],
    decode=decode_meshes,
    source=Source(
        page="https://github.com/MaxRee94/ShapeDatabase_INFOMR",
        note="meshes reduced to 2,000 faces; the reduced file has no public address",
    ),
    citation="shilane2004",
    licence="none stated",
    classes=(
        *("AircraftBuoyant", "Apartment", "AquaticAnimal", "Bed", "Bicycle", "Biplane", "Bird"),
        *("Bookset", "Bottle", "BuildingNonResidential", "Bus", "Car", "Cellphone", "Chess"),
        *("City", "ClassicPiano", "Computer", "ComputerKeyboard", "Cup", "DeskLamp", "DeskPhone"),
        *("Door", "Drum", "Fish", "FloorLamp", "Glasses", "Guitar", "Gun", "Hand", "Hat"),
        *("Helicopter", "House", "HumanHead", "Humanoid", "Insect", "Jet", "Knife"),
        *("MilitaryVehicle", "Monitor", "Monoplane", "Motorcycle", "Mug", "MultiSeat"),
        *("Musical_Instrument", "NonWheelChair", "PianoBoard", "PlantIndoors"),
        *("PlantWildNonTree", "Quadruped", "RectangleTable", "Rocket", "RoundTable", "Shelf"),
        *("Ship", "Sign", "Skyscraper", "Spoon", "Starship", "SubmachineGun", "Sword", "Tool"),
        *("Train", "Tree", "Truck", "TruckNonContainer", "Vase", "Violin", "Wheel", "WheelChair"),
    ),
    note="X is the area by distance from the centre; the meshes are in extras",
)

ENTRIES = (QM7, SHAPEDB69)
