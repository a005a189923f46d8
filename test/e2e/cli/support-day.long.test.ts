import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { openStoreAt } from "../../../src/customers/store/open-store.ts"
import { prepareSupportDay, SUPPORT_DAY, SUPPORT_FILES } from "../../cli/support-day.ts"
import { tempLog } from "../../customers/temp-store.ts"
import { later } from "../../support/later.ts"
import { onTestEnd } from "../../support/on-test-end.ts"

setDefaultTimeout(180_000)

const MISSING = Bun.which("jq") === null ? " [jq is not installed]" : ""

test.skipIf(MISSING !== "")(
  `twenty tasks of a day of support are done in a shell with the program and jq alone${MISSING}`,
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "mailkind-support-"))
    onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
    for (const [name, text] of Object.entries(SUPPORT_FILES)) writeFileSync(join(directory, name), text)
    const store = await openStoreAt(join(directory, "mailkind.sqlite"), { clock: Date.now, setTimer: later })
    const { LAST4 } = await prepareSupportDay(tempLog(store), Date.now()).finally(store.close)
    const lines = SUPPORT_DAY.flatMap(({ line, as }) => [
      ...(as === undefined ? [line] : [`${as}="$(${line})"; echo "$${as}"`]),
      "echo ---",
    ])
    const program = PROGRAM.map(word => `'${word}'`).join(" ")
    const script = [`LAST4=${LAST4}`, `mailkind() { ${program} "$@"; }`, ...lines].join("\n")
    const shell = Bun.spawn(["bash", "-c", script], {
      cwd: directory,
      env: { PATH: process.env["PATH"] ?? "", HOME: directory, MAILKIND_DATA_DIR: directory },
      stdout: "pipe",
      stderr: "inherit",
    })
    const printed = (await new Response(shell.stdout).text()).split("---\n").map(text => text.trimEnd())
    expect(printed).toEqual([
      ...SUPPORT_DAY.map(({ prints }) => (typeof prints === "string" ? prints : expect.stringMatching(prints))),
      "",
    ])
  },
)
