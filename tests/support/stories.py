"""Runs as a ledger has them, told module by module on a clock of their own: for reports, without any engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from hybridwrap.adapters.memory_store import MemoryStore
from hybridwrap.domain.charter import stamp
from hybridwrap.domain.declared import Declared
from hybridwrap.domain.drift import Drift
from hybridwrap.domain.engine_run import Action, Diagnostic, PlannedChange
from hybridwrap.domain.entry import Begin, CloudObject, End, Observe, RecordedInput, Source, StateMark
from hybridwrap.domain.json import Json
from hybridwrap.domain.ledger import Ledger
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.ports import Store
from hybridwrap.domain.run import ModuleEnd, RunEnd, RunStart
from hybridwrap.domain.stack import EngineWish, StateSettings, Verify
from hybridwrap.domain.status import Outcome, Status
from hybridwrap.domain.trace import Fate, Step
from tests.support.ledgers import ENGINE, LOCKS, PLACE, FakeClock, Ids, writer

COUNTED = {
    Action.CREATE: ("add",),
    Action.UPDATE: ("change",),
    Action.DELETE: ("remove",),
    Action.REPLACE: ("add", "remove"),
}
SHOWN_STEPS = {Action.REPLACE: (Action.DELETE, Action.CREATE)}


def change(address: str, action: Action, reason: str = "") -> PlannedChange:
    return PlannedChange(address, action, address.split(".")[-2] if "." in address else "", reason)


def error(address: str, summary: str, detail: str = "", line: int = 21) -> Diagnostic:
    return Diagnostic("error", summary, detail, address, "main.tf", line)


@dataclass
class Story:
    """One run at a time, module after module, on the ledger of shop in prod."""

    store: Store = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)
    ids: Ids = field(default_factory=Ids)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.store, "shop", "prod", writer(), self.clock, self.ids)
        self.ledger.open()
        self.ends: dict[str, ModuleEnd] = {}

    @property
    def now(self) -> str:
        return stamp(self.clock.now())

    def start(self, needs: Mapping[str, Sequence[str]], command: str = "apply") -> str:
        self.run, self.ends, self.command = self.ids.new(), {}, command
        edges = {name: tuple(each) for name, each in needs.items()}
        argv = (command, "-e", "prod", "--auto-approve")
        self.ledger.start_run(RunStart(self.run, command, self.now, writer(), argv, tuple(needs), edges))
        return self.run

    def end(self, exit_code: int = 0) -> None:
        self.ledger.end_run(RunEnd(self.run, self.now, exit_code, self.ends))

    def kill(self) -> None:
        """The run gets no end."""

    def unchanged(self, module: str, seconds: float = 2.0) -> None:
        self._turn(module, ModuleEnd("unchanged", seconds=seconds, began=self.now), seconds)

    def pending(self, module: str, waits_for: str) -> None:
        self.ends[module] = ModuleEnd("pending", reason=f"waits for {waits_for}", waits_for=waits_for)

    def refused(self, module: str, reason: str, hint: str = "") -> None:
        self.ends[module] = ModuleEnd("refused", 10, reason=reason, hint=hint, began=self.now)

    def failed_plan(self, module: str, *errors: Diagnostic) -> None:
        reason = f"{module}: terraform plan failed"
        self._turn(module, ModuleEnd("error", 4, reason=reason, errors=errors, seconds=1.5, began=self.now), 1.5)

    def observed(self, module: str, status: Status = Status.OK) -> None:
        seen = Observe(self.run, "the plan is empty (was error)", status, StateMark(PLACE, "6e1f", 3))
        self.ledger.observe(self.ledger.record(module), seen)
        self.unchanged(module)

    def drifted(self, module: str, drift: Drift) -> None:
        self.ledger.observe(self.ledger.record(module), Observe(self.run, "looked for drift", drift=drift))
        self._turn(module, ModuleEnd("drifted", reason="1 object differs", seconds=1, began=self.now), 1)

    def begin(
        self,
        module: str,
        planned: Sequence[PlannedChange],
        inputs: Mapping[str, RecordedInput] | None = None,
        plan_seconds: float = 2.0,
    ) -> str:
        """Plan for a time, then begin: nothing ends it until `finish`."""
        self._began = self.now
        self.clock.sleep(plan_seconds)
        record, operation = self.ledger.record(module), self.ids.new()
        body = Begin(
            command=self.command,
            run=self.run,
            engine=ENGINE,
            source=Source("sha256:5f1c", "4f2c1d9ab01c"),
            state=record.state or StateMark(PLACE),
            locks=LOCKS,
            planned=tuple(planned),
            inputs=inputs or {},
            previous_status=record.status,
            declared=Declared(f"modules/{module}", (), "", StateSettings("local"), EngineWish(), Verify()),
        )
        self.ledger.begin(record, body, operation=operation)
        return operation

    def finish(self, module: str, end: End, *, seconds: float = 10.0) -> None:
        self.clock.sleep(seconds)
        record = self.ledger.record(module)
        assert record.holder
        full = replace(
            end, durations={"plan": 2.0, "apply": seconds}, log=f"/ci/operations/{record.operation}/events.jsonl"
        )
        self.ledger.end(record, full, operation=record.operation, entry_id=self.ids.new())
        codes = {Status.ERROR: 4, Status.UNKNOWN: 32}
        self.ends[module] = ModuleEnd(
            str(end.status),
            codes.get(end.status, 0),
            record.operation,
            "" if end.status is Status.OK else end.reason,
            f"hybridwrap reconcile {module}" if end.status is Status.UNKNOWN else "",
            errors=end.errors,
            counts=end.counts,
            seconds=seconds,
            began=self._began,
        )

    def apply(
        self,
        module: str,
        planned: Sequence[PlannedChange],
        *errors: Diagnostic,
        outputs: Mapping[str, Output] | None = None,
        inputs: Mapping[str, RecordedInput] | None = None,
        seconds: float = 10.0,
    ) -> None:
        """An apply from plan to end; it fails where there are errors, at the objects that these name."""
        self.begin(module, planned, inputs)
        self.finish(module, self.result(module, planned, errors, outputs or {}, seconds), seconds=seconds)

    def result(
        self,
        module: str,
        planned: Sequence[PlannedChange],
        errors: Sequence[Diagnostic],
        outputs: Mapping[str, Output],
        seconds: float,
    ) -> End:
        record = self.ledger.record(module)
        serial = record.intent.state.serial if record.intent else 0
        bad = {each.address for each in errors}
        steps = tuple(self._steps(planned, bad, seconds))
        counts: dict[str, int] = {"add": 0, "change": 0, "remove": 0}
        for each in planned:
            if each.address not in bad:
                for word in COUNTED.get(each.action, ()):
                    counts[word] += 1
        made = tuple(
            CloudObject(s.address, s.type, "id", s.id)
            for s in steps
            if s.fate is Fate.DONE and s.action is not Action.DELETE
        )
        return End(
            outcome=Outcome.FAILED if errors else Outcome.SUCCEEDED,
            status=Status.ERROR if errors else Status.OK,
            state=StateMark(PLACE, "6e1f", serial + 1),
            outputs=outputs,
            objects=tuple({o.address: o for o in (*record.objects, *made)}.values()),
            failed_command=("terraform", "apply", "-json", "-input=false", "plan") if errors else (),
            errors=tuple(errors),
            reason=f"{errors[0].address}: {errors[0].summary}" if errors else "applied and saved",
            counts=counts,
            steps=steps,
        )

    def _steps(self, planned: Sequence[PlannedChange], bad: set[str], seconds: float) -> list[Step]:
        share = seconds / max(len(planned), 1)
        steps = []
        for index, each in enumerate(planned):
            for action in SHOWN_STEPS.get(each.action, (each.action,)):
                began = FakeClock(self.clock.seconds + index * share)
                ended = FakeClock(self.clock.seconds + (index + 0.9) * share)
                fate = Fate.FAILED if each.address in bad else Fate.DONE
                number = f"{each.type.rpartition('_')[2]}-{index:04x}"
                steps.append(
                    Step(
                        each.address, action, fate, each.type, "id", number, "", stamp(began.now()), stamp(ended.now())
                    )
                )
        return steps

    def _turn(self, module: str, end: ModuleEnd, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.ends[module] = end


def known(value: Json) -> Output:
    return Output(Provenance.KNOWN, value=value, type="string")


def text(value: Json, reference: str = "") -> RecordedInput:
    return RecordedInput(value, reference=reference)


NEEDS = {"network": (), "vm": ("network",), "configuration": ("vm",), "health": ("configuration",)}
TAKEN = "InsufficientInstanceCapacity: We currently do not have sufficient t3.large capacity in eu-central-1a"


def half_applied(story: Story | None = None) -> Story:
    """Four modules in a row: the second fails, the others wait; an earlier run had gone well."""
    story = story or Story()
    story.start(NEEDS)
    story.apply(
        "network",
        [change("aws_vpc.main", Action.CREATE), change("aws_nat_gateway.a", Action.CREATE)],
        outputs={"subnet_id": known("subnet-0a1")},
    )
    story.apply(
        "vm",
        [change("aws_instance.web", Action.CREATE)],
        outputs={"address": known("10.0.0.7"), "password": Output(Provenance.KNOWN, sensitive=True)},
    )
    story.unchanged("configuration")
    story.unchanged("health")
    story.end()
    story.clock.sleep(86400)
    story.start(NEEDS)
    story.apply(
        "network",
        [
            change("aws_nat_gateway.a", Action.REPLACE, "cannot_update"),
            change("aws_vpc.main", Action.UPDATE),
            change("aws_eip.nat", Action.CREATE),
        ],
        outputs={"subnet_id": known("subnet-0a1"), "nat_ip": known("203.0.113.7")},
        inputs={"cidr": text("10.0.0.0/16")},
        seconds=41,
    )
    story.apply(
        "vm",
        [
            change("aws_instance.web", Action.REPLACE, "tainted"),
            change("aws_security_group.web", Action.UPDATE),
        ],
        error("aws_instance.web", "creating EC2 Instance", TAKEN),
        outputs={
            "address": Output(Provenance.STALE, value="10.0.0.7", type="string"),
            "password": Output(Provenance.STALE, sensitive=True),
        },
        inputs={
            "subnet_id": text("subnet-0a1", "{{ modules.network.subnet_id }}"),
            "password": RecordedInput(sensitive=True, reference="env:VM_PASSWORD"),
        },
        seconds=63,
    )
    story.pending("configuration", "vm.address")
    story.pending("health", "configuration")
    story.end(4)
    return story


REGIONS = ("eu-central-1", "eu-west-1", "us-east-1", "us-west-2", "ap-southeast-1")
PARTS = ("network", "dns", "cluster", "nodes", "database", "cache", "queue", "api", "worker", "web")
ABOVE = {
    "dns": ("network",),
    "cluster": ("network",),
    "nodes": ("cluster",),
    "database": ("network",),
    "cache": ("network",),
    "queue": ("cluster",),
    "api": ("nodes", "database", "cache"),
    "worker": ("nodes", "queue"),
    "web": ("api", "dns"),
}


def many_needs(count: int) -> dict[str, tuple[str, ...]]:
    """Cells of ten modules each, on one foundation."""
    needs: dict[str, tuple[str, ...]] = {"foundation": ()}
    for index in range(count - 1):
        cell, part = divmod(index, len(PARTS))
        where = f"{REGIONS[cell % len(REGIONS)]}-{cell // len(REGIONS)}"
        above = ABOVE.get(PARTS[part], ())
        needs[f"{PARTS[part]}-{where}"] = tuple(f"{each}-{where}" for each in above) or ("foundation",)
    return needs


def many(count: int, story: Story | None = None) -> Story:
    """A large stack of which most is unchanged: some change alike, some replace, one fails, what needs it waits."""
    story, needs = story or Story(), many_needs(count)
    bad = next(name for name in needs if name.startswith("nodes-eu-west"))
    story.start(needs)
    waiting: set[str] = set()
    ended: dict[str, float] = {}
    lanes = [story.clock.seconds] * 8
    for index, (name, above) in enumerate(needs.items()):
        if blocked := sorted({bad, *waiting} & set(above)):
            waiting.add(name)
            story.pending(name, blocked[0])
            continue
        lane = lanes.index(min(lanes))
        story.clock.seconds = max([lanes[lane], *(ended[each] for each in above)])
        _turn(story, name, index, fails=name == bad)
        lanes[lane] = ended[name] = story.clock.seconds
    story.clock.seconds = max(lanes)
    story.end(4)
    return story


def _turn(story: Story, name: str, index: int, *, fails: bool) -> None:
    if fails:
        planned = [
            change("aws_launch_template.it", Action.UPDATE),
            change("aws_autoscaling_group.it", Action.REPLACE, "tainted"),
        ]
        told = f"ValidationError: You must use a valid fully-formed launch template. {TAKEN}"
        failure = error("aws_autoscaling_group.it", "creating Auto Scaling Group", told, line=44)
        story.apply(name, planned, failure, seconds=25)
    elif name.startswith("api"):
        planned = [change("aws_lambda_function.this", Action.UPDATE), change("aws_iam_role.this", Action.UPDATE)]
        outputs = {"url": known(f"https://{name}.example.test"), "token": Output(Provenance.KNOWN, sensitive=True)}
        inputs = {"size": text(3), "subnets": text(["subnet-1", "subnet-2"], "{{ modules.network.subnets }}")}
        story.apply(name, planned, outputs=outputs, inputs=inputs, seconds=6 + index % 7)
    elif name.startswith("cache") and index % 3 == 0:
        planned = [
            change("aws_elasticache_cluster.this", Action.REPLACE, "cannot_update"),
            change("aws_security_group.this", Action.UPDATE),
            change("aws_route53_record.old", Action.DELETE, "delete_because_no_resource_config"),
        ]
        story.apply(name, planned, seconds=18 + index % 11)
    else:
        story.unchanged(name, 1.5 + index % 5 * 0.4)
