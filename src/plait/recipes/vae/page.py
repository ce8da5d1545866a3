"""Table 3 of paper 002 with ours beside it, learning curves, and pictures of samples, reconstructions and latents.

<output>/NAME.md and the figures that it shows, in <output>/NAME/, may be copied to docs/results as they are.
"""

import dataclasses
import itertools
import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from plait.checkpoint.atomic import write_whole
from plait.metrics import Estimate
from plait.recipes.vae.network import Autoencoder
from plait.recipes.vae.protocol import Protocol
from plait.recipes.vae.study import Results
from plait.report import Picture, Table, curve_grid, image_grid, latent_map

PAPER = {
    (40, "DIAG"): (-89.14, -94.36),
    (40, "MN"): (-88.80, -94.03),
    (40, "MV"): (-87.94, -93.01),
    (9, "DIAG"): (-96.80, -101.19),
    (9, "MN"): (-96.61, -101.08),
    (9, "MV"): (-96.20, -100.87),
}
"""Table 3: log-likelihood and ELBO."""
SHOWN = 10
"""Pictures in a row."""


def comparison_table(results: Results) -> Table:
    """Table 3, the paper's beside ours."""
    rows = []
    for one in results.judged:
        paper = PAPER.get((one.latent.size, one.latent.head))
        shape = " x ".join(map(str, one.latent.shape))
        rows.append(
            (
                str(one.latent.size),
                one.latent.head,
                shape,
                "" if paper is None else f"{paper[0]:.2f}",
                str(one.log_likelihood),
                "" if paper is None else f"{paper[1]:.2f}",
                str(one.elbo),
            )
        )
    return Table(("z", "head", "shape", "LL, paper", "LL, ours", "ELBO, paper", "ELBO, ours"), rows, left=3)


def write_page(output: Path, name: str, protocol: Protocol, whole: Protocol, results: Results, command: str) -> Path:
    """Write the page and its figures; `whole` is the protocol with nothing left out."""
    figures = output / name
    figures.mkdir(parents=True, exist_ok=True)
    shown = []
    for file, picture in _pictures(results).items():
        picture.save(figures / file)
        shown.append(f"### {picture.title}\n\n![{picture.title}]({name}/{file})\n\n*{picture.caption}*")
    sections = [
        f"Made by `{command}`.",
        _cut(protocol, whole),
        f"Data: {results.source}",
        _setting(protocol),
        "## Log-likelihood and ELBO of test images (table 3)",
        comparison_table(results).markdown(),
        _order(results),
        "## What training took",
        _training_table(results).markdown(),
        "## Pictures",
        *shown,
    ]
    page = output / f"{name}.md"
    write_whole(page, ("\n\n".join([f"# {protocol.title}", *filter(None, sections)]) + "\n").encode())
    return page


def _cut(protocol: Protocol, whole: Protocol) -> str:
    changed = [
        f"{field.name.replace('_', ' ')} {getattr(protocol, field.name)} instead of {getattr(whole, field.name)}"
        for field in dataclasses.fields(Protocol)
        if field.name != "title" and getattr(protocol, field.name) != getattr(whole, field.name)
    ]
    return f"**Cut short**: {'; '.join(changed)}." if changed else ""


def _setting(protocol: Protocol) -> str:
    return (
        f"Encoder {'-'.join(map(str, protocol.widths))} with ELU, decoder its mirror image; Adam at "
        f"{protocol.learning_rate:g}, batches of {protocol.batch_size}, at most {protocol.epochs} epochs; the KL "
        f"weight grows exponentially from {protocol.start:g} to 1 in {protocol.annealing} epochs; after that training "
        f"ends {protocol.patience} epochs after the best -ELBO of the validation data, and the best model is judged. "
        f"The KL is in closed form where algorithm 3 draws it. LL by {protocol.num_samples:,} importance samples, "
        "the ELBO by the average of the same log weights; ± is the standard error over test images."
    )


def _order(results: Results) -> str:
    """Whether DIAG <= MN <= MV."""
    lines = []
    for size in dict.fromkeys(one.latent.size for one in results.judged):
        by_head = {one.latent.head: one for one in results.judged if one.latent.size == size}
        if len(by_head) < 2:
            continue
        heads = [head for head in ("DIAG", "MN", "MV") if head in by_head]
        gaps = [
            f"{second} less {first}: LL {_gap(by_head[second].log_likelihood, by_head[first].log_likelihood)}, "
            f"ELBO {_gap(by_head[second].elbo, by_head[first].elbo)}"
            for first, second in itertools.pairwise(heads)
        ]
        lines.append(f"- |z| = {size}: {'; '.join(gaps)}")
    return "" if not lines else "The paper's order is DIAG <= MN <= MV.\n\n" + "\n".join(lines)


