"""Slow, obvious twins of prototypes and criticisms: every objective value from the full kernel matrix, nothing kept."""

import numpy as np

import stream_oracles

TIE = 1e-12
COPY = 1e-9


def local(gram, labels):
    """The kernel of each class by itself: 0 between rows of different labels."""
    labels = np.asarray(labels)
    return gram * (labels[:, None] == labels[None, :])


def prototype_objective(gram, chosen):
    """J(S) = 2/(n |S|) sum_{i, j in S} k(x_i, x_j) - 1/|S|^2 sum_{j, l in S} k(x_j, x_l) (the draft, eq. 2)."""
    chosen = np.asarray(chosen)
    n, size = len(gram), len(chosen)
    return float(2.0 / (n * size) * gram[:, chosen].sum() - gram[np.ix_(chosen, chosen)].sum() / size**2)


def witness(gram, prototypes):
    """mean_i k(x_i, x) - mean_s k(s, x) at every row x: positive where the prototypes have too little."""
    return gram.mean(axis=0) - gram[np.asarray(prototypes)].mean(axis=0)


def log_det(gram, chosen):
    """log det K_CC; minus infinity where rounding says that it is not positive."""
    sign, value = np.linalg.slogdet(gram[np.ix_(chosen, chosen)])
    return float(value) if sign > 0 else -np.inf


def criticism_objective(gram, values, chosen, diversity=1.0):
    """F(C) = sum_{l in C} |w(x_l)| + diversity log det K_CC (the draft, eq. 3, where it is 1)."""
    chosen = list(chosen)
    return float(np.abs(values[chosen]).sum()) + (diversity * log_det(gram, chosen) if diversity and chosen else 0.0)


def first_best(values):
    """The first of the values that equal the largest but for rounding; None where all are minus infinity."""
    values = np.asarray(values)
    top = values.max()
    return None if top == -np.inf else int(np.flatnonzero(values >= top - TIE * max(1.0, abs(top)))[0])


def greedy_prototypes(gram, count):
    """The row that gives the largest J, one by one; of equal ones the lowest."""
    chosen = []
    for _ in range(count):
        values = [-np.inf if j in chosen else prototype_objective(gram, [*chosen, j]) for j in range(len(gram))]
        chosen.append(first_best(values))
    return chosen


def greedy_criticisms(gram, values, count, taken=(), diversity=1.0):
    """The row that raises F most, one by one, rows of `taken` left out; copies of what is chosen are never chosen.

    A copy is a row that multiplies det K_CC by no more than 1e-9 k(x, x).
    """
    chosen = []
    for _ in range(count):
        before = criticism_objective(gram, values, chosen, diversity)
        gains = np.full(len(gram), -np.inf)
        for row in set(range(len(gram))) - set(taken) - set(chosen):
            gain = criticism_objective(gram, values, [*chosen, row], diversity) - before
            if not diversity or np.exp((gain - abs(values[row])) / diversity) > COPY * gram[row, row]:
                gains[row] = gain
        best = first_best(gains / (diversity or 1.0))  # ties are those of the log det's scale
        if best is None:
            break
        chosen.append(best)
    return chosen


def explained(gram, prototypes, criticisms, shares=None):
    """For each criticism the nearest prototype, and the share of rows nearer to it than to any prototype, row by row."""
    shares = np.full(len(gram), 1.0 / len(gram)) if shares is None else shares

    def distance(i, j):
        return gram[i, i] + gram[j, j] - 2.0 * gram[i, j]

    nearest, closer = [], []
    for c in criticisms:
        away = [distance(c, s) for s in prototypes]
        nearest.append(away.index(min(away)))
        mine = [i for i in range(len(gram)) if distance(i, c) < min(distance(i, s) for s in prototypes)]
        closer.append(float(shares[mine].sum()))
    return nearest, closer


def online(gram, m, c, *, offer_displaced=False, first=None):
    """Algorithm 3 of the draft, line by line: greedy again from nothing for each row, with kernel columns of all rows seen.

    Lines 3 and 4: the first m rows are the prototypes, the next c the criticisms. Lines 6 to 9, for each row x_n: the
    prototypes are the greedy choice of m from P + {x_n}; only if x_n is not one of them are the criticisms the greedy choice of
    c from C + {x_n}. With `offer_displaced` (ours), a prototype that x_n displaced is a candidate for the criticisms.
    Line 5 prints the first n as m + 1 (`first=m`), section 3.1 says 2m + 1 (`first=None`).
    Not printed: of equal ones the one held longer stays, and criticisms keep their number even where only copies are left.
    """
    prototypes, criticisms = list(range(m)), list(range(m, m + c))
    for n in range(m + c if first is None else first, len(gram)):
        means = gram[: max(n + 1, m + c)].mean(axis=0)
        before, prototypes = prototypes, _greedy_again(gram, means, [*prototypes, n], m)
        if n not in prototypes:
            offered = n
        elif offer_displaced:
            (offered,) = set(before) - set(prototypes)
        else:
            continue
        if c and offered not in criticisms:
            candidates = [*criticisms, offered]
            values = means[candidates] - gram[np.ix_(prototypes, candidates)].mean(axis=0)
            places = greedy_criticisms(gram[np.ix_(candidates, candidates)], values, c)
            spare = [place for place in range(c + 1) if place not in places]
            criticisms = [candidates[place] for place in sorted([*places, *spare[: c - len(places)]])]
    return prototypes, criticisms


