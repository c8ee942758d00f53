from collections.abc import Iterable, Sequence

def read_region(
    neighbours: Sequence[Iterable[int]],
    defender: Iterable[int],
    attacker: Iterable[int],
    firm_defender: Iterable[int],
    firm_attacker: Iterable[int],
    target: Iterable[int],
    *,
    attacker_first: bool,
    ko: int | None,
    limit: int,
    price: Iterable[int] = (),
    pass_for_ko: bool = False,
) -> tuple[int, int | None, int, bool]: ...