def _gap(first: Estimate, second: Estimate) -> str:
    """Images are the same, so that the error of unpaired means is far on the safe side."""
    return (
        f"{first.value - second.value:+.2f} (± {math.hypot(first.standard_error, second.standard_error):.2f} unpaired)"
    )


def _training_table(results: Results) -> Table:
    rows = [
        (
            str(one.latent.size),
            one.latent.head,
            f"{one.latent.num_outputs:,}",
            f"{one.num_params:,}",
            f"{one.best_epoch:,}",
            f"{1e3 * one.seconds_per_step:.1f}",
            f"{one.seconds / 60:.1f}",
        )
        for one in results.judged
    ]
    columns = ("z", "head", "encoder outputs", "parameters", "best epoch", "ms / step", "minutes")
    return Table(columns, rows, left=2)


def _pictures(results: Results) -> dict[str, Picture]:
    found = {}
    test = results.dataset.test.x
    images = test[np.linspace(0, len(test) - 1, SHOWN).astype(int)].astype(np.float32)
    for size in dict.fromkeys(one.latent.size for one in results.judged):
        group = [one for one in results.judged if one.latent.size == size]
        rows = {"test images": _row(images)}
        rows |= {f"{one.latent.head}, reconstructed": _row(_reconstructed(one.model, images)) for one in group}
        rows |= {f"{one.latent.head}, drawn": _row(_drawn(one.model)) for one in group}
        found[f"images-{size}.png"] = Picture(
            image_grid(rows, SHOWN),
            f"Reconstructions and samples, |z| = {size}",
            "Test images; the probabilities of pixels decoded from the mean of their latents; and from latents drawn "
            "from the prior.",
        )
        maps = {one.latent.head: _map(one.model, test) for one in group}
        found[f"latents-{size}.png"] = Picture(
            latent_map(maps),
            f"Latent space, |z| = {size}",
            "Means of the latents of test images along their two directions of largest variance, and the images that "
            "points of that plane decode to.",
        )
    curves = {f"|z| = {size}": _curves(results, size) for size in dict.fromkeys(o.latent.size for o in results.judged)}
    found["training.png"] = Picture(
        curve_grid(curves, {"−ELBO, training": False, "−ELBO, validation": False}),
        "Training",
        "-ELBO per image at KL weight 1, by epoch. It rises while the KL is annealed: that is not what is minimised.",
    )
    return found


def _curves(results: Results, size: int) -> dict[str, tuple[np.ndarray, dict[str, np.ndarray]]]:
    return {
        one.latent.head: (
            one.history["epoch"],
            {
                "−ELBO, training": one.history["negative_elbo"],
                "−ELBO, validation": one.history["validation_negative_elbo"],
            },
        )
        for one in results.judged
        if one.latent.size == size
    }


def _row(images: np.ndarray) -> tuple[np.ndarray, list[str]]:
    return images, [""] * len(images)


def _reconstructed(model: Autoencoder, images: np.ndarray) -> np.ndarray:
    return np.asarray(jax.nn.sigmoid(jax.vmap(model)(jnp.asarray(images))))


def _drawn(model: Autoencoder) -> np.ndarray:
    return _decoded(model, np.asarray(jax.random.normal(jax.random.key(1), (SHOWN, *model.latent.shape))))


def _decoded(model: Autoencoder, z: np.ndarray) -> np.ndarray:
    return np.asarray(jax.nn.sigmoid(jax.vmap(model.decode)(jnp.asarray(z))))


def _map(
    model: Autoencoder, test: np.ndarray, count: int = 2000, side: int = 9
) -> tuple[np.ndarray, np.ndarray, float]:
    """Points [n, 2], decoded images [side, side, ...] and half the width of the square that they cover."""
    images = jnp.asarray(test[np.linspace(0, len(test) - 1, min(count, len(test))).astype(int)].astype(np.float32))
    means = np.asarray(jax.vmap(lambda x: model.encode(x).mean.reshape(-1))(images))
    centre = means.mean(axis=0)
    _, _, directions = np.linalg.svd(means - centre, full_matrices=False)
    points = (means - centre) @ directions[:2].T
    half = float(np.quantile(np.abs(points), 0.98))
    steps = np.linspace(-half, half, side)
    grid = np.stack(np.meshgrid(steps, steps[::-1]), axis=-1).reshape(-1, 2)
    z = centre + grid @ directions[:2]
    decoded = _decoded(model, z.reshape(-1, *model.latent.shape).astype(np.float32))
    return points, decoded.reshape(side, side, *decoded.shape[1:]), half
