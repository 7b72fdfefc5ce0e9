"""The public surface is written down, complete, documented, and quiet to import."""

import ast
import inspect
import pkgutil
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest

import supersample as ss
from supersample import errors


def public_modules():
    names = ["supersample"] + [
        module.name
        for module in pkgutil.walk_packages(ss.__path__, "supersample.")
        if not any(part.startswith("_") for part in module.name.split("."))
    ]
    return sorted(names)


def load(name):
    return __import__(name, fromlist=["__all__"])


def own_public_names(module):
    """Names a module defines itself, or a package gathers, that do not begin with an underscore."""
    for name, value in vars(module).items():
        if name.startswith("_") or isinstance(value, types.ModuleType):
            continue
        if getattr(value, "__module__", None) == module.__name__ and (inspect.isclass(value) or inspect.isfunction(value)):
            yield name


@pytest.mark.parametrize("name", [module.name for module in pkgutil.walk_packages(ss.__path__, "supersample.") if module.ispkg])
def test_no_exported_name_shadows_a_submodule(name):
    """Else `package.name` is the function after one import and the module after another, and the module cannot be patched."""
    package = load(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    shadowed = [each for each in modules & set(vars(package)) if not isinstance(vars(package)[each], types.ModuleType)]
    assert shadowed == []


def test_every_promised_name_is_there_and_documented():
    promised = {
        "MeanEmbedding", "TestResult", "circular_discrepancy", "circular_ensemble",
        "errors", "features", "kernels", "mmd2", "two_sample_test",
        "Integral", "Integration", "Selection", "frank_wolfe", "herd", "integrate", "measures", "quadrature_weights",
        "sbq", "wkh",
    }  # fmt: skip
    assert promised <= set(ss.__all__)
    assert {"Gaussian", "Laplacian", "Matern", "Cauchy", "Sum", "Normalized", "Function"} <= set(ss.kernels.__all__)
    assert {"Fourier", "Fastfood", "Nystroem", "FeatureMap", "n_features_for"} <= set(ss.features.__all__)
    assert {"Empirical", "GaussianMixture", "Measure", "Uniform"} <= set(ss.measures.__all__)
    for module in (ss, ss.kernels, ss.features, ss.columns, ss.errors, ss.measures):
        for name in module.__all__:
            value = getattr(module, name)
            documented = inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value)
            assert not documented or (value.__doc__ or "").strip(), f"{module.__name__}.{name} has no docstring"


def test_no_stray_public_names_in_the_package():
    submodules = {module.name for module in pkgutil.iter_modules(ss.__path__)}
    stray = {name for name in vars(ss) if not name.startswith("_") and name not in ss.__all__ and name not in submodules}
    assert stray <= {"TYPE_CHECKING"}


def seen_by_type_checkers():
    """The public names that `__init__.py` imports for type checkers, and the modules that they come from."""
    (block,) = [
        node
        for node in ast.parse(Path(ss.__file__).read_text()).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]
    return {name.name: node.module for node in block.body for name in node.names}


def test_type_checkers_see_what_is_imported_late():
    assert seen_by_type_checkers() == ss._HOMES
    assert sorted(ss._HOMES) == ss.__all__


def test_the_version_is_the_one_of_the_package():
    about = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert ss.__version__ == about["project"]["version"]


def child(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120, check=False)


def test_import_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import supersample; print(*sorted(set(sys.modules) - before))"
    assert child(code).stdout == "supersample\n"


@pytest.mark.parametrize(
    "code",
    [
        "import supersample as ss; found = [ss.errors, ss.features, ss.kernels, ss.measures]",
        "from supersample import errors, features, kernels, measures; found = [errors, features, kernels, measures]",
        "import supersample.errors as a, supersample.features as b, supersample.kernels as c, supersample.measures as d; "
        "from supersample.kernels import Gaussian; found = [a, b, c, d]",
    ],
)
def test_public_modules_are_there_however_they_are_imported(code):
    done = child(f"{code}; print(*(each.__name__ for each in found))")
    assert done.stdout == "supersample.errors supersample.features supersample.kernels supersample.measures\n", done.stderr


def test_what_is_imported_late_is_listed_and_misspellings_are_told():
    code = (
        "import supersample as ss; assert set(ss.__all__) <= set(dir(ss)); from supersample import *; SuperSampler(5); ss.Super"
    )
    last = child(code).stderr.strip().splitlines()[-1]
    assert last.startswith("AttributeError: module 'supersample' has no attribute 'Super'")


@pytest.mark.parametrize("name", public_modules())
def test_every_module_says_what_it_exports(name):
    module = load(name)
    assert module.__doc__
    exported = getattr(module, "__all__", [])
    assert len(set(exported)) == len(exported)
    assert all(hasattr(module, each) for each in exported)
    assert set(own_public_names(module)) <= set(exported)


@pytest.mark.parametrize(
    "name", ["supersample", "supersample.kernels", "supersample.features", "supersample.errors", "supersample.measures"]
)
def test_public_lists_are_sorted(name):
    listed = load(name).__all__
    assert list(listed) == sorted(listed)


@pytest.mark.parametrize("value", [getattr(ss, name) for name in ss.__all__], ids=ss.__all__)
def test_public_methods_are_documented(value):
    if inspect.isclass(value):
        for name, member in inspect.getmembers(value):
            if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                assert member.__doc__, f"{value.__name__}.{name} has no docstring"


@pytest.mark.parametrize("function", [ss.mmd2, ss.two_sample_test, ss.circular_discrepancy, ss.circular_ensemble])
def test_subject_is_positional_and_options_are_by_name(function):
    parameters = list(inspect.signature(function).parameters.values())
    assert [p.name for p in parameters[:2]] == ["X", "Y"]
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters[2:])


def test_no_seed_is_hidden_in_a_default():
    for function in (ss.mmd2, ss.two_sample_test, ss.circular_ensemble, ss.features.Fourier, ss.features.Fastfood):
        assert inspect.signature(function).parameters["random_state"].default is None


def test_errors_are_also_the_builtin_kind():
    assert issubclass(errors.InputError, ValueError)
    assert issubclass(errors.InputTypeError, TypeError)
    assert issubclass(errors.MismatchError, ValueError)
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.SupersampleError)
    assert not issubclass(errors.SupersampleError, ValueError)


QUIET = """
import logging, sys
import numba, scipy.stats, sklearn.base  # scikit-learn itself imports pandas where that is installed
dependencies = set(sys.modules)
before = logging.root.handlers[:], logging.root.level
import supersample
for name in supersample.__all__:
    getattr(supersample, name)
assert (logging.root.handlers, logging.root.level) == before, "logging was configured"
ours = {name.split(".")[0] for name in set(sys.modules) - dependencies}
heavy = {"matplotlib", "pandas", "polars", "dask", "pyspark", "torch", "jax", "duckdb", "IPython"} & ours
assert not heavy, heavy
"""


def test_import_is_quiet_and_light():
    done = child(QUIET)
    assert done.returncode == 0, done.stderr
    assert done.stdout == done.stderr == ""


# Modules that need each other could be imported by two threads that wait for each other.
AT_ONCE = """
import threading
import supersample as ss

names, failed = list(ss.__all__), []
together = threading.Barrier(len(names))

def use(name):
    together.wait()
    try:
        getattr(ss, name)
    except BaseException as error:
        failed.append((name, repr(error)))

threads = [threading.Thread(target=use, args=(name,)) for name in names]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(failed)
"""


def test_threads_may_use_public_names_at_once():
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "[]\n"
