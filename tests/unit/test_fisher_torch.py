"""Fisher features of torch modules, by gradients of one row at a time. `make test-torch` runs these."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import supersample as ss
from supersample.errors import InputError

torch = pytest.importorskip(
    "torch", reason="needs the extra `torch`, of gigabytes on some machines; `make test-torch` runs these"
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))


def rows(inputs, labels):
    return np.column_stack([inputs, labels])


def network(n_outputs):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5), torch.nn.Tanh(), torch.nn.Linear(8, n_outputs)
    ).double()


def half_square(out, label):
    return 0.5 * ((out - label) ** 2).sum()


def test_torch_modules_by_gradients_of_one_row():
    y = (X[:, 0] - X[:, 1] + RNG.normal(size=400) > 0).astype(float)
    model, data = LogisticRegression().fit(X, y), rows(X, y)
    module = torch.nn.Linear(4, 2).double()
    with torch.no_grad():
        module.weight[0], module.weight[1] = 0.0, torch.as_tensor(model.coef_[0])
        module.bias[0], module.bias[1] = 0.0, float(model.intercept_[0])
    phi = ss.features.Fisher(module, n_inputs=4)
    expected = ss.features.Fisher(model).transform(data)
    found = phi.transform(data)
    # Both classes have parameters here: those of the first are the negatives of those of the second.
    np.testing.assert_allclose(found[:, 4:8], expected[:, :4], atol=1e-12)
    np.testing.assert_allclose(found[:, :4], -expected[:, :4], atol=1e-12)
    np.testing.assert_allclose(found[:, 9], expected[:, 4], atol=1e-12)
    before = phi.transform(data[:3])
    with torch.no_grad():
        module.bias += 1.0
    np.testing.assert_array_equal(phi.transform(data[:3]), before)


def test_torch_networks_and_losses():
    module = network(1)
    data = rows(X, X[:, 0] ** 2)
    phi = ss.features.Fisher(module, n_inputs=4, loss=half_square, parameters=["4.weight", "4.bias"])
    module.eval()
    slow = []
    for row in data[:10]:
        module.zero_grad()
        out = module(torch.as_tensor(row[None, :-1]))
        (-half_square(out.reshape(-1), torch.as_tensor(row[-1:]))).backward()
        slow.append(np.concatenate([module[4].weight.grad.numpy().ravel(), module[4].bias.grad.numpy()]))
    np.testing.assert_allclose(phi.transform(data[:10]), slow, atol=1e-12)
    assert len(ss.sbq(data[:300], 6, target=data[300:], features=phi)) == 6
    with pytest.raises(InputError, match="parameters must name some of"):
        ss.features.Fisher(module, n_inputs=4, parameters=["9.weight"])
    with pytest.raises(InputError, match="n_inputs must be given for a torch module"):
        ss.features.Fisher(module)


def test_the_module_stays_as_it_was_and_the_map_too():
    module = network(3)
    module.train()
    before = {name: each.clone() for name, each in module.state_dict().items()}
    data = rows(X, np.arange(400) % 3)
    phi = ss.features.Fisher(module, n_inputs=4)
    first = phi.transform(data[:20])
    assert module.training
    assert all(each.training for each in module)
    module(torch.as_tensor(X))  # moves the running means of the batch norm
    with torch.no_grad():
        module[0].weight += 1.0
    np.testing.assert_array_equal(phi.transform(data[:20]), first)
    module.eval()
    np.testing.assert_array_equal(phi.transform(data[:20]), first)
    assert all(torch.equal(before[name], each) for name, each in network(3).state_dict().items())


def test_modules_are_told_apart_by_their_plain_attributes():
    class Scaled(torch.nn.Module):
        def __init__(self, linear, factor):
            super().__init__()
            self.linear, self.factor = linear, factor

        def forward(self, rows):
            return self.linear(rows) * self.factor

    linear = torch.nn.Linear(3, 2)
    one, same, other = (ss.features.Fisher(Scaled(linear, factor), n_inputs=3) for factor in (1.0, 1.0, 5.0))
    assert one == same
    assert one != other


def test_losses_are_told_apart_by_what_they_do():
    module, data = network(1), rows(X, X[:, 0])
    squares = ss.features.Fisher(module, n_inputs=4, loss=lambda out, label: ((out - label) ** 2).sum())
    fourths = ss.features.Fisher(module, n_inputs=4, loss=lambda out, label: ((out - label) ** 4).sum())
    assert squares != fourths
    assert squares.kernel != fourths.kernel

    def power(p):
        return lambda out, label: ((out - label) ** p).sum()

    made = [ss.features.Fisher(module, n_inputs=4, loss=power(p)) for p in (2, 4, 2)]
    assert made[0] != made[1]
    assert made[0] == made[2]
    assert made[0] == ss.features.Fisher(network(1), n_inputs=4, loss=power(2))
    np.testing.assert_array_equal(made[0].transform(data), squares.transform(data))


def whole(values):
    return rows(X[: len(values)], np.asarray(values, dtype=float))


BAD = {
    "label too large": (
        lambda: network(3),
        {},
        whole([0, 3]),
        "whole numbers from 0 to 2 for a module with 3 outputs, got 3.0",
    ),
    "label below": (lambda: network(3), {}, whole([0, -1]), "whole numbers from 0 to 2.*got -1.0"),
    "label between": (lambda: network(3), {}, whole([0, 0.5]), "whole numbers from 0 to 2.*got 0.5"),
    "inputs": (lambda: network(3), {"n_inputs": 5}, whole([0]), "n_inputs must be the number of columns.*a row of 5 it failed"),
    "one output": (lambda: network(1), {}, whole([0]), "loss must be given for a module whose output is not a row of two"),
    "loss": (lambda: network(2), {"loss": lambda out, label: out}, whole([0]), "loss must be a function of the 2 outputs"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_to_torch_maps(what):
    module, options, data, message = BAD[what]
    with pytest.raises(InputError, match=message):
        ss.features.Fisher(module(), **{"n_inputs": 4, **options}).transform(data)
