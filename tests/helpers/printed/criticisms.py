"""The draft *Online Prototypes and Criticisms*: Algorithms 1, 3 and 4, equations 2, 3, 6 to 9."""

from itertools import combinations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def j_2(chosen: list[int], gram: Floats, seen: int) -> float:
    """Return J(S) of equation 2 over the rows seen so far."""
    if not chosen:
        return 0.0
    first = sum(gram[i, j] for i in range(seen) for j in chosen)
    second = sum(gram[i, j] for i in chosen for j in chosen)
    return 2.0 / (seen * len(chosen)) * first - second / len(chosen) ** 2


def l_3(chosen: list[int], prototypes: list[int], gram: Floats, seen: int) -> float:
    """Return L(C) of equation 3 over the rows seen so far."""
    return sum(
        abs(sum(gram[i, x] for i in range(seen)) / seen - sum(gram[i, x] for i in prototypes) / len(prototypes)) for x in chosen
    )


def regularised(chosen: list[int], prototypes: list[int], gram: Floats, seen: int) -> float:
    """Return L(C) + log det K_CC."""
    if not chosen:
        return 0.0
    sign, value = np.linalg.slogdet(gram[np.ix_(chosen, chosen)])
    return l_3(chosen, prototypes, gram, seen) + (float(value) if sign > 0 else -np.inf)


def algorithm_1(available: list[int], m: int, gram: Floats, seen: int) -> list[int]:
    """Return m prototypes, each the argmax of J(S + i) - J(S) over the available rows (Algorithm 1)."""
    chosen: list[int] = []
    while len(chosen) < m:
        left = [i for i in available if i not in chosen]
        gains = [j_2([*chosen, i], gram, seen) - j_2(chosen, gram, seen) for i in left]
        chosen.append(left[int(np.argmax(gains))])
    return chosen


def greedy_criticisms(available: list[int], c: int, prototypes: list[int], gram: Floats, seen: int) -> list[int]:
    """Return c criticisms, each the argmax of what it adds to L(C) + log det K_CC."""
    chosen: list[int] = []
    while len(chosen) < c:
        left = [i for i in available if i not in chosen]
        values = [regularised([*chosen, i], prototypes, gram, seen) for i in left]
        chosen.append(left[int(np.argmax(values))])
    return chosen


def algorithm_3(gram: Floats, m: int, c: int, first: int) -> tuple[list[int], list[int]]:
    """Return prototypes and criticisms of Online Greedy.

    `first` is the row at which the loop starts: m as printed (n = M + 1), m + c by the text ("the second set of M points are
    treated as the initial set of criticism"). The draft has c = m.
    """
    prototypes = list(range(m))
    criticisms = list(range(m, m + c))
    for n in range(first, len(gram)):
        seen = n + 1
        prototypes = algorithm_1([*prototypes, n] if n not in prototypes else prototypes, m, gram, seen)
        if n not in prototypes and n not in criticisms:
            criticisms = greedy_criticisms([*criticisms, n], c, prototypes, gram, seen)
    return prototypes, criticisms


def f_9(chosen: list[int], witness: Floats, phi: Floats, gram: Floats) -> float:
    """Return F~(C) = sum |<mu - nu, phi(x_l)>| + log det K_CC (equations 8 and 9)."""
    sign, value = np.linalg.slogdet(gram[np.ix_(chosen, chosen)])
    return float(sum(abs(phi[x] @ witness) for x in chosen)) + (float(value) if sign > 0 else -np.inf)


def algorithm_4(criticisms: list[int], new: int, witness: Floats, phi: Floats, gram: Floats) -> list[int]:
    """Return the subset of C + {x} of the size of C that maximises F~, by trying all."""
    subsets = [list(each) for each in combinations([*criticisms, new], len(criticisms))]
    return subsets[int(np.argmax([f_9(each, witness, phi, gram) for each in subsets]))]
