"""What a process has taken of the machine's memory."""
import resource


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
