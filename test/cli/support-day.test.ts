import { expect, test } from "bun:test"
import { openCommands } from "./open-commands.ts"
import { prepareSupportDay, SUPPORT_DAY, SUPPORT_FILES } from "./support-day.ts"

const MISSING = Bun.which("jq") === null ? " [jq is not installed]" : ""

const TIERS = Array.from({ length: 5 }, () => ({ unitsPerDay: 1000, requestsPerSecond: 5, inFlight: 5 }))

/** The words of a command, whose quotes are those of a shell. */
const wordsOf = (command: string): readonly string[] =>
  [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? "")

/** Runs lines of a shell that use no more of it than the table: pipes into `jq`, `&&`, variables and one command within another. */
async function openShell() {
  const commands = await openCommands({ files: SUPPORT_FILES, tiers: TIERS })
  const { changes } = commands
  changes.now = Date.UTC(2026, 5, 1, 12)
  const variables = new Map<string, string>(Object.entries(await prepareSupportDay(changes, changes.now)))
  const jq = async (words: readonly string[], input: string): Promise<string> => {
    const child = Bun.spawn(["jq", ...words], { stdin: new Blob([input]), stdout: "pipe", stderr: "inherit" })
    return (await new Response(child.stdout).text()).trimEnd()
  }
  const pipe = async (line: string): Promise<string> => {
    const [command = "", filter] = line.split(" | jq ")
    const isMerged = command.endsWith("2>&1")
    const isSilent = command.endsWith("> /dev/null")
    const words = wordsOf(command.replace(/ (?:2>&1|> \/dev\/null)$/, ""))
    changes.now += 1000
    const { out, err } = await commands.run(...words.slice(1))
    if (isSilent) return ""
    const printed = isMerged ? out + err : out
    return filter === undefined ? printed : await jq(wordsOf(filter), printed)
  }
  const run = async (line: string): Promise<string> => {
    const [, within] = /\$\((.*?)\)" /.exec(line) ?? []
    const whole = within === undefined ? line : line.replace(`$(${within})`, await pipe(within))
    const parts: string[] = []
    for (const part of whole.replaceAll(/\$([A-Z]\w*)/g, (_, name) => variables.get(name) ?? "").split(" && "))
      parts.push(await pipe(part))
    return parts.filter(part => part !== "").join("\n")
  }
  return { run, variables }
}

test.skipIf(MISSING !== "")(
  `twenty tasks of a day of support are done with the commands and jq alone${MISSING}`,
  async () => {
    expect(SUPPORT_DAY).toHaveLength(20)
    const { run, variables } = await openShell()
    for (const { task, line, prints, as } of SUPPORT_DAY) {
      const printed = await run(line)
      expect([task, printed]).toEqual([task, typeof prints === "string" ? prints : expect.stringMatching(prints)])
      if (as !== undefined) variables.set(as, printed)
    }
  },
)
