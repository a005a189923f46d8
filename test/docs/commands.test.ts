import { expect, setDefaultTimeout, test } from "bun:test"
import { ROUTES } from "../../src/contract/routes.ts"
import { GUIDE } from "../../src/http/site/docs/guide.ts"
import { ROOT } from "../house/source.ts"
import { site, unescaped } from "../http/site/open-site.ts"
import { startProgram } from "../world/program.ts"

setDefaultTimeout(180_000)

/** The commands in the samples of all pages: the words up to the first that is an option, a name or a file. */
async function commandsShown(): Promise<readonly string[]> {
  const ask = site()
  const pages = await Promise.all(
    GUIDE.flatMap(({ pages: all }) => all.map(({ route }) => route)).map(async route =>
      (await ask(ROUTES[route].path)).text(),
    ),
  )
  const lines = pages
    .flatMap(html => [...html.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs)].map(([, code = ""]) => unescaped(code)))
    .flatMap(code => code.split("\n"))
  const commands = lines.flatMap(line => /^(?:\.\/)?mailkind ((?:[a-z]+(?: |$))+)/.exec(line)?.[1]?.trim() ?? [])
  return [...new Set(commands)]
}

test("every command that a page shows is one of the program's", async () => {
  const commands = await commandsShown()
  expect(commands).toContain("key revoke")
  for (const command of commands) {
    const topic = command.replace(/^help /, "").split(" ")
    const help = await startProgram([process.execPath, "src/main.ts", "help", ...topic], ROOT, process.env).ended()
    expect({ command, code: help.code }).toEqual({ command, code: 0 })
  }
})