def _greedy_again(gram, means, candidates, size):
    """Algorithm 1: the candidate with the largest J (eq. 2), one by one from the empty set; `means` are over the rows seen."""

    def objective(chosen):
        return 2.0 * means[chosen].mean() - gram[np.ix_(chosen, chosen)].mean()

    kept = []
    while len(kept) < size:
        kept.append(candidates[first_best([-np.inf if j in kept else objective([*kept, j]) for j in candidates])])
    return sorted(kept)


def without_each(gram, values):
    """F without each of the c + 1 points of a kernel matrix: as many determinants."""
    everyone = range(len(gram))
    return np.array([criticism_objective(gram, values, [i for i in everyone if i != j]) for j in everyone])


def exchange(gram, values, held, rows):
    """Algorithm 4 of the draft, the witness held fixed: of the c points held and each row in turn, F is largest without one.

    A row that multiplies det K_CC by no more than 1e-6 k(x, x) is a copy, and left out. Returns [(row, slot)] and the held.
    """
    held, entered = list(held), []
    for row in rows:
        both = [*held, row]
        if np.exp(log_det(gram, both) - log_det(gram, held)) <= 1e-6 * gram[row, row]:
            continue
        values_without = without_each(gram[np.ix_(both, both)], values[both])
        slot = int(values_without.argmax())
        if slot < len(held):
            held[slot] = row
            entered.append((row, slot))
    return entered, held


def offer(gram, values, held, rows, size):
    """Free places take whatever is no copy; then every row is weighed against those held."""
    held, rows = list(held), list(rows)
    while len(held) < size and rows:
        row = rows.pop(0)
        left = np.exp(log_det(gram, [*held, row]) - (log_det(gram, held) if held else 0.0))
        if left > 1e-6 * gram[row, row]:
            held.append(row)
    return exchange(gram, values, held, rows)[1] if rows else held


def stream(features, gram, m, c, threshold):
    """Algorithms 2 and 4 of the draft on a whole stream, in blocks as `stream_oracles.stream`: positions of both kinds.

    After each block the rows that the reservoir refused are offered, then the points that it dropped, slot by slot, then rows
    of the block that were taken and dropped within it. The witness is that of the features after the block.
    """
    features = np.asarray(features, dtype=np.float64)
    held, critics, start = [], [], 0
    while start < len(features):
        stop = min(len(features), start + max(8, start // 16))
        mean = features[:stop].mean(axis=0)
        free = min(m - len(held), stop - start)
        held += range(start, start + free)
        first = start + free
        if first < stop:
            swaps, _ = stream_oracles.offer(features[first:stop], features[held], mean, threshold)
            before = list(held)
            for row, slot in swaps:
                held[slot] = first + row
            taken = [first + row for row, _ in swaps]
            dropped = [before[slot] for slot in sorted({slot for _, slot in swaps})]
            dropped += sorted(set(taken) - set(held))
            values = features @ (mean - features[held].mean(axis=0))
            critics = offer(gram, values, critics, [row for row in range(first, stop) if row not in taken], c)
            critics = offer(gram, values, critics, dropped, c)
        start = stop
    return held, critics


def score(objective, ours, best, random):
    """Where an objective value stands between random sets (0) and the best set known (1)."""
    base = float(np.mean([objective(each) for each in random]))
    return (objective(ours) - base) / (objective(best) - base)


def draw(kind, n, d, rng):
    """Small data with ties: rows that are equal, rows at equal distances, rows that mirror each other."""
    if kind == "normal":
        return rng.normal(size=(n, d))
    if kind == "grid":
        return rng.integers(0, 4, size=(n, d)).astype(np.float64)
    if kind == "copies":
        few = rng.normal(size=(max(2, n // 3), d))
        return few[rng.integers(0, len(few), size=n)]
    if kind == "mirrored":
        half = rng.normal(size=((n + 1) // 2, d))
        return np.concatenate([half, -half])[:n]
    if kind == "lattice":
        return np.arange(n)[:, None] * np.ones((1, d))
    raise ValueError(kind)


KINDS = ("normal", "grid", "copies", "mirrored", "lattice")
