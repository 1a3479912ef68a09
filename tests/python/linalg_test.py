"""th.linalg: torch.linalg's names give what numpy.linalg gives, with gradients, compiled and over batches."""
import unittest

import numpy as np
import thunder as th


def arr(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


class Linalg(unittest.TestCase):
    def close(self, got, expected, tolerance=1e-10):
        np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=tolerance, atol=tolerance)

    def test_agrees_with_numpy(self):
        a, b, tall = arr(2, 4, 4), arr(2, 4, 3), arr(5, 3)
        symmetric = a + a.swapaxes(-1, -2)
        positive = a @ a.swapaxes(-1, -2) + np.eye(4)
        la = th.linalg
        self.close(la.inv(a), np.linalg.inv(a))
        self.close(la.det(a), np.linalg.det(a))
        self.close(la.slogdet(a)[1], np.linalg.slogdet(a)[1])
        self.close(la.solve(a, b), np.linalg.solve(a, b))
        self.close(la.cholesky(positive), np.linalg.cholesky(positive))
        self.close(la.eigvalsh(symmetric), np.linalg.eigvalsh(symmetric))
        self.close(la.eigh(symmetric)[0], np.linalg.eigh(symmetric)[0])
        self.close(la.svdvals(tall), np.linalg.svd(tall, compute_uv=False))
        self.close(la.pinv(tall), np.linalg.pinv(tall))
        self.close(la.lstsq(tall, arr(5, 2))[0], np.linalg.lstsq(tall, arr(5, 2), rcond=None)[0])
        self.close(la.matrix_power(a, -3), np.linalg.matrix_power(a, -3))
        self.assertEqual(int(la.matrix_rank(np.outer(arr(4), arr(3)))), 1)
        for order in (None, 1, -1, 2, -2, np.inf):
            self.close(la.norm(tall, order), np.linalg.norm(tall, order))
            self.close(la.cond(a[0], order), np.linalg.cond(a[0], order))
        self.close(th.nuclear_norm(th.tensor(tall)), np.linalg.norm(tall, "nuc"))
        q, r = la.qr(tall)
        self.close(np.asarray(q) @ np.asarray(r), tall)

    def test_large_matrices(self):
        a = arr(200, 200).astype(np.float32)
        u, s, vh = th.linalg.svd(a)
        self.close(np.asarray(u) * np.asarray(s) @ np.asarray(vh), a, 1e-3)
        w, v = th.linalg.eigh(a + a.T)
        self.close(np.asarray(v) * np.asarray(w) @ np.asarray(v).T, a + a.T, 1e-3)
        self.close(th.linalg.solve(a, a), np.eye(200), 2e-2)

    def test_composes_with_transforms_and_compile(self):
        a, b = arr(5, 3, 3), arr(5, 3)
        each = th.func.vmap(th.linalg.solve)
        self.close(each(a, b), np.linalg.solve(a, b[..., None])[..., 0])
        self.close(th.compile(each)(a, b), np.linalg.solve(a, b[..., None])[..., 0])
        self.close(th.grad(lambda a: th.logdet(a @ a.T))(a[0]), 2 * np.linalg.inv(a[0]).T)
        hessian = th.func.hessian(lambda x: th.logdet(th.diag(x)))(np.array([1.0, 2.0, 4.0]))
        self.close(hessian, -np.diag([1.0, 0.25, 0.0625]))

    def test_mistakes_name_the_matrix(self):
        with self.assertRaisesRegex(th.Error, r"matrix is singular \(matrix 1 of the batch\)"):
            th.linalg.inv(np.stack([np.eye(2), np.ones((2, 2))]))
        with self.assertRaisesRegex(th.Error, "float32 or float64"):
            th.linalg.cholesky(th.ones(2, 2).to(th.bfloat16))
        with self.assertRaisesRegex(th.Error, "NaN or infinity"):
            th.linalg.svdvals(np.full((2, 2), np.nan))


if __name__ == "__main__":
    unittest.main()
