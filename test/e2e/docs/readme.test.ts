import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { PROGRAM } from "../../../bench/servers/product.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { serverProcess } from "../../contract/server-process.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { startProgram } from "../../support/program.ts"

setDefaultTimeout(180_000)

const README = readFileSync(join(ROOT, "README.md"), "utf8")
const isCurlMissing = Bun.which("curl") === null || Bun.which("bash") === null
const NAMED = isCurlMissing ? "(skipped: curl or bash is not installed) " : ""

/** The lines of the README that ask a server, each with what it shows as the answer: all up to the end of the block. */
const ASKED = [...README.matchAll(/(?:^ *|`|\$ )(curl -s [^`\n]+)(?:`|\n((?:[^`\n]*\n)*?)```)/gm)].map(
  ([, line = "", shown = ""]) => ({ line, shown }),
)

test.skipIf(isCurlMissing)(
  `${NAMED}every line of the README that asks a server is answered as it is shown there`,
  async () => {
    const server = await serverProcess()
    onTestEnd(server.stop)
    expect(ASKED.length).toBeGreaterThanOrEqual(3)
    for (const { line, shown } of ASKED) {
      const here = line.replaceAll("http://127.0.0.1:8080", server.url).replaceAll("svc_live_…", server.firstKey)
      const environment = { PATH: process.env["PATH"], MK_API_KEY: server.firstKey }
      const { code, out } = await startProgram(["bash", "-c", here], ROOT, environment).ended()
      expect({ line, code }).toEqual({ line, code: 0 })
      const answer = JSON.parse(out)
      expect(answer).toHaveProperty("category")
      // What is left out is a `…`; each member that stands there whole is that of the answer.
      for (const [, name = "", value = ""] of shown.matchAll(/"(\w+)":("[^"]*"|true|false|null|[\d.]+)(?=[,}])/g))
        expect({ line, name, value: answer[name] }).toEqual({ line, name, value: JSON.parse(value) })
    }
  },
)

test("what the README shows of `mailkind check` is what it prints", async () => {
  const [, input = "", shown = ""] = /^\$ \.\/mailkind check (\S+)\n([\s\S]*?)^```$/m.exec(README) ?? []
  const environment = { PATH: process.env["PATH"], MAILKIND_DNS_SERVERS: "off", MAILKIND_IDENTITY_URL: "off" }
  const program = [...PROGRAM, "check", "--offline", input]
  expect((await startProgram(program, ROOT, environment).ended()).out).toBe(shown)
})
