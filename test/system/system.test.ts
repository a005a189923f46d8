import { expect, test } from "bun:test"
import { join } from "node:path"
import { ROOT } from "../architecture/source-files.ts"

/** Writes so much to a standard error that nobody reads, and prints what was lost of it. */
const WRITER = `
  const { createSystem } = await import(${JSON.stringify(join(ROOT, "src/system/system.ts"))})
  const { writeStderr, processStats, takeLostLines } = createSystem()
  const text = "x".repeat(1_048_576)
  const lost = []
  for (let count = 0; count < 12; count++) writeStderr(text)
  lost.push(processStats().lostLineCount, takeLostLines(), processStats().lostLineCount)
  console.log(JSON.stringify(lost))
  process.exit(0)
`

test("lines of the log that nobody reads are lost beyond eight megabytes, and counted for good", async () => {
  const child = Bun.spawn([process.execPath, "-e", WRITER], { stdout: "pipe", stderr: "pipe" })
  const [lost, told, afterwards] = JSON.parse(await new Response(child.stdout).text())
  expect(lost).toBeGreaterThan(1)
  // As long as more would be lost nothing is told.
  expect([told, afterwards]).toEqual([0, lost])
})

/** Opens files until none can be opened, and then fetches. */
const FETCHER = `
  const { createSystem } = await import(${JSON.stringify(join(ROOT, "src/system/system.ts"))})
  const { openSync } = await import("node:fs")
  const { startFetching, fetchUrl } = createSystem()
  await startFetching()
  try {
    for (;;) openSync("/dev/null", "r")
  } catch {}
  console.log(await fetchUrl("http://127.0.0.1:1/", {}).then(() => "answered", error => error.code))
  process.exit(0)
`

test("a process that has begun to fetch does not end by a fetch for which it has no descriptor", async () => {
  const limited = ["sh", "-c", 'ulimit -n 64; exec "$0" -e "$1"', process.execPath, FETCHER]
  const child = Bun.spawn(limited, { stdout: "pipe", stderr: "pipe" })
  expect([await new Response(child.stdout).text(), await child.exited]).toEqual(["EMFILE\n", 0])
})
