"""Names of columns: which of a table's columns stand for voirdire's, and what kind of table they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from voirdire.tables.problems import nearest_name

#: Other names of voirdire's columns; case, blanks, ``_``, ``-`` and ``.`` do not count.
ALIASES: dict[str, tuple[str, ...]] = {
    "judge": (
        "annotator", "rater", "worker", "grader", "evaluator", "coder", "user", "userid", "workerid", "annotatorid",
        "raterid", "judgeid", "graderid", "coderid", "evaluatorid", "judgename", "annotatorname", "judgemodel",
        "participant", "participantid", "evalmodelname", "assessor", "assessorid", "reviewer", "reviewerid",
        "voter", "voterid", "labeler", "labelerid", "labeller", "labellerid",
    ),
    "first": ("modela", "left", "optiona", "systema", "model0", "model1", "itema", "item0", "item1"),
    "second": ("modelb", "right", "optionb", "systemb", "model1", "model2", "itemb", "item1", "item2"),
    "winner": ("preferred", "choice", "verdict", "outcome"),
    "item": (
        "task", "taskid", "itemid", "example", "exampleid", "document", "docid", "instanceid", "unit", "unitid",
        "subject", "subjectid", "sampleid",
    ),
    "score": ("rating", "grade", "points"),
    "label": ("class", "category", "annotation", "answer"),
    "rank": (),
    "criterion": ("aspect", "dimension", "attribute", "metric"),
    "context": (
        "prompt", "promptid", "questionid", "question", "instruction", "query", "queryid", "qid", "topic", "topicid",
    ),
    "system": ("model", "policy", "modelname", "modelid", "systemname", "systemid", "sysid"),
    "run": ("repeat", "trial"),
}  # fmt: skip


class TableKind(NamedTuple):
    """A kind of table by its columns.

    Attributes
    ----------
    name : str
        As model files have it.
    answer : str
        The column of answers.
    subject_columns : tuple of str
        Columns that say what is answered about, beside the judge.
    crosses : bool
        Whether an item may be named by its context and its system.
    level : str
        One of the answers, of which a table needs two, in words; empty where one will do.
    averages : bool
        Whether answers are numbers with a mean.
    """

    name: str
    answer: str
    subject_columns: tuple[str, ...] = ("item",)
    crosses: bool = True
    level: str = ""
    averages: bool = False

    @property
    def needed(self) -> tuple[str, ...]:
        """Columns that a table of this kind must have."""
        return ("judge", *self.subject_columns, self.answer)


TABLE_KINDS = (
    TableKind("votes", "winner", subject_columns=("first", "second")),
    TableKind("scores", "score", level="level of scores", averages=True),
    TableKind("labels", "label", level="label"),
    TableKind("rankings", "rank", crosses=False),
)
KIND_OF_TABLE = {kind.name: kind for kind in TABLE_KINDS}
#: The column of answers of each kind of table, and the columns that it needs.
ANSWERS = {kind.name: kind.answer for kind in TABLE_KINDS}
NEEDED = {kind.name: kind.needed for kind in TABLE_KINDS}
#: Columns that say something to voirdire, in whatever table.
KNOWN = (
    *ALIASES, "order", "degree", "time", "phase", "group", "family", "person", "id", "text", "source", "weight",
)  # fmt: skip
#: What is ranked, where no column is called item or system.
RANKED = ("response", "completion", "output", "candidate", "option")
#: Columns that say how often an answer was given, in tables that do not say by whom.
COUNT_NAMES = ("count", "counts", "n", "freq", "frequency", "votes", "nvotes", "nannotators")
RANKINGS_AS_VOTES = (
    "these are rankings, which this does not take; --table votes (table='votes') reads each as the votes between its "
    "items"
)
#: An answer of either kind: a score where all its cells are numbers, else a label.
EITHER = ("value", "response", "rating", "grade", "points")


def normalise_column_name(name: str) -> str:
    """Reduce the name of a column to what counts when names are compared.

    Examples
    --------
    >>> normalise_column_name("Model_A "), normalise_column_name("judge-ID")
    ('modela', 'judgeid')
    """
    return "".join(letter for letter in name.lower() if letter not in " _-.\t")


def find_roles(columns: Sequence[str], given: Iterable[str] = ()) -> dict[str, str]:
    """Columns that stand for voirdire's, as far as these are not there under their own names.

    Where the columns of a kind of table are all there under their own names, no other is taken for one of voirdire's.

    Parameters
    ----------
    columns : sequence of str
    given : iterable of str
        Columns of voirdire's that are known to stand under other names.

    Examples
    --------
    >>> find_roles(("annotator", "First", "model_b", "winner"))
    {'judge': 'annotator', 'first': 'First', 'second': 'model_b', 'winner': 'winner'}

    Mechanical Turk says of its columns which are answers, and which were shown:

    >>> find_roles(("HITId", "WorkerId", "Input.text", "Input.item_id", "Answer.rating"))
    {'judge': 'WorkerId', 'item': 'Input.item_id', 'score': 'Answer.rating'}

    A column that might be an answer is none where another stands under its own name:

    >>> find_roles(("judge", "first", "second", "winner", "category"))
    {'judge': 'judge', 'first': 'first', 'second': 'second', 'winner': 'winner'}
    """
    found = {name: name for name in KNOWN if name in columns}
    if table_kind([*found, *given]) is not None:
        return {name: name for name in ALIASES if name in found}
    return _add_ranked_item_role(_find_aliases(columns, found), columns)


def _find_aliases(columns: Sequence[str], found: Mapping[str, str]) -> dict[str, str]:
    free = [
        name for name in reversed(columns) if name not in KNOWN
    ]  # of names that are alike the first counts
    plain = {
        prefix: {normalise_column_name(name.lower().removeprefix(prefix)): name for name in free}
        for prefix in ("answer.", "input.")
    }
    roles: dict[str, str] = {}
    for column, others in ALIASES.items():
        named = plain["answer." if column in ANSWERS.values() else "input."]
        likely = [named[want] for want in (column, *others) if want in named]
        if (
            one := column
            if column in found
            else next((name for name in likely if name not in roles.values()), None)
        ):
            roles[column] = one
    for side in ("first", "second"):  # of three items or more none is one of two
        stem = normalise_column_name(roles.get(side, "")).rstrip("0123456789")
        alike = [name for name in plain["input."] if name.rstrip("0123456789") == stem != name]
        if roles.get(side, side) != side and len(alike) > 2:
            del roles[side]
    return _keep_one_answer_role(roles)


def _add_ranked_item_role(roles: dict[str, str], columns: Sequence[str]) -> dict[str, str]:
    """Roles of rankings: what is ranked is the system, or its response, where no column is called item."""
    if "rank" not in roles or "item" in roles or {"first", "second"} & roles.keys():
        return roles
    ranked = roles.pop("system", None)
    ranked = ranked or next(
        (name for name in columns if normalise_column_name(name) in RANKED and name not in roles.values()),
        None,
    )
    return roles | ({"item": ranked} if ranked else {})


def _keep_one_answer_role(roles: dict[str, str]) -> dict[str, str]:
    """Roles of one answer: what stands under its own name, or is the winner of two items, is the only one."""
    answers = [name for name in ANSWERS.values() if name in roles]
    own = [name for name in answers if roles[name] == name]
    if not own and {"first", "second", "winner"} <= roles.keys():
        own = ["winner"]
    return {name: column for name, column in roles.items() if name not in answers or not own or name in own}


def table_kind(roles: Iterable[str] | Mapping[str, str]) -> str | None:
    """The kind of a table with such columns: votes, scores, labels or rankings; None where that cannot be told.

    Parameters
    ----------
    roles : iterable of str, or mapping of str to str
        Columns of voirdire's that are there; as a mapping to the names that they have, where an answer under its own
        name comes before one under another.

    Examples
    --------
    >>> table_kind(["judge", "context", "system", "score"]), table_kind(["judge", "item"])
    ('scores', None)
    """
    named = roles if isinstance(roles, Mapping) else {name: name for name in roles}
    have = set(named)
    crossed = {"item"} if {"context", "system"} <= have else set()
    kinds = [
        kind.name for kind in TABLE_KINDS if (have | crossed if kind.crosses else have) >= set(kind.needed)
    ]
    own = [kind for kind in kinds if named[ANSWERS[kind]] == ANSWERS[kind]]
    kinds = own if len(own) == 1 else kinds
    return kinds[0] if len(kinds) == 1 else None


def list_names(names: Sequence[str], shown: int = 12) -> str:
    """Names of columns for a message.

    Examples
    --------
    >>> list_names(["a", "b"]), list_names(["a", "b"], shown=1)
    ("'a', 'b'", "'a', ...")
    """
    return ", ".join(repr(name) for name in names[:shown]) + (", ..." if len(names) > shown else "")


def unknown_column_messages(targets: Iterable[str]) -> list[str]:
    """Sentences about names that are none of voirdire's columns, on the left of a mapping.

    Examples
    --------
    >>> unknown_column_messages(["judge", "contxt"])
    ["'contxt' is no column of voirdire's; did you mean 'context'?"]
    """
    return [
        f"{name!r} is no column of voirdire's"
        + (nearest_name(name, KNOWN) or f"; its columns are {', '.join(KNOWN)}")
        for name in targets
        if name not in KNOWN
    ]


def say_which(kinds: Sequence[str]) -> str:
    """Remedy for a table that may be of several kinds.

    Examples
    --------
    >>> say_which(["scores", "labels"])
    "--table scores or --table labels (in Python read(..., table='scores')) says which is meant"
    """
    return (
        f"--table {' or --table '.join(kinds)} (in Python read(..., table={kinds[0]!r})) says which is meant"
    )


def describe_unknown_columns(columns: Sequence[str]) -> str:
    """Describe a table of unknown columns in a sentence: those that it has, what it lacks, and what to type.

    Examples
    --------
    >>> describe_unknown_columns(["item", "rater", "note"])
    "the columns 'item', 'rater', 'note' lack one of answers (winner, score, label or rank)"
    """
    roles = find_roles(columns)
    seen = f"the columns {list_names(columns)}" if columns else "columns without names"
    answered = [kind for kind, answer in ANSWERS.items() if answer in roles]
    if answered or {"first", "second"} <= roles.keys():
        kind = "votes" if {"first", "second"} <= roles.keys() else answered[-1]
        crossed = KIND_OF_TABLE[kind].crosses and {"context", "system"} <= roles.keys()
        missing = [name for name in NEEDED[kind] if name not in roles and not (crossed and name == "item")]
        if not missing:
            return f"{seen} are those of {' and '.join(answered)}; {say_which(answered)}"
        people = " (answers of people need none: --anchors, --humans)" if missing == ["judge"] else ""
        return f"{seen} are those of {kind}, but lack {' and '.join(missing)}{people}"
    if "judge" in roles or "item" in roles:
        return f"{seen} lack one of answers (winner, score, label or rank)"
    return f"{seen} are those of no known format"


def describe_missing(
    missing: Sequence[str], present: Sequence[str], spare: Sequence[str], *, may_map: bool
) -> str:
    """Name the columns that a table lacks, those that it has, and which of these are plausibly meant.

    Parameters
    ----------
    missing, present, spare : sequence of str
        Columns that are required and not there, those that are, and those of them that stand for nothing else.
    may_map : bool
        Whether a mapping says which column stands for which.

    Examples
    --------
    >>> describe_missing(["winner"], ["judge", "Winer"], ["Winer"], may_map=True)
    "column 'winner' is missing; did you mean 'Winer'? The columns are 'judge', 'Winer' (--map winner=Winer)"
    >>> describe_missing(["first", "second"], ["judge", "gpt", "llama"], ["gpt", "llama"], may_map=True)
    "columns 'first' and 'second' are missing; the columns are 'judge', 'gpt', 'llama' (--map first=gpt,second=llama)"
    >>> describe_missing(["family"], ["judge"], [], may_map=False)
    "column 'family' is missing; the columns are 'judge'"
    """
    named = " and ".join(part for part in (", ".join(map(repr, missing[:-1])), repr(missing[-1])) if part)
    said = f"column{'s' if len(missing) > 1 else ''} {named} {'are' if len(missing) > 1 else 'is'} missing"
    if not present:
        return f"{said}; there is no column"
    near = nearest_name(missing[0], spare) if len(missing) == 1 else ""
    seen = f"{' The' if near else '; the'} columns are {list_names(present)}"
    if not may_map:
        return said + near + seen
    kind = table_kind(present)
    if kind is not None and {*missing} & {*ANSWERS.values()}:
        return f"{said}; {RANKINGS_AS_VOTES if kind == 'rankings' and 'first' in missing else f'these are {kind}'}"
    likely = _likely_meant(missing, spare)
    pairs = ",".join(f"{name}={likely.get(name, 'COLUMN')}" for name in missing)
    alone = "; --set judge=NAME where one judge gave all answers" if [*missing] == ["judge"] else ""
    return f"{said}{near}{seen} (--map {pairs}{alone})"


def _likely_meant(missing: Sequence[str], spare: Sequence[str]) -> dict[str, str]:
    """Columns that are plausibly meant: by a name that is near, one that holds another name, or as they are left."""
    free = list(spare)
    found = {}
    for likes in (_is_near, _holds_name):
        for name in missing:
            like = [] if name in found else [one for one in free if likes(name, one)]
            if like:
                found[name] = like[0]
                free.remove(like[0])
    rest = [name for name in missing if name not in found]
    free = [name for name in free if normalise_column_name(name) not in COUNT_NAMES]
    return found | (dict(zip(rest, free, strict=True)) if len(rest) == len(free) else {})


def _is_near(name: str, column: str) -> bool:
    return bool(nearest_name(name, [column]))


def _holds_name(name: str, column: str) -> bool:
    """True where a column's name holds voirdire's, or one that is known for it."""
    return any(
        other in normalise_column_name(column) for other in (name, *ALIASES.get(name, ())) if len(other) > 3
    )
