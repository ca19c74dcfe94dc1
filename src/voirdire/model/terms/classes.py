"""Classes of items: how common each is, or what each item alone is like."""

from __future__ import annotations

from typing import ClassVar

from voirdire.model.terms.parameters import Normal, Parameter


class Shares:
    """An item under criterion c belongs to class j with probability softmax(class_share_c)_j.

    The log shares have prior Normal(0, sd) with sum zero over the classes, which treats all classes alike. The class
    of each item is summed out of the likelihood (see :mod:`voirdire.kinds.labels.density`).

    Examples
    --------
    >>> Shares().parameters({"sd": 1.5})[0].dims
    ('criterion', 'class')
    """

    kind: ClassVar[str] = "shares"
    keys: ClassVar[dict[str, str]] = {"sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``class_share`` (log scale), shape (criterion, class)."""
        return (Parameter("class_share", ("criterion", "class"), Normal(0.0, prior["sd"]), zero_sum=True),)


class ByItem:
    """Every item has shares of its own, softmax(tendency_i), of which all its labels are drawn.

    ``tendency`` has prior Normal(0, sd) with sum zero over the labels. The item's class is its most probable label:
    at the mode the most common label, as the prior treats all alike, and over draws of the posterior with the
    probability that it is the most common one in the long run.

    Examples
    --------
    >>> ByItem().parameters({"sd": 1.5})[0].dims
    ('unit', 'label')
    """

    kind: ClassVar[str] = "by-item"
    keys: ClassVar[dict[str, str]] = {"sd": "positive"}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return ``tendency`` (log scale), shape (unit, label)."""
        return (Parameter("tendency", ("unit", "label"), Normal(0.0, prior["sd"]), zero_sum=True),)


class LatentValue:
    """An item has a value x ~ Normal(0, 1) that judges cut into levels; see :mod:`.terms.shared_errors`.

    Its class is the level that a judge of the panel, any of them, would name.

    Examples
    --------
    >>> LatentValue().parameters({})
    ()
    """

    kind: ClassVar[str] = "latent-value"
    keys: ClassVar[dict[str, str]] = {}

    def parameters(self, prior: dict[str, float]) -> tuple[Parameter, ...]:
        """Return no parameters: values are integrated out."""
        return ()
