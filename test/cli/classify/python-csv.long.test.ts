import { describe, expect, test } from "bun:test"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { emptyDirectory, PROGRAM } from "../../../bench/servers/product.ts"

const SCRIPT = join(import.meta.dir, "python-csv.py")
const FILE_BYTES = 10_000_000
const TIMEOUT_MS = 600_000

/** The name of an encoding here and in Python. Python writes the mark that `utf-16` and `utf-8-sig` name. */
const ENCODINGS = {
  "utf-8": ["utf-8", null],
  "utf-8 with a mark": ["utf-8-sig", null],
  "utf-16le": ["utf-16le", "utf-16le"],
  "utf-16be": ["utf-16be", null],
  "utf-16 with a mark": ["utf-16", null],
  "windows-1252": ["cp1252", "windows-1252"],
  latin1: ["latin-1", "latin1"],
} as const
const DELIMITERS = { comma: ",", semicolon: ";", tab: "\t", pipe: "|" } as const

describe.each(Object.entries(ENCODINGS))("10 MB of CSV in %s", (_, [python, named]) => {
  test.each(Object.entries(DELIMITERS))(
    "with the delimiter %s have the cells that Python reads, in every row, from one process and from two",
    async (_, delimiter) => {
      await using directory = await emptyDirectory()
      const [input, one, two] = ["in.csv", "one.csv", "two.csv"].map(name => join(directory.path, name)) as [
        string,
        string,
        string,
      ]
      await ended(["python3", SCRIPT, "write", input, python, delimiter, String(FILE_BYTES)])
      const flags = ["--offline", ...(named === null ? [] : ["--encoding", named])]
      for (const [out, jobs] of [
        [one, "1"],
        [two, "2"],
      ] as const)
        await ended([...PROGRAM, "classify", input, ...flags, "--out", out, "--jobs", jobs])
      await ended(["cmp", one, two])
      await rm(two)
      const rows = await ended(["python3", SCRIPT, "compare", input, python, delimiter, one])
      expect(Bun.file(input).size).toBeGreaterThanOrEqual(FILE_BYTES)
      expect(Number(rows)).toBeGreaterThan(1000)
    },
    TIMEOUT_MS,
  )
})

/** Runs a command to its end and gives what it printed. Rejects with its complaint when it fails. */
async function ended(command: readonly string[]): Promise<string> {
  await using child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" })
  const [out, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.slice(0, 3).join(" ")} failed (${code}): ${complaint || out}`)
  return out
}
