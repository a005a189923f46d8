/** What a run of tests came to, by the lines that end it. */
export type RunCounts = { readonly passed: number; readonly failed: number; readonly errors: number }

/** A file of which tests failed, with their names. */
export type FailedFile = { readonly file: string; readonly tests: readonly string[] }

/** How many tests, and their files, run again at most: if more have failed, the machine is not the reason. */
export const TESTS_AGAIN_MAX = 6

/** The counts among what `bun test` printed: each stands in the last line with its word. */
export function countsIn(printed: string): RunCounts {
  const count = (word: string): number =>
    Number(
      Bun.stripANSI(printed)
        .matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))
        .toArray()
        .at(-1)?.[1] ?? 0,
    )
  return { passed: count("pass"), failed: count("fail"), errors: count("error") + count("errors") }
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
 * The files to run again after a run that failed, alone; null: none. They are few, and each failure is that of a test: a file that cannot
 * be loaded, or a run that was ended, failed for good.
 */
export function filesToRunAgain({ failed, errors }: RunCounts, report: string): readonly FailedFile[] | null {
  const files = failedFiles(report)
  const isWhole = files.reduce((sum, { tests }) => sum + tests.length, 0) === failed
  return errors === 0 && failed > 0 && isWhole && failed <= TESTS_AGAIN_MAX ? files : null
}
