import { expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemStreams } from "../../src/system/streams.ts"
import { onTestEnd } from "../support/on-test-end.ts"
import { outcomeOf } from "../support/outcome-of.ts"

function places() {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-streams-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  return { file: join(directory, "file"), link: join(directory, "link") }
}

test("a file that is new, empty or continued is written", async () => {
  for (const [before, kept, after] of [
    [null, 0, "new"],
    ["", 0, "new"],
    ["old and long", 3, "oldnew"],
  ] as const) {
    const { file } = places()
    if (before !== null) writeFileSync(file, before)
    const sink = await systemStreams.openSink(file, kept)
    await sink.write("new")
    await sink.close()
    expect(readFileSync(file, "utf8")).toBe(after)
  }
})

test("nothing is written through a symbolic link, whether its file is empty, full or missing", async () => {
  for (const content of ["", "theirs", null]) {
    const { file, link } = places()
    if (content !== null) writeFileSync(file, content)
    symlinkSync(file, link)
    expect(await outcomeOf(systemStreams.openSink(link, 0))).toThrow("ELOOP")
    if (content === null) expect(() => readFileSync(file)).toThrow("ENOENT")
    else expect(readFileSync(file, "utf8")).toBe(content)
  }
})

test("a link to what is no file is followed, as /dev/stdout is", async () => {
  const { link } = places()
  symlinkSync("/dev/null", link)
  const sink = await systemStreams.openSink(link, 0)
  await sink.write("nothing")
  await sink.close()
})
