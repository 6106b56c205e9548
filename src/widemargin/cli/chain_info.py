"""What `widemargin info` tells of a model of sequences: labels, certificate, transitions and features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..estimators._chain import ChainModel

# A weight's share of the largest one, as shades of a cell; the sign stands beside it.
SHADES = " ░▒▓█"
WIDEST = 40


def chain_facts(model: ChainModel, top: int) -> dict[str, Any]:
    """What there is to know about the model."""
    certificate = model.certificate_
    return {
        "kind": type(model).__name__,
        "labels": model.classes_.tolist(),
        "features": model.n_features_in_,
        "solver": model.solver_,
        "objective": certificate.primal,
        "dual": certificate.dual,
        "relative_gap": certificate.relative_gap,
        "parameters": {name: str(value) for name, value in model.get_params().items()},
        "tagging": model._tagging,
        "transitions": model.transitions_.tolist(),
        "top_features": {str(label): found for label, found in model.top_features(top).items()},
    }


def chain_lines(facts: dict[str, Any]) -> list[str]:
    """The facts as lines for a terminal."""
    lines = [
        f"{facts['kind']}: {len(facts['labels'])} labels, {facts['features']:,} features",
        f"certificate: objective {facts['objective']:.6g}, relative gap {facts['relative_gap']:.2g}, {facts['solver']}",
        *_reading_lines(facts["tagging"]),
        "",
        "transitions, from the label of the line to that of the column:",
        *_heat_map([str(label) for label in facts["labels"]], facts["transitions"]),
    ]
    for label, found in facts["top_features"].items():
        lines += ["", f"{label}:", *(f"  {weight:+9.4f}  {name}" for name, weight in found)]
    return lines


def _reading_lines(tagging: dict[str, Any] | None) -> list[str]:
    """How `widemargin tag` reads files for the model; nothing for one that was fitted in Python."""
    if tagging is None:
        return []
    template = str(tagging.get("template", "")).splitlines()
    return ["", f"reads files of {tagging['format']}{', by the template:' if template else ''}", *template]


def _heat_map(labels: list[str], table: list[list[float]]) -> list[str]:
    """A line for each label: two characters for each weight, its sign and its shade."""
    largest = max((abs(weight) for line in table for weight in line), default=0.0) or 1.0
    width = min(max(map(len, labels)), WIDEST)

    def cell(weight: float) -> str:
        shade = SHADES[min(len(SHADES) - 1, round(abs(weight) / largest * (len(SHADES) - 1)))]
        return ("-" if weight < 0 else "+") + shade if shade != " " else "  "

    shown = zip(labels, table, strict=True)
    return [f"  {label[:width]:>{width}} |{''.join(cell(weight) for weight in line)}|" for label, line in shown]
