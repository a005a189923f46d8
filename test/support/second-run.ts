/** What a run of tests came to, by the lines that end it, and the files in which something failed outside of a test. */
export type RunCounts = {
  readonly passed: number
  readonly failed: number
  readonly errors: number
  readonly erredFiles: readonly string[]
}

/** A file of which tests failed, with their names. */
export type FailedFile = { readonly file: string; readonly tests: readonly string[] }

/** How many tests, and their files, run again at most: if more have failed, the machine is not the reason. */
export const TESTS_AGAIN_MAX = 6

/** The counts among what `bun test` printed: each stands in the last line with its word. Each error stands below the name of its file. */
export function countsIn(printed: string): RunCounts {
  const lines = Bun.stripANSI(printed).split("\n")
  const count = (word: string): number =>
    Number(
      lines
        .findLast(line => new RegExp(`^ *\\d+ ${word}$`).test(line))
        ?.trim()
        .split(" ")[0] ?? 0,
    )
  const erredFiles = lines.flatMap((line, at) => {
    if (line !== "# Unhandled error between tests") return []
    const file = lines.slice(0, at).findLast(before => before.endsWith(".test.ts:"))
    return file === undefined ? [] : [file.slice(0, -1)]
  })
  return { passed: count("pass"), failed: count("fail"), errors: count("error") + count("errors"), erredFiles }
}

/** The failed tests of a run by its report in the format of JUnit, as Bun writes it. */
export function failedFiles(report: string): readonly FailedFile[] {
  const failed = new Map<string, string[]>()
  for (const [, attributes = ""] of report.matchAll(/<testcase ([^>]*[^/])>\s*<failure/g)) {
    const attribute = (name: string): string => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? ""
    failed.getOrInsertComputed(attribute("file"), () => []).push(unescapeXml(attribute("name")))
  }
  return [...failed].map(([file, tests]) => ({ file, tests }))
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" }

const unescapeXml = (text: string): string =>
  text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => ENTITIES[name] ?? "")

/**
 * The files to run again after a run that failed, alone; null: none. They are few, and each failure and each error is that of a test:
 * a file that cannot be loaded, or a run that was ended, failed for good.
 */
export function filesToRunAgain(counts: RunCounts, report: string): readonly FailedFile[] | null {
  const { failed, errors, erredFiles } = counts
  const files = failedFiles(report)
  const isWhole = files.reduce((sum, { tests }) => sum + tests.length, 0) === failed
  // A test that was ended for its time may leave an error behind.
  const isOfTests = erredFiles.length === errors && erredFiles.every(erred => files.some(({ file }) => file === erred))
  return isOfTests && failed > 0 && isWhole && failed <= TESTS_AGAIN_MAX ? files : null
}
