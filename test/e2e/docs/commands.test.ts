import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CHECKOUT, PROGRAM } from "../../../bench/servers/product.ts"
import { ROUTES } from "../../../src/contract/routes.ts"
import { CHECKOUT_COMMAND } from "../../../src/http/site/docs/command-lines.ts"
import { GUIDE } from "../../../src/http/site/docs/guide.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { sampleIn } from "../../http/site/docs/sample-in.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { openSite, unescapeHtml } from "../../support/open-site.ts"
import { startProgram } from "../../support/program.ts"

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
    [...html.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs)].map(([, code = ""]) =>
      unescapeHtml(code.replaceAll(/<[^>]*>/g, "")),
    ),
  )
}

/** The commands in the first column of the page of commands, as they are typed. */
async function listedCommands(): Promise<readonly string[]> {
  const html = await (await openSite()(ROUTES.docsCommands.path)).text()
  return [...html.matchAll(/<th scope="row"><code[^>]*>([a-z][^<]*)<\/code><\/th>/g)].map(
    ([, command = ""]) => `mailkind ${unescapeHtml(command)}`,
  )
}

/** The commands of the samples and of the page of commands, each with every option that it is shown with anywhere. */
async function commandsShown(): Promise<readonly ShownCommand[]> {
  const lines = [...(await samples()).flatMap(code => code.split("\n")), ...(await listedCommands())]
  const optionsOf = new Map<string, Set<string>>()
  for (const line of lines.map(each => each.replace(CHECKOUT_COMMAND, "mailkind"))) {
    const words = /^(?:\.\/)?mailkind ((?:[a-z]+(?: |$))+)/.exec(line)?.[1]?.trim()
    if (words === undefined) continue
    const options = optionsOf.get(words) ?? new Set()
    for (const [option] of line.matchAll(/--[a-z-]+/g)) options.add(option)
    optionsOf.set(words, options)
  }
  return [...optionsOf].map(([words, options]) => ({ words, options: [...options] }))
}

/** The program's own commands, each with the text of its section in the manual: those of a checkout, which has them all. */
async function manual(): Promise<ReadonlyMap<string, string>> {
  const { out } = await startProgram([...CHECKOUT, "man"], ROOT, process.env).ended()
  const [, ...sections] = out.replaceAll("\\-", "-").split(/^\.SS "mailkind /m)
  return new Map(sections.map(section => [/^[a-z]+(?: [a-z]+)*/.exec(section)?.[0] ?? "", section]))
}

test("every command that a page shows is one of the program's, and so is every option", async () => {
  const [commands, own] = [await commandsShown(), await manual()]
  for (const shown of ["key revoke", "doctor", "backup", "restore", "serve"])
    expect(commands.map(({ words }) => words)).toContain(shown)
  for (const { words, options } of commands) {
    const topic = words.replace(/^help (?=.)/, "")
    // A topic of `help` that is no command has no section.
    const text =
      own.get(topic) ?? (await startProgram([...CHECKOUT, "help", ...topic.split(" ")], ROOT, process.env).ended()).out
    const unknown = options.filter(option => !text.includes(`${option} `) && !text.includes(`${option}\n`))
    expect({ words, isThere: text !== "", unknown }).toEqual({ words, isThere: true, unknown: [] })
  }
})

test("the page of commands names every command of the program", async () => {
  const html = unescapeHtml(await (await openSite()(ROUTES.docsCommands.path)).text())
  const commands = [...(await manual()).keys()]
  expect(commands.length).toBeGreaterThan(20)
  expect(commands.filter(command => !new RegExp(`<code[^>]*>${command}\\b`).test(html))).toEqual([])
})

test("every command takes --json but those that the page of commands leaves out", async () => {
  const html = await (await openSite()(ROUTES.docsCommands.path)).text()
  const [, leftOut = ""] = /All commands but (.*?) take <code/.exec(html) ?? []
  const sections = [...(await manual())]
  const lacking = sections.filter(([, text]) => !text.includes("--json")).map(([command]) => command.split(" ")[0])
  expect(sections.length).toBeGreaterThan(20)
  expect([...leftOut.matchAll(/<code>([a-z]+)<\/code>/g)].map(([, name]) => name)).toEqual(lacking)
})

test("the page of files has every option of classify", async () => {
  const html = await (await openSite()(ROUTES.docsFiles.path)).text()
  const { out } = await startProgram([...PROGRAM, "help", "classify"], ROOT, process.env).ended()
  const options = [...out.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option = ""]) => option)
  expect(options.length).toBeGreaterThan(10)
  expect(options.filter(option => !new RegExp(`<th scope="row"><code[^>]*>${option}\\b`).test(html))).toEqual([])
})

test("what the page shows of `mailkind doctor` is what it prints", async () => {
  const page = await (await openSite()(ROUTES.docsSelfHosting.path)).text()
  const [, shownDirectory = "", command = ""] =
    /in the empty directory <code>([^<]+)<\/code>, <code>mailkind ([^<]+)<\/code> prints/.exec(page) ?? []
  const directory = mkdtempSync(join(tmpdir(), "mailkind-doctor-"))
  onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const program = [...PROGRAM, ...command.split(" ")]
  const { code, out } = await startProgram(program, directory, { PATH: process.env["PATH"] }).ended()
  const printed = out.replaceAll(directory, shownDirectory)
  expect({ code, out: printed }).toEqual({ code: 0, out: `${sampleIn(page, "What it prints")}\n` })
})

test("the files that deploy a server are shown as they are", async () => {
  const shown = await samples()
  for (const file of ["mailkind@.service", "mailkind.env", "Dockerfile", "nginx.conf", "Caddyfile"])
    expect(shown).toContain(readFileSync(join(ROOT, "data/deploy", file), "utf8").trimEnd())
})
