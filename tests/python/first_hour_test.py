"""The first things that a user of PyTorch types: each behaves as there, or is refused with a message that helps."""
import unittest

import thunder as th
from thunder import nn, optim
from thunder.nn import functional as F

# (what is typed, its value in PyTorch by its documentation: PyTorch is no dependency, so none was recorded from it)
SAME = [
    ("th.tensor([1., 2.]).tolist()", [1.0, 2.0]),
    ("th.zeros(2, 3).shape == (2, 3)", True),
    ("th.ones(2).dtype == th.float32", True),
    ("th.arange(3).tolist()", [0, 1, 2]),
    ("th.arange(3).dtype == th.int64", True),
    ("th.full((2,), 7.).tolist()", [7.0, 7.0]),
    ("th.zeros_like(x).tolist()", [[0.0, 0.0], [0.0, 0.0]]),
    ("(x + 1).tolist()", [[2.0, 3.0], [4.0, 5.0]]),
    ("(x * x).tolist()", [[1.0, 4.0], [9.0, 16.0]]),
    ("(x @ x).tolist()", [[7.0, 10.0], [15.0, 22.0]]),
    ("(x > 2).tolist()", [[False, False], [True, True]]),
    ("x.T.tolist()", [[1.0, 3.0], [2.0, 4.0]]),
    ("x[0].tolist()", [1.0, 2.0]),
    ("x[:, 1].tolist()", [2.0, 4.0]),
    ("x[-1, -1].item()", 4.0),
    ("x.sum().item()", 10.0),
    ("x.sum(dim=0).tolist()", [4.0, 6.0]),
    ("x.mean().item()", 2.5),
    ("x.argmax(1).tolist()", [1, 1]),
    ("x.reshape(4).tolist()", [1.0, 2.0, 3.0, 4.0]),
    ("x.view(-1).shape == (4,)", True),
    ("x.flatten().tolist()", [1.0, 2.0, 3.0, 4.0]),
    ("x.unsqueeze(0).shape == (1, 2, 2)", True),
    ("x.permute(1, 0).tolist()", [[1.0, 3.0], [2.0, 4.0]]),
    ("th.cat([x, x]).shape == (4, 2)", True),
    ("th.stack([x, x]).shape == (2, 2, 2)", True),
    ("x.numpy().tolist()", [[1.0, 2.0], [3.0, 4.0]]),
    ("th.from_numpy(x.numpy()).tolist()", [[1.0, 2.0], [3.0, 4.0]]),
    ("x.to(th.float64).dtype == th.float64", True),
    ("x.long().tolist()", [[1, 2], [3, 4]]),
    ("len(x)", 2),
    ("x.ndim", 2),
    ("x.numel()", 4),
    ("F.relu(x - 2).tolist()", [[0.0, 0.0], [1.0, 2.0]]),
    ("F.mse_loss(x, x).item()", 0.0),
    ("nn.MSELoss()(x, x + 2).item()", 4.0),
    ("round(nn.CrossEntropyLoss()(x, th.tensor([1, 1])).item(), 4)", 0.3133),
    ("repr(nn.Linear(2, 3))", "Linear(in_features=2, out_features=3, bias=True)"),
    ("repr(nn.ReLU())", "ReLU()"),
    ("nn.Linear(2, 3)(x).shape == (2, 3)", True),
    ("len(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))", 2),
    ("len(list(nn.Linear(2, 3).parameters()))", 2),
    ("sorted(nn.Linear(2, 3).state_dict())", ["bias", "weight"]),
    ("nn.Dropout(0.5).eval()(x).tolist()", [[1.0, 2.0], [3.0, 4.0]]),
    ("nn.Linear(2, 3).train(False).training", False),
    ("optim.SGD([x], 0.1).param_groups[0]['lr']", 0.1),
    ("optim.lr_scheduler.StepLR(optim.SGD([x], 0.1), 1).get_last_lr()", [0.1]),
    ("th.softmax(x * 0, dim=1).tolist()", [[0.5, 0.5], [0.5, 0.5]]),
]
# (what is typed, what the refusal must say)
REFUSED = [
    ("x.backward()", "grad_of"),
    ("x.requires_grad_()", "grad_of"),
    ("optim.SGD([x], 0.1).zero_grad()", "gradients are values"),
    ("optim.SGD([x], 0.1).step()", "gradients must be given"),
    ("th.no_grad()", "not in libthunder.*record"),
    ("th.linalg.svd(x)", "not in libthunder"),
    ("nn.LSTM(2, 3)", "not in libthunder"),
    ("optim.RMSprop([x])", "not in libthunder"),
    ("x.svd()", "not in libthunder"),
    ("optim.SGD([x], lrr=0.1)", "'lrr'.*lr"),
    ("x @ th.ones(3)", "matmul"),
    ("x.reshape(3)", "reshape"),
]


class FirstHour(unittest.TestCase):
    def given(self):
        return {"th": th, "nn": nn, "optim": optim, "F": F, "x": th.tensor([[1.0, 2.0], [3.0, 4.0]])}

    def test_there_are_sixty(self):
        self.assertGreaterEqual(len({typed for typed, _ in SAME + REFUSED}), 60)

    def test_what_exists_gives_what_pytorch_gives(self):
        for typed, wanted in SAME:
            with self.subTest(typed):
                self.assertEqual(eval(typed, self.given()), wanted)

    def test_what_does_not_is_refused_with_what_to_do(self):
        for typed, why in REFUSED:
            with self.subTest(typed), self.assertRaisesRegex(Exception, "(?s)" + why):
                eval(typed, self.given())


if __name__ == "__main__":
    unittest.main()
