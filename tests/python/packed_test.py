"""Packed sequences: recurrent layers over them give what each sequence gives by itself."""
import unittest

import numpy as np
import thunder as th
from thunder import nn
from thunder.nn.utils import rnn

th.seed(0)  # the same numbers at each run

LENGTHS = [3, 6, 2, 6]


class Packed(unittest.TestCase):
    def setUp(self):
        self.x = th.rand(4, 6, 5)

    def test_packing_and_padding_are_each_others_opposite(self):
        packed = rnn.pack_padded_sequence(self.x, LENGTHS, batch_first=True, enforce_sorted=False)
        self.assertEqual((packed.data.shape, packed.batch_sizes.tolist()), ((17, 5), [4, 4, 3, 2, 2, 2]))
        padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=7)
        self.assertEqual((padded.shape, lengths.tolist()), ((4, 7, 5), LENGTHS))
        for one, length, given in zip(padded.numpy(), LENGTHS, self.x.numpy()):
            self.assertTrue(np.array_equal(one[:length], given[:length]) and (one[length:] == -1).all())
        parts = rnn.unpack_sequence(rnn.pack_sequence([self.x[1], self.x[0, :2]]))
        self.assertEqual([part.shape for part in parts], [(6, 5), (2, 5)])

    def alone(self, layer, hx):
        """The results of each sequence without the others."""
        for at, length in enumerate(LENGTHS):
            first = None if hx is None else tuple(one[:, at:at + 1] for one in hx) if isinstance(hx, tuple) else hx[:, at:at + 1]
            yield layer(self.x[at:at + 1, :length], first)

    def test_layers_give_what_each_sequence_gives_alone(self):
        for kind, options in (("LSTM", {}), ("GRU", {"num_layers": 2, "bidirectional": True}), ("RNN", {"nonlinearity": "relu", "bias": False}),
                              ("LSTM", {"num_layers": 2, "bidirectional": True, "proj_size": 3})):
            layer = getattr(nn, kind)(5, 4, batch_first=True, **options)
            rows = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
            h = th.rand(rows, 4, options.get("proj_size", 4))
            for hx in (None, (h, th.rand(rows, 4, 4)) if kind == "LSTM" else h):
                with self.subTest(kind, **options):
                    out, states = layer(rnn.pack_padded_sequence(self.x, LENGTHS, batch_first=True, enforce_sorted=False), hx)
                    out, _ = rnn.pad_packed_sequence(out, batch_first=True)
                    for at, (wanted, last) in enumerate(self.alone(layer, hx)):
                        np.testing.assert_allclose(out[at, :LENGTHS[at]].numpy(), wanted[0].numpy(), atol=1e-5)
                        for mine, its in zip(states, last) if kind == "LSTM" else [(states, last)]:
                            np.testing.assert_allclose(mine[:, at].numpy(), its[:, 0].numpy(), atol=1e-5)

    def test_they_are_compiled_and_differentiated(self):
        layer = nn.LSTM(5, 4, batch_first=True)

        def total(x):
            out, (h, c) = layer(rnn.pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False))
            return out.data.sum() + h.sum() + c.sum()
        compiled = th.compile(th.value_and_grad(total))
        (value, gradient), (wanted, by_ops) = compiled(self.x), th.value_and_grad(total)(self.x)
        self.assertAlmostEqual(value.item(), wanted.item(), 4)
        np.testing.assert_allclose(gradient.numpy(), by_ops.numpy(), atol=1e-5)
        self.assertEqual(abs(gradient.numpy()[2, 2:]).max(), 0)  # padding has no part in it

    def test_what_cannot_be_is_said(self):
        for wrong, why in ((lambda: rnn.pack_padded_sequence(self.x, LENGTHS, batch_first=True), "enforce_sorted=False"),
                           (lambda: rnn.pack_padded_sequence(self.x, [1, 2], batch_first=True), "2 lengths"),
                           (lambda: rnn.pack_padded_sequence(self.x, [0] * 4), "must be positive"),
                           (lambda: th.compile(lambda x, n: rnn.pack_padded_sequence(x, n, True, False).data)(self.x, th.tensor(LENGTHS)),
                            "as a list of integers, or is compiled with fullgraph=False")):
            with self.assertRaisesRegex(Exception, why):
                wrong()


if __name__ == "__main__":
    unittest.main()
