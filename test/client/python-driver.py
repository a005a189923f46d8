"""Runs one scenario of the tests with the Python client and prints what came of it as JSON: python3 python-driver.py SCENARIO."""

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


def plain(value):
    return asdict(value) if is_dataclass(value) else value


scenario = json.loads(sys.argv[1])
platform = Platform(scenario.get("is_silent", False), scenario.get("waits_max", 1e9))
told = []
client = mailkind.Mailkind(
    scenario.get("key", "svc_live_secretsecretsecret"), on_unchecked=told.append, _platform=platform, **scenario.get("options", {})
)
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
        else:
            outcomes.append(plain(getattr(client, name)(**arguments)))
    except (TypeError, ValueError) as error:
        outcomes.append({"raised": type(error).__name__, "message": str(error)})
texts = repr(client) + str(vars(client)) + repr(outcomes) + repr(told)
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
