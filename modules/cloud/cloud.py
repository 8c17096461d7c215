"""A cloud that is a folder: every object is one JSON file, so it can be looked at, lost and orphaned.

cloud.py FOLDER create PROPERTIES ID    PROPERTIES is a JSON object; the kind of the object is the ID's first word
cloud.py FOLDER delete ID               what is gone already is no error
cloud.py FOLDER exists ID               exit 0 when it is there, 1 when it is not
cloud.py FOLDER absent NAME             exit 0 when no object has that name, 1 when some have: their ids are printed
"""

import fcntl
import ipaddress
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

Properties = dict[str, Any]


class Refused(Exception):
    """The cloud says no; nothing was made, changed or deleted unless the message says so."""


def kind(identity: str) -> str:
    return identity.partition("-")[0]


def read(cloud: Path, identity: str) -> Properties:
    try:
        return dict(json.loads((cloud / f"{identity}.json").read_text()))
    except FileNotFoundError:
        raise Refused(f"there is no {identity}") from None


def find(cloud: Path, wanted: str) -> dict[str, Properties]:
    return {path.stem: read(cloud, path.stem) for path in sorted(cloud.glob(f"{wanted}-*.json"))}


def put(cloud: Path, identity: str, properties: Properties) -> None:
    new = cloud / f".{identity}.new"
    new.write_text(json.dumps(properties, indent=2, sort_keys=True) + "\n")
    new.replace(cloud / f"{identity}.json")


def create_subnet(_cloud: Path, wanted: Properties) -> Properties:
    return wanted


def create_vm(cloud: Path, wanted: Properties) -> Properties:
    """Give the machine the first address of its subnet that is free; the very first belongs to the router."""
    subnet = ipaddress.ip_network(read(cloud, wanted["subnet_id"])["cidr"])
    taken = {vm["address"] for vm in find(cloud, "vm").values() if vm["subnet_id"] == wanted["subnet_id"]}
    address = next((host for host in map(str, islice(subnet.hosts(), 1, None)) if host not in taken), None)
    if address is None:
        raise Refused(f"{wanted['subnet_id']} has no free address")
    return {**wanted, "address": address}


def create_configuration(cloud: Path, wanted: Properties) -> Properties:
    read(cloud, wanted["vm_id"])
    for identity, other in find(cloud, "configuration").items():
        if other["vm_id"] == wanted["vm_id"]:
            raise Refused(f"{wanted['vm_id']} is already configured by {identity}")
    return wanted


def create_health(cloud: Path, wanted: Properties) -> Properties:
    """Look at the machine behind the address: healthy means that it runs the release that is expected."""
    machines = [identity for identity, vm in find(cloud, "vm").items() if vm["address"] == wanted["address"]]
    releases = [c["release"] for c in find(cloud, "configuration").values() if c["vm_id"] in machines]
    if not machines:
        raise Refused(f"nothing answers at {wanted['address']}")
    if releases != [wanted["release"]]:
        found = f"release {releases[0]}" if releases else "no release"
        raise Refused(f"{wanted['address']} runs {found}, expected {wanted['release']}")
    return {**wanted, "healthy": True}


CREATE: dict[str, Callable[[Path, Properties], Properties]] = {
    "subnet": create_subnet,
    "vm": create_vm,
    "configuration": create_configuration,
    "health": create_health,
}


def fault(cloud: Path, name: str) -> str:
    """Read the fault injected for the objects of a name: the content of the file FOLDER/faults/NAME."""
    try:
        return (cloud / "faults" / name).read_text().strip()
    except FileNotFoundError:
        return ""


def wait_while_hanging(cloud: Path, name: str) -> None:
    while fault(cloud, name) == "hang":
        time.sleep(0.05)


def create(cloud: Path, identity: str, properties: Properties) -> None:
    name = properties["name"]
    wait_while_hanging(cloud, name)
    injected = fault(cloud, name)
    if injected == "refuse-create":
        raise Refused(f"the cloud refuses to create {identity}")
    with alone(cloud):
        put(cloud, identity, CREATE[kind(identity)](cloud, properties))
    if injected == "lose-answer":
        raise Refused(f"no answer from the cloud; {identity} may exist")
    print(f"created {identity}")


def delete(cloud: Path, identity: str) -> None:
    try:
        name = read(cloud, identity)["name"]
    except Refused:
        print(f"{identity} is gone already")
        return
    wait_while_hanging(cloud, name)
    if fault(cloud, name) == "refuse-delete":
        raise Refused(f"the cloud refuses to delete {identity}")
    if fault(cloud, name) == "lie-delete":
        print(f"deleted {identity}")
        return
    with alone(cloud):
        inside = [vm for vm, properties in find(cloud, "vm").items() if properties["subnet_id"] == identity]
        if inside:
            raise Refused(f"{identity} is in use by {', '.join(inside)}")
        gone_with_it = [c for c, properties in find(cloud, "configuration").items() if properties["vm_id"] == identity]
        for each in (*gone_with_it, identity):
            (cloud / f"{each}.json").unlink(missing_ok=True)
    print(f"deleted {identity}")


@contextmanager
def alone(cloud: Path) -> Iterator[None]:
    """Let one change happen at a time, so that no address is given twice."""
    with (cloud / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(arguments: list[str]) -> int:
    match arguments:
        case [folder, "create", properties, identity] if kind(identity) in CREATE:
            Path(folder).mkdir(parents=True, exist_ok=True)
            create(Path(folder), identity, json.loads(properties))
        case [folder, "delete", identity]:
            delete(Path(folder), identity)
        case [folder, "exists", identity]:
            return 0 if (Path(folder) / f"{identity}.json").exists() else 1
        case [folder, "absent", name]:
            named = [
                each.stem
                for each in sorted(Path(folder).glob("*.json"))
                if read(Path(folder), each.stem)["name"] == name
            ]
            print("".join(f"{identity}\n" for identity in named), end="")
            return 1 if named else 0
        case _:
            print(__doc__, file=sys.stderr)
            return 64
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Refused as refused:
        print(refused, file=sys.stderr)
        sys.exit(1)
