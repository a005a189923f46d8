import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type ExampleLanguage, KEY_VARIABLE } from "../../../src/http/site/docs/examples.ts"
import { javascriptClientFiles, pythonClientFiles } from "../../client/client-files.ts"
import { onTestEnd } from "../../support/on-test-end.ts"
import { type Ended, startProgram } from "../../support/program.ts"

/** What runs a language's examples: each a command that an example's file and arguments are added to. */
const RUNNERS: {
  readonly [L in ExampleLanguage]: readonly (readonly [program: string, ...args: readonly string[]])[]
} = {
  curl: [["bash"]],
  javascript: [["node"], ["bun"]],
  python: [["python3"]],
  php: [["php"]],
  go: [["go", "build"]],
}

/** The program whose examples `bun run verify` runs. */
const QUICK_PROGRAM = "bash"

/** What must be there beside the runner. */
const NEEDED: { readonly [L in ExampleLanguage]: readonly string[] } = {
  curl: ["curl", "sed"],
  javascript: [],
  python: [],
  php: [],
  go: [],
}

/** What the quick start installs or downloads for a language: files by path. */
const installed = async (language: ExampleLanguage): Promise<Readonly<Record<string, string>>> =>
  language === "javascript" ? javascriptClientFiles() : language === "python" ? pythonClientFiles() : {}

/** One way to run the examples of a language. */
export type Runner = {
  readonly language: ExampleLanguage
  /** What it is called in the name of a test; where it is not installed, the name says so. */
  readonly named: string
  readonly isMissing: boolean
  /** Its examples belong to the long tests. */
  readonly isSlow: boolean
  /** Runs a text as a file of that name. */
  readonly run: (file: string, text: string, args: readonly string[], key: string) => Promise<Ended>
}

function runner(language: ExampleLanguage, [program, ...more]: readonly [string, ...(readonly string[])]): Runner {
  const missing = [program, ...NEEDED[language]].filter(each => pathOf(each) === null)
  return {
    language,
    named: missing.length === 0 ? program : `${program} (skipped: ${missing.join(" and ")} is not installed)`,
    isMissing: missing.length > 0,
    isSlow: program !== QUICK_PROGRAM,
    run: async (file, text, args, key) => {
      const directory = mkdtempSync(join(tmpdir(), "mailkind-example-"))
      onTestEnd(() => rmSync(directory, { recursive: true, force: true }))
      for (const [name, content] of Object.entries({ ...(await installed(language)), [file]: text })) {
        mkdirSync(dirname(join(directory, name)), { recursive: true })
        writeFileSync(join(directory, name), content)
      }
      const words = [pathOf(program) ?? program, ...more]
      const command = language === "go" ? [await compiled(words, directory, file, text)] : [...words, file]
      return await startProgram([...command, ...args], directory, {
        ...environment(directory),
        [KEY_VARIABLE]: key,
      }).ended()
    },
  }
}

const programs = new Map<string, string>()

/** The program that the file is compiled to, which is done once for each text. */
async function compiled(words: readonly string[], directory: string, file: string, text: string): Promise<string> {
  const known = programs.get(text)
  if (known !== undefined) return known
  const path = join(mkdtempSync(join(tmpdir(), "mailkind-go-")), "example")
  const { code, err } = await startProgram([...words, "-o", path, file], directory, environment(directory)).ended()
  if (code !== 0) throw new Error(`${file} is not compiled: ${err}`)
  programs.set(text, path)
  return path
}

/** The Bun that runs the tests stands for `bun`, wherever it is. */
const pathOf = (program: string): string | null => (program === "bun" ? process.execPath : Bun.which(program))

/** Nothing of ours is in it but the path; Go keeps what it compiled in one place, or each run takes ten seconds. */
const environment = (directory: string): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: directory,
  GOCACHE: join(tmpdir(), "mailkind-go-cache"),
  GOFLAGS: "-mod=mod",
  GO111MODULE: "off",
  GOTOOLCHAIN: "local",
})

/** Every way to run examples, in the order of the languages. */
export const ALL_RUNNERS: readonly Runner[] = Object.entries(RUNNERS).flatMap(([name, commands]) => {
  const language = name as ExampleLanguage // the keys of a table are its type's
  return commands.map(command => runner(language, command))
})
