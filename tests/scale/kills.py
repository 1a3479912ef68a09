"""kills.py PLUGIN KILLS [RANKS] [SEED]: trains on that many ranks over Gloo, examples/scale/gloo.cpp as PLUGIN, and kills or stops one of them at a
random moment, again and again. Each time every living rank has an error within the limit and two seconds, and training goes on from the last
checkpoint with the losses that it had.
"""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
LIMIT, STEPS, EVERY, LATEST = 4.0, 150, 5, 3.0  # seconds; of a whole training; between checkpoints; seconds from the first step to the kill


def on_rank(plugin, folder):
    import thunder as th
    from thunder import nn, optim
    th.load_plugin(plugin)
    try:
        th.mesh(data=-1, engine="gloo", timeout=60.0)  # to start processes takes its time on a busy machine
        mesh = th.mesh(data=-1, engine="gloo", timeout=LIMIT)
        th.seed(5)
        net = th.parallel.fully_shard(nn.Sequential(nn.Linear(6, 17), nn.Tanh(), nn.Linear(17, 3)), mesh)
        params = net.parameters()
        optimizer, count = optim.AdamW(params, lr=0.01), th.zeros(1, dtype=th.int64)
        if os.path.exists(os.path.join(folder, "model.safetensors.index.json")):
            th.parallel.load(folder, mesh, net, optimizer, count=count)

        def step(x):
            loss = ((net(x) - x[:, :3]) ** 2).mean()
            optimizer.step(th.grad_of(loss, params))
            return th.all_reduce(loss, "data", "mean")
        step = th.compile(th.parallel.data(step, mesh, net))
        while count.item() < STEPS:
            at = count.item()
            rows = [[((at * 7 + mesh.index() * 5 + row * 3 + i) % 11) / 11 for i in range(6)] for row in range(4)]
            loss = step(th.tensor(rows)).item()
            count.add_(1)
            if mesh.index() == 0:
                print(f"<step {at}: {loss!r}>", flush=True)
            if count.item() % EVERY == 0:
                th.parallel.save(folder, mesh, net, optimizer, count=count)
    except (th.Error, RuntimeError) as error:
        print(f"<error at {time.time()}: {error}>", flush=True)
        sys.exit(3)


def start(plugin, ranks, folder, meet, logs):
    shutil.rmtree(meet, ignore_errors=True)
    os.mkdir(meet)
    started = []
    for rank in range(ranks):
        place = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank), "GLOO_FOLDER": meet, "THUNDER_NUM_THREADS": "1"}
        with open(logs / f"{rank}.txt", "w", encoding="utf-8") as log:
            started.append(subprocess.Popen([sys.executable, __file__, "rank", plugin, folder], stdout=log, stderr=log, env=os.environ | place))
    return started


def texts(logs, ranks):
    return [(logs / f"{rank}.txt").read_text(encoding="utf-8") for rank in range(ranks)]


def until(what, limit):
    end = time.time() + limit
    while time.time() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


def one_kill(draw, plugin, ranks, folder, meet, logs, losses):
    """Whether the training came to its end before."""
    processes = start(plugin, ranks, folder, meet, logs)
    try:
        over = lambda: all(p.poll() is not None for p in processes)
        assert until(lambda: "<step " in texts(logs, ranks)[0] or over(), 90), texts(logs, ranks)
        until(over, draw.uniform(0, LATEST))
        ended = over()
        victim, stopped = draw.randrange(ranks), draw.random() < 0.25
        if not ended:
            processes[victim].send_signal(signal.SIGSTOP if stopped else signal.SIGKILL)
        killed = time.time()
        living = [p for rank, p in enumerate(processes) if rank != victim]
        assert until(lambda: all(p.poll() is not None for p in living), LIMIT + 20), ("some rank hangs", texts(logs, ranks))
    finally:
        for p in processes:
            p.kill()
            p.wait()
    said = texts(logs, ranks)
    for step, loss in re.findall(r"<step (\d+): ([^>]+)>", said[0]):
        assert losses.setdefault(step, loss) == loss, (step, losses[step], loss)
    if ended or all(p.returncode == 0 for p in living):  # it came to its end meanwhile
        return True
    for rank, text in enumerate(said):
        if rank == victim or processes[rank].returncode == 0:  # which is behind its last step
            continue
        found = re.findall(r"<error at ([\d.]+): ", text)
        assert len(found) == 1 and float(found[0]) < killed + LIMIT + 2, (rank, victim, stopped, killed, text)
    return False


def main():
    if sys.argv[1] == "rank":
        return on_rank(*sys.argv[2:])
    plugin, kills = sys.argv[1], int(sys.argv[2])
    ranks = int((sys.argv[3:4] or ["8"])[0])
    seed = int((sys.argv[4:5] or [random.randrange(10 ** 6)])[0])
    print(f"seed {seed}", flush=True)
    draw, losses = random.Random(seed), {}
    with tempfile.TemporaryDirectory() as base:
        folder, meet, logs = os.path.join(base, "checkpoint"), os.path.join(base, "meet"), pathlib.Path(base)
        done = whole = 0
        while done < kills:
            if one_kill(draw, plugin, ranks, folder, meet, logs, losses):
                whole += 1
                shutil.rmtree(folder, ignore_errors=True)
            else:
                done += 1
    assert float(losses[str(max(map(int, losses)))]) < float(losses["0"])
    print(f"{kills} kills of {ranks} ranks, {whole} whole trainings: {len(losses)} steps have the losses that they had")


main()
