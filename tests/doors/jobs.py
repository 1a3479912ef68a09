"""Programs by several processes at a time: one that is ended by a signal is a finding, and the programs after it go on in another."""
import multiprocessing
import multiprocessing.connection

_FORK = multiprocessing.get_context("fork")


class _Job:
    """A process that goes through seeds, says each before it runs it, and what it counted when all have run."""

    def __init__(self, seeds, run):
        self.seeds, self.at = seeds, seeds[0]
        self.said, sender = _FORK.Pipe(duplex=False)
        self.process = _FORK.Process(target=self._run, args=(sender, run))
        self.process.start()
        sender.close()

    def _run(self, sender, run):
        sender.send(run(self.seeds, sender.send))

    def ended(self):
        """What it counted; the seed at which it was ended; None: it goes on."""
        try:
            said = self.said.recv()
        except EOFError:
            self.process.join()
            return self.at
        if not isinstance(said, int):
            self.process.join()
            return said
        self.at = said
        return None


def run_all(seeds, jobs, run):
    """run(seeds, say) in `jobs` processes, which says each seed and gives what it counted: yields (counted, None), or (None, seed)."""
    running = [_Job(seeds[first::jobs], run) for first in range(min(jobs, len(seeds)))]
    while running:
        for ready in multiprocessing.connection.wait([one.said for one in running]):
            job = next(one for one in running if one.said is ready)
            ended = job.ended()
            if ended is None:
                continue
            running.remove(job)
            if isinstance(ended, int):
                yield None, ended
                left = job.seeds[job.seeds.index(ended) + 1:]
                running += [_Job(left, run)] if left else []
            else:
                yield ended, None
