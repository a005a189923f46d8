import { detectSubjectKind } from "../../src/check/address/parse-subject.ts"
import type { FileFormat } from "../../src/rows/file-format.ts"
import { mixLines } from "./mix.ts"

/** What stands before all lines, and how a text is a line, with another column beside it where there are columns. */
const FORMS: Readonly<
  Record<FileFormat, { readonly head: string; readonly line: (text: string, at: number) => string }>
> = {
  text: { head: "", line: text => `${text}\n` },
  csv: { head: "id,email\n", line: (text, at) => `${at},${text}\n` },
  ndjson: { head: "", line: (text, at) => `{"id":${at},"${detectSubjectKind(text)}":${JSON.stringify(text)}}\n` },
}

/** How much text is written at once. */
const PAGE_LENGTH = 262_144

/** Writes a file of the first lines of the mix, the same on every run. It holds a page of it at a time. */
export const writeMix = (path: string, format: FileFormat, lines: number): Promise<void> =>
  writeLines(path, format, lines, texts(mixLines()))

function* texts(lines: ReturnType<typeof mixLines>): Generator<string, never> {
  for (;;) yield lines.next().value.text
}

/** The same with lines from elsewhere. No text holds a comma, a quote or a line feed. */
export async function writeLines(
  path: string,
  format: FileFormat,
  lines: number,
  source: Generator<string, never>,
): Promise<void> {
  const { head, line } = FORMS[format]
  const sink = Bun.file(path).writer()
  let page = head
  for (let at = 0; at < lines; at++) {
    page += line(source.next().value, at)
    if (page.length < PAGE_LENGTH) continue
    sink.write(page)
    await sink.flush()
    page = ""
  }
  sink.write(page)
  await sink.end()
}
