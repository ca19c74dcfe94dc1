"""Who speaks next in a group's free debate: a state machine without a model in it.

States: a choice is needed (several speakers have more to say), a speech is needed (somebody was chosen, or only one
speaker is left), or it is over (all have ended, or the rounds are used up). A round is one speech; a speaker that
has no more comments ends, and cannot be chosen again (MAJ-EVAL, algorithm 1, phase 2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Turns:
    """The state of a debate.

    Parameters
    ----------
    speakers : tuple of str
        Distinct names.
    most : int
        The most rounds.
    spoken : tuple of str
        Who spoke in each round so far.
    ended : tuple of str
        Who has no more comments, in the order in which they ended.
    chosen : str or None
        Who was chosen and has not spoken yet.

    Examples
    --------
    >>> turns = Turns(("ann", "bob"), most=5)
    >>> turns.needs
    'choice'
    >>> turns = turns.choose("bob").speak(ends=True)
    >>> turns.needs, turns.next, turns.active
    ('speech', 'ann', ('ann',))
    >>> turns.speak(ends=True).over
    'all have ended'
    """

    speakers: tuple[str, ...]
    most: int
    spoken: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    chosen: str | None = None

    def __post_init__(self) -> None:
        if not self.speakers or len(set(self.speakers)) < len(self.speakers):
            raise ValueError(f"speakers must be one or more distinct names, not {self.speakers}")
        if self.most < 1:
            raise ValueError(f"most must be at least 1, not {self.most}")

    @property
    def active(self) -> tuple[str, ...]:
        """Who may still be chosen."""
        return tuple(name for name in self.speakers if name not in self.ended)

    @property
    def over(self) -> str | None:
        """Why the debate is over, None if it is not."""
        if not self.active:
            return "all have ended"
        return "the rounds are used up" if len(self.spoken) >= self.most else None

    @property
    def needs(self) -> Literal["choice", "speech", "nothing"]:
        """Step that comes next: the choice of a speaker, a speech, or nothing."""
        if self.over:
            return "nothing"
        return "choice" if self.next is None else "speech"

    @property
    def next(self) -> str | None:
        """Who speaks next, if that is known."""
        if self.over:
            return None
        return self.active[0] if len(self.active) == 1 else self.chosen

    @property
    def quietest(self) -> str:
        """Who of the active has been silent longest; of those that never spoke, the first."""
        last = {name: place for place, name in enumerate(self.spoken)}
        return min(self.active, key=lambda name: last.get(name, -1))

    def choose(self, name: str) -> Turns:
        """The state after a choice.

        Raises
        ------
        ValueError
            No choice is needed, or the name is not active.
        """
        if self.needs != "choice" or name not in self.active:
            raise ValueError(f"{name!r} cannot be chosen; needed: {self.needs}, active: {self.active}")
        return replace(self, chosen=name)

    def speak(self, ends: bool) -> Turns:
        """The state after the speech of `next`, who ends with it or not.

        Raises
        ------
        ValueError
            No speech is needed.
        """
        name = self.next
        if name is None:
            raise ValueError(f"nobody is to speak; needed: {self.needs}")
        ended = (*self.ended, name) if ends else self.ended
        return replace(self, spoken=(*self.spoken, name), ended=ended, chosen=None)
