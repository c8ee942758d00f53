"""How clients read an engine: slow, obvious rules for each, written from what is known of their behaviour.

Each function takes what an engine sent and returns what the client would show, or fails where the client would break.
"""

import re

VERTEX = r"(?:pass|[A-Za-z]{1,2}\d+)"


def split_replies(text):
    """gtp2ogs: everything up to an empty line is one reply, and each must begin with = or ?."""
    assert text.endswith("\n\n"), "a reply without its end"
    blocks = text[:-2].split("\n\n")
    for block in blocks:
        assert block[:1] in ("=", "?"), f"unexpected output: {block!r}"
    return blocks


def gogui(reply):
    """GoGui: status, digits, then what follows the first space. Return (fine?, id, body)."""
    match = re.fullmatch(r"([=?])(\d*) (.*)", reply, re.DOTALL)
    assert match, f"invalid response {reply!r}"
    return match[1] == "=", match[2], match[3]


def gomill(reply):
    """gomill: only = ? and white space or a comment may begin a reply; an error is the opponent's if "illegal move"."""
    assert reply[0] in "=?", "protocol error"
    assert "\n\n" not in reply
    return reply[0] == "=", reply[1:].partition(" ")[2].rstrip("\n")


def sabaki(line, *, kata):
    """Sabaki: segments split at "info"; the last run of vertices up to the end is the variation."""
    assert line.startswith("info ")
    found = []
    for segment in re.split(r"\s*info\s+", line.strip())[1:]:
        match = re.search(rf"(?:^|\s)({VERTEX}(?:\s+{VERTEX})*)\s*$", segment)
        if not match:
            continue  # the segment vanishes
        words = segment[: match.start(1)].split()
        if words[-1] == "pv":
            words.pop()
        values = dict(zip(words[::2], words[1::2], strict=True))
        if values["move"] == "pass":
            continue
        pv = match[1].split()
        if "pass" in pv:
            pv = pv[: pv.index("pass")]
        if not kata:
            assert re.fullmatch(r"\d+", values["winrate"]), "sabaki divides a whole number by 100"
        winrate = 100 * float(values["winrate"]) if kata else int(values["winrate"]) / 100
        assert 0 <= winrate <= 100
        lead = float(values["scoreLead"]) if "scoreLead" in values else None
        visits = int(values["visits"])
        found.append({"vertex": values["move"], "visits": visits, "winrate": winrate, "pv": pv, "lead": lead})
    return found


def lizzie(line, *, kata):
    """Lizzie: pairs up to "pv", whole numbers for Leela Zero, decimals with scoreMean and scoreStdev for KataGo."""
    line, _, ownership = line.partition(" ownership ")
    found = []
    for segment in line.removeprefix("info ").split(" info "):
        words = segment.strip().split(" ")
        end = words.index("pv")
        values = dict(zip(words[:end:2], words[1:end:2], strict=True))
        number = float if kata else int  # Integer.parseInt throws on a decimal point and on a sign "+"
        entry = {"move": values["move"], "visits": int(values["visits"]), "pv": words[end + 1 :]}
        for key in ("winrate", "prior", "lcb"):
            assert not values[key].startswith("+")
            entry[key] = number(values[key])
        if kata:
            entry["score"], entry["stdev"] = float(values["scoreMean"]), float(values["scoreStdev"])
        found.append(entry)
    return found, [float(word) for word in ownership.split()]


def lizzie_version(version):
    """Lizzie: N.M with M at least 15, else it warns; without a dot its reader thread ends."""
    parts = version.split(".")
    return int(parts[1]) >= 15


def lizgoban(line):
    """LizGoban: the line is split at ownership, ownershipStdev, rootInfo, then at info, then at a variation's words."""
    parts = re.split(r"\b(ownershipStdev|ownership|rootInfo)\b", line)
    top = {name: body.split() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
    moves = []
    for segment in parts[0].split("info")[1:]:
        pieces = re.split(r"\b(pvEdgeVisits|pvVisits|pv|movesOwnership)\b", segment.strip())
        words = pieces[0].split()
        entry = dict(zip(words[::2], words[1::2], strict=True))
        entry.update({name: body.split() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)})
        moves.append(entry)
    return moves, top


def lizgoban_raw(text):
    """LizGoban's reading of kata-raw-nn: words are keys, numbers and NAN their values."""
    found = {}
    key = None
    for word in text.split():
        if re.fullmatch(r"-?[\d.]+(e-?\d+)?|NAN", word):
            found[key].append(word)
        else:
            key, found[word] = word, []
    return found


def lizzieyzy_raw(text, width, height):
    """LizzieYzy: after the line "whiteOwnership" come rows of exactly as many numbers as the board is wide."""
    lines = text.split("\n")
    rows = [line.split() for line in lines[lines.index("whiteOwnership") + 1 :]]
    assert len(rows) == height and all(len(row) == width for row in rows)
    return rows


def lizzieyzy_heatmap(reply, width, height):
    """LizzieYzy: lines that begin with a space or a digit and have as many whole numbers as the board is wide."""
    counts, winrate = [], None
    for line in reply.split("\n"):
        if line[:1] == " " or line[:1].isdigit():
            words = line.split()
            if len(words) == width:
                counts += [int(word) for word in words]
        if "winrate:" in line:
            winrate = float(line.strip().split(" ")[1])
    assert len(counts) == width * height
    return counts, winrate


def q5go(line, *, kata):
    """q5Go: every segment needs visits, winrate and pv, and scoreMean with scoreStdev in KataGo's dialect."""
    assert line.startswith("info move")
    found = []
    for segment in line.split("info ")[1:]:
        head, _, pv = segment.partition(" pv ")
        words = head.split()
        values = dict(zip(words[::2], words[1::2], strict=True))
        assert pv and {"visits", "winrate"} <= set(values)
        assert not kata or {"scoreMean", "scoreStdev"} <= set(values)
        found.append(float(values["winrate"]) / (1 if kata else 10000))
    return found


def ogatak_ready(errors):
    """Ogatak and KaTrain raise an alarm at these words on the error stream."""
    return not re.search(r"exception|what\(\)", errors, re.IGNORECASE)


def quiet_errors(errors):
    """Lizzie merges the error stream into the output: no line may look like a reply, an analysis or a summary."""
    for line in errors.splitlines():
        assert not re.match(r"[=?]|info|play|komi=|Tuning", line), line
        assert " -> " not in line, line
    return True
