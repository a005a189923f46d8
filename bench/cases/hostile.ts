/**
 * How much processor time can one input cost? Inputs of random shapes are parsed and looked up, each shape in turn with plain
 * addresses, and pages that are made to be expensive are read.
 */

import { readAddressHints } from "../../src/check/address/address-hints.ts"
import { detectSubjectKind, parseSubject } from "../../src/check/address/parse-subject.ts"
import type { DomainLists } from "../../src/check/domain-lookup.ts"
import { GUARDED_FETCH_BOUNDS } from "../../src/check/fetch/guarded-fetch.ts"
import { parsePage } from "../../src/check/homepage/page-parser.ts"
import { detectParking } from "../../src/check/homepage/parking-signals.ts"
import { hostilePages, type InputShape, inputShapes, PLAIN_SHAPE } from "../hostile/hostile-inputs.ts"
import { figure, type Report } from "../report/report.ts"
import { median } from "../report/rounds.ts"

/** How much the bench does. */
export type HostileScale = {
  readonly shapes: number
  /** Inputs of a shape in one measurement. */
  readonly inputs: number
  readonly rounds: number
  readonly pages: number
}

/** The scale of a figure that may be told. */
export const HOSTILE_FULL: HostileScale = { shapes: 500, inputs: 300, rounds: 5, pages: 200 }

/** Runs the bench. */
export async function hostileBench(scale: HostileScale, lists: DomainLists): Promise<Report> {
  const shapes = inputShapes(scale.shapes)
  // The first measurements make the code warm.
  for (const shape of [PLAIN_SHAPE, ...shapes]) nanosecondsPerByte(shape, 0, scale.inputs, lists)
  const costs = shapes.map((shape, index) => ({ shape, ratio: costRatio(shape, index, scale, lists) }))
  const worst = costs.reduce((one, other) => (other.ratio > one.ratio ? other : one))
  const pages = hostilePages(scale.pages, GUARDED_FETCH_BOUNDS.bodyBytesMax).map(page => pageMs(page, scale.rounds))
  return {
    bench: "hostile",
    description: [
      `${scale.shapes} random shapes of addresses, domains and URLs, ${scale.inputs} inputs of each, no two alike: parsed, looked up in the lists, hints read; processor time a byte by that of plain addresses, measured in turn; the median of ${scale.rounds} rounds`,
      `the most expensive shape: ${worst.shape.description}`,
      `${scale.pages} pages of at most ${GUARDED_FETCH_BOUNDS.bodyBytesMax} bytes with nesting, stray ends, attributes, entities, comments, scripts, tables and SVG; the median of ${scale.rounds} rounds of each`,
    ],
    figures: [
      figure("processor time a byte of the most expensive shape, by a plain one", "×", worst.ratio, "hostile_inputs"),
      figure("the same, in the middle of all shapes", "×", median(costs.map(({ ratio }) => ratio))),
      figure("slowest page", "ms", Math.max(...pages), "hostile_pages"),
      figure("page in the middle", "ms", median(pages)),
    ],
  }
}

function costRatio(shape: InputShape, index: number, scale: HostileScale, lists: DomainLists): number {
  const rounds = Array.from({ length: scale.rounds }, (_, round) => {
    const start = (index * scale.rounds + round + 1) * scale.inputs
    const plain = nanosecondsPerByte(PLAIN_SHAPE, start, scale.inputs, lists)
    return nanosecondsPerByte(shape, start, scale.inputs, lists) / plain
  })
  return median(rounds)
}

function nanosecondsPerByte({ input }: InputShape, start: number, count: number, lists: DomainLists): number {
  const inputs = Array.from({ length: count }, (_, index) => input(start + index))
  const bytes = inputs.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const before = process.cpuUsage()
  for (const text of inputs) {
    const { domain, registrable, localPart } = parseSubject(detectSubjectKind(text), text, "mailkind.test")
    if (domain === null) continue
    lists.lookupDomain(domain, registrable)
    readAddressHints(localPart ?? "", domain, lists.addressWords)
  }
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1000) / bytes
}

/** The processor time of reading a page, in milliseconds. */
function pageMs(html: string, rounds: number): number {
  const url = "https://acme-works.com/"
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    const page = parsePage(html, url)
    detectParking({ domain: "acme-works.com", redirectChain: [url], page, registrableOf: name => name })
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return median(times)
}
