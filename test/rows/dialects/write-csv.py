"""Writes tables by Python's csv: one JSON object a line in, the text of its table as JSON a line out."""

import csv
import io
import json
import sys

QUOTING = {"minimal": csv.QUOTE_MINIMAL, "all": csv.QUOTE_ALL, "nonnumeric": csv.QUOTE_NONNUMERIC}

for line in sys.stdin:
    task = json.loads(line)
    text = io.StringIO()
    writer = csv.writer(
        text, delimiter=task["delimiter"], quoting=QUOTING[task["quoting"]], lineterminator=task["lineEnd"]
    )
    writer.writerows(task["rows"])
    print(json.dumps(text.getvalue()))
