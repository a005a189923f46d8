import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROUTES } from "../../src/contract/routes.ts"
import { GUIDE } from "../../src/http/site/docs/guide.ts"
import { PRINTED } from "../../src/http/site/docs/looking-after-section.tsx"
import { ROOT } from "../house/source.ts"
import { openSite, unescapeHtml } from "../support/open-site.ts"
import { afterwards } from "../world/afterwards.ts"
import { startProgram } from "../world/program.ts"

setDefaultTimeout(180_000)

/** A command as a page shows it: the words up to the first that is an option, a name or a file, and its options. */
type ShownCommand = { readonly words: string; readonly options: readonly string[] }

/** The code of every sample of every page. */
async function samples(): Promise<readonly string[]> {
  const ask = openSite()
  const pages = await Promise.all(
    GUIDE.flatMap(({ pages: all }) => all.map(({ route }) => route)).map(async route =>
      (await ask(ROUTES[route].path)).text(),
    ),
  )
  return pages.flatMap(html =>
    [...html.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs)].map(([, code = ""]) => unescapeHtml(code)),
  )
}

/** The commands of the samples, each with every option that it is shown with anywhere. */
async function commandsShown(): Promise<readonly ShownCommand[]> {
  const lines = (await samples()).flatMap(code => code.split("\n"))
  const optionsOf = new Map<string, Set<string>>()
  for (const line of lines) {
    const words = /^(?:\.\/)?mailkind ((?:[a-z]+(?: |$))+)/.exec(line)?.[1]?.trim()
    if (words === undefined) continue
    const options = optionsOf.get(words) ?? new Set()
    for (const [option] of line.matchAll(/--[a-z-]+/g)) options.add(option)
    optionsOf.set(words, options)
  }
  return [...optionsOf].map(([words, options]) => ({ words, options: [...options] }))
}

test("every command that a page shows is one of the program's, and so is every option", async () => {
  const commands = await commandsShown()
  for (const shown of ["key revoke", "doctor", "backup", "restore", "serve"])
    expect(commands.map(({ words }) => words)).toContain(shown)
  for (const { words, options } of commands) {
    const topic = words.replace(/^help /, "").split(" ")
    const help = await startProgram([process.execPath, "src/main.ts", "help", ...topic], ROOT, process.env).ended()
    const unknown = options.filter(option => !help.out.includes(`${option} `))
    expect({ words, code: help.code, unknown }).toEqual({ words, code: 0, unknown: [] })
  }
})

test("what the page shows of `mailkind doctor` is what it prints", async () => {
  const directory = mkdtempSync(join(tmpdir(), "mailkind-doctor-"))
  afterwards(() => rmSync(directory, { recursive: true, force: true }))
  const [, ...words] = PRINTED.command.split(" ")
  const program = [process.execPath, join(ROOT, "src/main.ts"), ...words]
  const { code, out } = await startProgram(program, directory, { PATH: process.env["PATH"] }).ended()
  expect({ code, out: out.replaceAll(directory, PRINTED.directory) }).toEqual({ code: 0, out: `${PRINTED.text}\n` })
  expect(await samples()).toContain(PRINTED.text)
})

test("the files that deploy a server are shown as they are", async () => {
  const shown = await samples()
  for (const file of ["mailkind@.service", "mailkind.env", "Dockerfile"])
    expect(shown).toContain(readFileSync(join(ROOT, "data/deploy", file), "utf8").trimEnd())
})
