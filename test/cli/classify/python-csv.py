"""Writes a CSV file (`write`), or compares the cells of one with those of its results row for row (`compare`).

Arguments: write|compare, the file, its encoding, its delimiter, and the number of bytes or the file of results.
"""

import csv
import sys

COLUMNS = ["id", "email", "note", "last"]
DOMAINS = ["gmail.com", "mailinator.com", "acme-corp.com", "ox.ac.uk"]


def notes():
    """Cells that need quotes, and some that do not."""
    for at in range(997):
        words = ("Ünï cödé " if at % 2 else "plain ") * (at % 90 + 60)
        odd = [',;\t|', '"quoted ""twice"""', "two\nlines", "two\r\nlines", "", " spaces ", "it's"][at % 7]
        yield words + odd + words


def write(path, encoding, delimiter, size):
    cells = list(notes())
    with open(path, "w", encoding=encoding, newline="") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(COLUMNS)
        for at in range(sys.maxsize):
            if at % 1_000 == 0 and file.tell() >= size:
                return
            domain = DOMAINS[at % len(DOMAINS)]
            table.writerow([at, f"jane.{at}@{domain}", cells[at % len(cells)], "end" if at % 3 else ""])


def compare(path, encoding, delimiter, results):
    rows = 0
    with open(path, encoding=encoding, newline="") as file, open(results, encoding="utf-8-sig", newline="") as other:
        inputs, outputs = csv.reader(file, delimiter=delimiter), csv.reader(other, delimiter=delimiter)
        for cells, found in zip(inputs, outputs, strict=True):
            if found[: len(cells)] != cells or len(found) != len(cells) + 11:
                sys.exit(f"row {rows} differs")
            rows += 1
    print(rows)


if __name__ == "__main__":
    _, act, path, encoding, delimiter, last = sys.argv
    if act == "write":
        write(path, encoding, delimiter, int(last))
    else:
        compare(path, encoding, delimiter, last)
