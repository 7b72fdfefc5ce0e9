"""How strongly two columns go together, by the textbook: one pair at a time."""

import numpy as np
from scipy import stats


def spearman(first, second):
    """Return the rank correlation of two columns of numbers without missing values."""
    return float(stats.spearmanr(first, second).statistic)


def cramers_v(first, second):
    """Return Cramer's V of two columns of labels."""
    return float(stats.contingency.association(stats.contingency.crosstab(first, second).count, method="cramer"))


def correlation_ratio(labels, numbers):
    """Return the root of the share of the variance of ranks that lies between the labels."""
    ranks = stats.rankdata(numbers)
    between = sum((labels == each).sum() * (ranks[labels == each].mean() - ranks.mean()) ** 2 for each in np.unique(labels))
    return float(np.sqrt(between / ((ranks - ranks.mean()) ** 2).sum()))
