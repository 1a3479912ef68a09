"""Signals that arrive while a compiled function runs: Python's handlers run between the steps, and what they raise ends the call."""
import os
import signal
import threading
import time
import unittest

import thunder as th


def chain(x):
    y = x
    for _ in range(2000):
        y = y @ x
    return y


def interrupted_after(work):
    """Seconds from a SIGINT to the KeyboardInterrupt."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.03, send)
    timer.start()
    try:
        work()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        timer.join()
    return None


class Interrupts(unittest.TestCase):
    def setUp(self):
        self.x = th.zeros(256, 256)
        self.f = th.compile(chain)
        self.f.prepare(self.x)

    def least_of(self, work):
        """Others use the processor as well: one quick answer of five shows how long it takes."""
        seconds = [interrupted_after(work) for _ in range(5)]
        self.assertNotIn(None, seconds, "the call ended before it was interrupted")
        return min(seconds)

    def test_a_long_call_raises_keyboard_interrupt_within_a_tenth_of_a_second(self):
        self.assertLess(self.least_of(lambda: self.f(self.x)), 0.1)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        self.assertEqual(self.f(self.x)[0, 0].item(), 0)

    def test_a_long_loop_raises_keyboard_interrupt_within_a_tenth_of_a_second(self):
        small, add = th.zeros(8), th.compile(lambda x: x + 1)

        def loop():
            for _ in range(10**7):
                add(small + 1)

        self.assertLess(self.least_of(loop), 0.1)

    def test_a_call_that_was_interrupted_changed_no_tensor(self):
        weight, rate = th.ones(256, 256), th.zeros(4)

        def step(x):
            y = chain(x)
            rate.add_(1)
            z = chain(y)
            weight.add_(z + 1)
            return z.sum()

        f = th.compile(step)
        f.prepare(self.x)
        self.assertIsNotNone(interrupted_after(lambda: f(self.x)))
        self.assertEqual((rate.tolist(), weight.sum().item()), ([0] * 4, 256 * 256))

    def test_a_handler_that_raises_nothing_does_not_end_the_call(self):
        seen = []
        before = signal.signal(signal.SIGALRM, lambda *_: seen.append(time.perf_counter()))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
            self.assertEqual(self.f(self.x)[0, 0].item(), 0)
            ended = time.perf_counter()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertTrue(seen)
        self.assertLess(seen[0], ended - 0.02)  # while the call ran, not after it

    def test_what_a_handler_raises_is_raised_by_the_call(self):
        class Enough(Exception):
            pass

        def handler(*_):
            raise Enough("of it")

        before = signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            with self.assertRaisesRegex(Enough, "of it"):
                self.f(self.x)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    unittest.main()
