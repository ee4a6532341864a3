"""Sets up NICs from inside a namespace: offloads off, receive steering. Standard library only.

Run by `emulated_hosts.py` as `ip netns exec NAME python nic_configuration.py`, which mounts the namespace's own /sys; reads
{"nics": {"nic0": "1"}} (name → hexadecimal core mask, null: no steering) from standard input, prints what was refused.
"""

import array
import fcntl
import json
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
OFFLOADS = {  # include/uapi/linux/ethtool.h
    "receive checksum": 0x15,
    "transmit checksum": 0x17,
    "scatter-gather": 0x19,
    "TCP segmentation": 0x1F,
    "generic segmentation": 0x24,
    "generic receive": 0x2C,
}


def switch_off(nic: str) -> list[str]:
    refused = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for name, command in OFFLOADS.items():
            value = array.array("B", struct.pack("II", command, 0))
            request = struct.pack("16sP8x", nic.encode(), value.buffer_info()[0])
            try:
                fcntl.ioctl(control, SIOCETHTOOL, request)
            except OSError as error:
                refused.append(f"{nic}: {name} offload stays on ({error.strerror})")
    return refused


def steer(nic: str, mask: str) -> list[str]:
    path = f"/sys/class/net/{nic}/queues/rx-0/rps_cpus"
    try:
        with open(path, "w") as file:
            file.write(mask)
        with open(path) as file:
            return (
                [] if int(file.read().replace(",", ""), 16) == int(mask.replace(",", ""), 16) else [f"{path}: not kept"]
            )
    except OSError as error:
        return [f"steering {nic}: {path}: {error.strerror}"]


def main() -> None:
    nics = json.load(sys.stdin)["nics"]
    refused: dict[str, list[str]] = {"offloads": [], "steering": []}
    for nic, mask in nics.items():
        refused["offloads"] += switch_off(nic)
        refused["steering"] += steer(nic, mask) if mask else []
    json.dump(refused, sys.stdout)


if __name__ == "__main__":
    main()
