import type { FileFormat } from "../../src/cli/classify/result-format.ts"
import { BENCH_DOMAINS, BENCH_WORDS, onceName } from "../load/addresses.ts"
import { seeded } from "../load/seeded-random.ts"

const COMPANIES = 300

/** How many of a hundred lines are at which domains: most come again, as in the address book of any shop. */
const SHARES = {
  provider: {
    share: 40,
    description: "at ten mail providers",
    domain: (random: Draw) => pick(random, BENCH_DOMAINS.personal),
  },
  disposable: {
    share: 5,
    description: "at ten throw-away ones",
    domain: (random: Draw) => pick(random, BENCH_DOMAINS.disposable),
  },
  education: {
    share: 5,
    description: "at ten universities",
    domain: (random: Draw) => pick(random, BENCH_DOMAINS.education),
  },
  company: {
    share: 20,
    description: `at ${COMPANIES} companies`,
    domain: (random: Draw) => onceName(Math.floor(random() * COMPANIES)),
  },
  once: {
    share: 30,
    description: "at domains that come once",
    domain: (_: Draw, line: number) => onceName(COMPANIES + line),
  },
} as const satisfies Record<string, Share>

type Draw = () => number
type Share = {
  readonly share: number
  readonly description: string
  readonly domain: (random: Draw, line: number) => string
}

/** The shares in words. */
export const INPUTS_SAY = Object.values(SHARES)
  .map(({ share, description }) => `${share} % ${description}`)
  .join(", ")

/** What stands before all lines, and how an address is a line, with another column beside it where there are columns. */
const FORMS: Readonly<
  Record<FileFormat, { readonly head: string; readonly line: (address: string, at: number) => string }>
> = {
  text: { head: "", line: address => `${address}\n` },
  csv: { head: "id,email\n", line: (address, at) => `${at},${address}\n` },
  ndjson: { head: "", line: (address, at) => `{"id":${at},"email":"${address}"}\n` },
}

/** How much text is written at once. */
const PAGE_LENGTH = 262_144

/** Writes a file of so many addresses, the same on every run. It holds a page of it at a time. */
export async function writeInputs(path: string, format: FileFormat, lines: number): Promise<void> {
  const { head, line } = FORMS[format]
  const random = seeded(20_240_301)
  const kinds = Object.values(SHARES).flatMap(({ share, domain }) => Array<Share["domain"]>(share).fill(domain))
  const sink = Bun.file(path).writer()
  let page = head
  for (let at = 0; at < lines; at++) {
    const domain = kinds[Math.floor(random() * kinds.length)]?.(random, at) ?? ""
    page += line(`${person(random)}@${domain}`, at)
    if (page.length < PAGE_LENGTH) continue
    sink.write(page)
    await sink.flush()
    page = ""
  }
  sink.write(page)
  await sink.end()
}

function person(random: Draw): string {
  const { first, last } = BENCH_WORDS
  return `${pick(random, first)}.${pick(random, last)}${Math.floor(random() * 1000)}`
}

const pick = (random: Draw, words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? ""
