"""Runs one scenario of the tests with the Python client and prints what came of it as JSON: python3 python-driver.py SCENARIO."""

import asyncio
import inspect
import json
import os
import sys
from dataclasses import asdict, is_dataclass

sys.path.insert(0, os.getcwd())
import mailkind


class Platform(mailkind._Platform):
    """Waits end at once and are listed. An answer that never comes is a time-out at once where `is_silent`."""

    def __init__(self, is_silent, waits_max):
        self.clock, self.waits, self.ids = 0.0, [], 0
        self.is_silent, self.waits_max = is_silent, waits_max

    def now(self):
        return self.clock

    def random(self):
        return 0.0

    def new_id(self):
        self.ids += 1
        return f"id-{self.ids - 1}"

    def wait(self, done, seconds):
        return False if self.is_silent else done.wait(60)

    def pause(self, cancelled, seconds):
        self.waits.append(seconds)
        self.clock += seconds
        return False


class Waiting:
    """An object of the client for asyncio as one without: each method is waited for, and what it iterates over is a list."""

    def __init__(self, inner, loop):
        self.inner, self.loop = inner, loop

    def __getattr__(self, name):
        value = getattr(self.inner, name)
        if not callable(value):
            return Waiting(value, self.loop) if type(value).__name__ == "_AsyncJobs" else value
        return lambda *given, **named: self.ended(value(*given, **named))

    def ended(self, value):
        if inspect.isawaitable(value):
            value = self.loop.run_until_complete(value)
        if isinstance(getattr(value, "result", None), mailkind.AsyncJob):
            return mailkind.replace(value, result=Waiting(value.result, self.loop))
        return self.each(value) if hasattr(value, "__aiter__") else value

    def each(self, values):
        end = object()

        async def following():
            return await anext(values, end)

        while (value := self.loop.run_until_complete(following())) is not end:
            yield value

    def __repr__(self):
        return repr(self.inner)


def job_way(client, list_, times=1, only=None, cut_at=None, **options):
    """Uploads a list, waits for it, and downloads it: into a file, of which only so many bytes stay where it is cut."""
    with open("list.csv", "w") as file:
        file.write(list_ * times)
    created = client.jobs.create("list.csv", **options)
    if created.outcome == "unanswered":
        return asdict(created)
    job = created.result
    states = [f"{each['state']} {each['rows']['done']}" for each in job.progress()]
    size = job.save("results.csv", only=only)
    text = open("results.csv").read()
    if cut_at is not None:
        with open("results.csv", "r+") as file:
            file.truncate(cut_at)
        size = job.save("results.csv", only=only, resume=True)
    is_same = open("results.csv").read() == text
    listed = [each["id"] == job.id for each in client.jobs.list().result]
    deleted = job.delete()
    gone = client.jobs.get(job.id)
    return {
        "states": states, "size": size, "text": text, "is_same": is_same, "listed": listed, "deleted": deleted.outcome,
        "gone": gone.problem["code"],
    }


def results(client):
    """The results of a job as they come, and how they end."""
    job, received = client.jobs.get("job_1").result, b""
    try:
        for part in job.results():
            received += part
        return {"text": received.decode()}
    except mailkind.JobError as error:
        return {"because": error.failure.because, "received": error.received}


def progress_of(client):
    try:
        return {"states": [each["state"] for each in client.jobs.get("job_1").result.progress()]}
    except mailkind.JobError as error:
        return {"because": error.failure.because}


def plain(value):
    return asdict(value) if is_dataclass(value) else value


scenario = json.loads(sys.argv[1])
platform = Platform(scenario.get("is_silent", False), scenario.get("waits_max", 1e9))
told = []
client = getattr(mailkind, os.environ.get("CLIENT", "Mailkind"))(
    scenario.get("key", "svc_live_secretsecretsecret"), on_unchecked=told.append, _platform=platform, **scenario.get("options", {})
)
texts = str(vars(client)) + str(vars(getattr(client, "_client", client)))
if isinstance(client, mailkind.AsyncMailkind):
    client = Waiting(client, asyncio.new_event_loop())
outcomes, progress = [], []
for call in scenario["calls"]:
    (name, arguments), = call.items()
    try:
        if name == "batch":
            items = arguments.pop("items", None) or [f"user{n}@x{n}.com" for n in range(arguments.pop("count"))]
            ended = list(client.batch(items, on_progress=progress.append, **arguments))
            in_order = [each.index for each in ended] == list(range(len(items))) and [each.item for each in ended] == items
            own = all(each.outcome != "checked" or each.result["email"] == each.item for each in ended)
            counts = {}
            for each in ended:
                counts[each.outcome] = counts.get(each.outcome, 0) + 1
            outcomes.append({**counts, "is_in_order": in_order and own, "progress": len(progress)})
        elif name in ("job_way", "results", "progress_of"):
            outcomes.append(globals()[name](client, **arguments))
        elif name.startswith("block_list."):
            outcomes.append(plain(getattr(client.block_list, name[11:])(**arguments)))
        elif name.startswith("jobs."):
            outcomes.append(plain(getattr(client.jobs, name[5:])(**arguments)))
        else:
            outcomes.append(plain(getattr(client, name)(**arguments)))
    except (TypeError, ValueError, OSError) as error:
        outcomes.append({"raised": type(error).__name__, "message": str(error)})
texts += repr(client) + repr(outcomes) + repr(told)
print(
    json.dumps(
        {
            "outcomes": outcomes,
            "waits": platform.waits,
            "told": [plain(each) for each in told],
            "stats": client.stats(),
            "holds_key": "secretsecret" in texts,
        }
    )
)
