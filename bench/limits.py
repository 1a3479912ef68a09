"""What this machine can do, measured by bench_limits whenever it is asked."""
import os
import subprocess


class Machine:
    """Milliseconds that all threads take, just now."""

    def __init__(self):
        self._process = subprocess.Popen(os.environ["THUNDER_BENCH_LIMITS"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def fma_ms(self, flops):
        """For so many operations, as multiply-adds in registers."""
        return self._ask("fma", flops)

    def scale_ms(self, size):
        """To read half of so many bytes and write a product of each number, over memory of just that size."""
        return self._ask("scale", size)

    def read_ms(self, size):
        return self._ask("read", size)

    def update_ms(self, size):
        """To read four streams and write three of them, of so many bytes in all."""
        return self._ask("update", size)

    def _ask(self, what, amount):
        print(what, int(amount), file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline()) / 1e6
