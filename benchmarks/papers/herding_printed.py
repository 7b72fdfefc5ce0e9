"""What figures 3 to 8 of Huszar and Duvenaud (2012) show, read off the curves of the authors' vector graphics.

Their kernel is the density of a normal distribution of width 0.5 in the plane, 2 / pi times our exp(-|x - y|^2 / 0.5). MMD, and
errors of functions of norm one, are divided by the root of that constant here. Figure 8 has functions of a size that the paper
does not give.
"""

__all__ = ["FIGURE_3", "FIGURE_4", "FIGURE_5", "FIGURE_6", "FIGURE_8", "SIZES"]

_ROOT = (2.0 / 3.141592653589793) ** 0.5

#: Numbers of points at which the curves were read.
SIZES = (1, 20, 50, 100, 200, 400)
#: Negative among 100 weights, from the bars of the histogram, and the sum that the caption gives.
FIGURE_3 = {"negative": 5, "sum": 0.93}
#: Sums of the weights at 1, 20 and 100 points.
FIGURE_4 = {1: 0.064, 20: 0.655, 100: 0.94}
FIGURE_5 = {
    "random": [each / _ROOT for each in (0.786, 0.183, 0.115, 0.0725, 0.0502, 0.0362)],
    "herding": [each / _ROOT for each in (0.7549, 0.1000, 0.0461, 0.0239, 0.0129, 0.0067)],
    "herding, BQ weights": [each / _ROOT for each in (0.1342, 0.0652, 0.0330, 0.0162, 0.0070, 0.0029)],
    "SBQ": [each / _ROOT for each in (0.1342, 0.0634, 0.0305, 0.0127, 0.00346, 0.00068)],
}
FIGURE_6 = {
    "random": [each / _ROOT for each in (0.0107, 0.0090, 0.0075, 0.0059, 0.0040, 0.0032)],
    "herding": [each / _ROOT for each in (0.0046, 0.0023, 0.0016, 0.00098, 0.00051, 0.00028)],
    "herding, BQ weights": [each / _ROOT for each in (0.0033, 0.0021, 0.00093, 0.00044, 0.000145, 0.000035)],
    "SBQ": [each / _ROOT for each in (0.0030, 0.0019, 0.00057, 0.00022, 0.000031, 0.0000033)],
}
FIGURE_8 = {
    "random": [0.00182, 0.00162, 0.00116, 0.000875, 0.000718, 0.000621],
    "herding": [0.00109, 0.000613, 0.000479, 0.000302, 0.000196, 0.000122],
    "herding, BQ weights": [0.00106, 0.000713, 0.000468, 0.000302, 0.000137, 0.0000909],
    "SBQ": [0.00116, 0.000688, 0.000389, 0.000171, 0.0000723, 0.0000253],
}
