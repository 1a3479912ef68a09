"""doctor.py MPIRUN RANKS TOOL: `thunder doctor` of that many processes says where each is and how fast values pass, once, and a process alone nothing
of it."""
# covers: cli/doctor.cpp
import json
import re
import sys

sys.dont_write_bytecode = True
from launch import on_ranks, run  # noqa: E402


def main():
    mpirun, ranks, tool = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    code, text = on_ranks(mpirun, ranks, [tool, "doctor"])
    assert code == 0 and text.count("GFLOP/s") == 1, text
    assert re.search(rf"^world +mesh\(rank 0 of {ranks}, by the variables of ", text, re.M), text
    for rank in range(ranks):
        assert re.search(rf"^rank {rank} +\S.*, cpu$", text, re.M), text
    assert re.search(r"^latency +[\d.]+ us an all_reduce of 8 bytes$", text, re.M), text
    assert len(re.findall(r"^links +[\d.]+ GB/s of a rank's in an all_reduce, [\d.]+ in an all_gather, of (?:1|16) MiB$", text, re.M)) == 2, text
    code, text = on_ranks(mpirun, ranks, [tool, "doctor", "--json"])
    found = json.loads(re.search(r"^\{.*\}$", text, re.M)[0])
    assert code == 0 and len(found["ranks"]) == ranks and found["microseconds"] > 0 and [rate["mib"] for rate in found["gbytes"]] == [1, 16], found
    assert all(rate["all_reduce"] > 0 and rate["all_gather"] > 0 for rate in found["gbytes"]), found
    code, text = run([tool, "doctor"])
    assert code == 0 and "GFLOP/s" in text and "world" not in text, text
    code, text = on_ranks(mpirun, ranks, [tool, "doctor", "--engine", "smoke"])
    assert code != 0 and "there is no engine 'smoke'" in text, text
    print(f"{ranks} ranks are told of")


main()
