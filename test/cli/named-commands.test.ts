import { expect, test } from "bun:test"
import { join } from "node:path"
import type { CommandNode } from "../../src/cli/shell/command-tree.ts"
import { ROOT } from "../architecture/source-files.ts"
import { openCommands } from "./open-commands.ts"

/** Where commands are named that somebody is told to run: alerts, remedies in the log and on the terminal, and the guide. */
const FILES = ["data/grafana/*.yml", "data/deploy/**/*", "src/**/*.{ts,tsx,md}", "README.md"]

/** A command in backticks, in a template too. What is put together at run time is left out. */
const NAMED = /\\?`mailkind ([a-z-][^`$…]*?)\\?`/g

async function namedCommands(): Promise<readonly { readonly file: string; readonly command: string }[]> {
  const files = FILES.flatMap(pattern => [...new Bun.Glob(pattern).scanSync(ROOT)])
  const texts = await Promise.all(files.map(async file => ({ file, text: await Bun.file(join(ROOT, file)).text() })))
  return texts.flatMap(({ file, text }) =>
    [...text.matchAll(NAMED)].map(([, command = ""]) => ({ file, command: command.split(" | ")[0] ?? "" })),
  )
}

/** Comments name it. The program has it in a checkout alone. */
const CHECKOUT_COMMAND = "lists build"

/** What the program does not understand of a command; null: it takes it. */
function notUnderstood(root: CommandNode, command: string): string | null {
  const words = command.split(/\s+/)
  let node = root
  for (let child = childOf(node, words); child !== undefined; child = childOf(node, words)) {
    node = child
    words.shift()
  }
  const options = [...node.options, ...root.options]
  const optionOf = (word: string) => options.find(({ names }) => names.includes(word.split("=")[0] ?? word))
  const isTaken = (word: string, at: number): boolean => {
    if (isOption(word)) return optionOf(word) !== undefined
    const option = optionOf(words.slice(0, at).findLast(isOption) ?? "")
    if (option?.takesValue !== true) return node.arguments.length > 0
    return option.values.length === 0 || option.values.includes(word)
  }
  return words.find((word, at) => !isTaken(word, at)) ?? null
}

const isOption = (word: string): boolean => /^--?[a-zA-Z]/.test(word)

const childOf = ({ children }: CommandNode, [word]: readonly string[]) =>
  children.find(({ path }) => path.at(-1) === word)

test("every command that alerts, the guide and the program name is one that the program takes", async () => {
  const commands = await openCommands()
  const root: CommandNode = await commands.runJson("help")
  expect(notUnderstood(root, "doctor --only dns smtp --running")).toBeNull()
  expect(notUnderstood(root, "doctor dns")).toBe("dns")
  expect(notUnderstood(root, "doctor --only resolver")).toBe("resolver")
  const named = await namedCommands()
  expect(named.filter(({ file }) => file === "data/grafana/alerts.yml").length).toBeGreaterThan(3)
  expect(named.length).toBeGreaterThan(50)
  const unknown = named.filter(({ command }) => notUnderstood(root, command) !== null)
  expect(unknown.filter(({ command }) => command !== CHECKOUT_COMMAND)).toEqual([])
})
