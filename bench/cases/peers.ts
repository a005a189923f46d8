/**
 * How does the product stand beside what people use today, on the same names in one run? Each is asked only what it can
 * answer offline: whether an address is disposable, and whether it is an address at all.
 */

import { mixLines, take } from "../mix/mix.ts"
import { costFigure, processorUs } from "../report/processor-time.ts"
import { type Figure, figure, type Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"
import { type Judge, PEER_NAMES, PEERS, type PeerName, type PeerVerdict } from "./peers-judges.ts"
import { peerMemory } from "./peers-memory.ts"
import { LABELS, type Label, type LabelledName, labelledNames } from "./peers-names.ts"

/** How much the bench does: each round asks each peer about every name so many times, and about so many lines of the mix. */
export type PeersScale = { readonly rounds: number; readonly passes: number; readonly mixLines: number }

/** The scale of a figure that may be told. */
export const PEERS_FULL: PeersScale = { rounds: 9, passes: 50, mixLines: 20_000 }

/** What is right to say of a name with a label. */
const RIGHT: Readonly<Record<Label, readonly PeerVerdict[]>> = {
  disposable: ["disposable", "refused"],
  disposable_host: ["disposable", "refused"],
  ordinary: ["fine"],
  invalid: ["invalid", "refused"],
}

/** Runs the bench. */
export async function peersBench({ rounds, passes, mixLines: mixCount }: PeersScale): Promise<Report> {
  const names = await labelledNames()
  const addresses = names.map(({ address }) => address)
  const judges = await judgesOf()
  const scores = await Promise.all(PEER_NAMES.map(peer => scoreOf(peer, judges[peer], names)))
  // Rounds before the first make the code warm; their times are dropped.
  await interleaved(PEER_NAMES, Math.ceil(rounds / 3), peer => microsecondsOf(judges[peer], addresses, passes))
  const times = await interleaved(PEER_NAMES, rounds, peer => microsecondsOf(judges[peer], addresses, passes))
  const firstTimes: number[] = []
  for (let round = 0; round < rounds; round++)
    firstTimes.push(await microsecondsOf(judges.mailkind, unheardOf(names, round), 1))
  const mixTimes = await mixCosts(judges, rounds, mixCount)
  const memory: Figure[] = []
  for (const peer of PEER_NAMES) memory.push(...memoryFigures(peer, await peerMemory(peer)))
  return {
    bench: "peers",
    description: saysOf(names, scores, mixCount),
    figures: [
      ...PEER_NAMES.map(peer => costFigure(`${peer}: time`, "µs/name", times[peer])),
      ...PEER_NAMES.map(peer => costFigure(`${peer}: time of a line of the mix`, "µs/line", mixTimes[peer])),
      costFigure("mailkind: time of a name that was not asked before", "µs/name", firstTimes),
      ...memory,
      ...scores.flatMap(({ figures }) => figures),
    ],
  }
}

async function judgesOf(): Promise<Readonly<Record<PeerName, Judge>>> {
  const loaded = await Promise.all(PEER_NAMES.map(async peer => [peer, await PEERS[peer].load()] as const))
  return Object.fromEntries(loaded) as Record<PeerName, Judge> // one a name
}

/** The same names, each below a label that no other round has: what was kept of them is of no use. */
const unheardOf = (names: readonly LabelledName[], round: number): readonly string[] =>
  names.flatMap(({ address, label }) => (label === "invalid" ? [] : [address.replace("@", `@round-${round}.`)]))

/** What each peer takes for an address of the realistic mix, the same ones for all in a round. */
async function mixCosts(
  judges: Readonly<Record<PeerName, Judge>>,
  rounds: number,
  count: number,
): Promise<Readonly<Record<PeerName, readonly number[]>>> {
  const addresses = mixAddresses()
  // The first lines make the code warm; their times are dropped.
  const stretches = Array.from({ length: rounds + 1 }, () => take(addresses, count))
  const turns = Object.fromEntries(PEER_NAMES.map(peer => [peer, 0])) as Record<PeerName, number> // one a name
  const times = await interleaved(PEER_NAMES, rounds + 1, peer =>
    microsecondsOf(judges[peer], stretches[turns[peer]++] ?? [], 1),
  )
  const counted = PEER_NAMES.map(peer => [peer, times[peer].slice(1)] as const)
  return Object.fromEntries(counted) as Record<PeerName, number[]> // one a name
}

/** The lines of the mix that are addresses, or were meant to be: peers take nothing else. */
function* mixAddresses(): Generator<string, never> {
  const lines = mixLines()
  for (;;) {
    const { kind, text } = lines.next().value
    if (kind !== "url" && kind !== "domain") yield text
  }
}

async function microsecondsOf(judge: Judge, addresses: readonly string[], passes: number): Promise<number> {
  let refused = 0
  const took = await processorUs(async () => {
    for (let pass = 0; pass < passes; pass++)
      for (const address of addresses) {
        const reply = judge(address)
        // Who answers at once is not made to wait for a promise.
        if ((typeof reply === "string" ? reply : await reply) !== "fine") refused++
      }
  })
  // The answers are used, so none of the work can be left out.
  if (refused === 0) throw new Error("nothing was refused")
  return took / (addresses.length * passes)
}

const memoryFigures = (peer: PeerName, { privateBytes, loadMs }: Awaited<ReturnType<typeof peerMemory>>): Figure[] => [
  figure(`${peer}: private memory`, "MB", privateBytes / 1e6),
  figure(`${peer}: load and first answer`, "ms", loadMs),
]

type Score = { readonly figures: readonly Figure[]; readonly wrong: string }

async function scoreOf(peer: PeerName, judge: Judge, names: readonly LabelledName[]): Promise<Score> {
  const judged = await Promise.all(names.map(async name => ({ ...name, reply: await judge(name.address) })))
  const labels = LABEL_NAMES.filter(label => label !== "invalid" || PEERS[peer].seesInvalid)
  const figures = labels.map(label => {
    const requests = judged.filter(name => name.label === label)
    const right = requests.filter(({ reply }) => RIGHT[label].includes(reply))
    return figure(`${peer}: ${SHORT[label]}`, `of ${requests.length}`, right.length)
  })
  const wronged = judged.filter(({ label, reply }) => label === "ordinary" && reply !== "fine")
  const byCategory = Object.entries(Object.groupBy(wronged, ({ category }) => category))
  const counts = byCategory.map(([category, wrong = []]) => `${wrong.length} ${category}`)
  return { figures, wrong: counts.length === 0 ? "" : `${peer} turns away ${counts.join(", ")}` }
}

const LABEL_NAMES = Object.keys(LABELS) as readonly Label[] // the keys are those of LABELS

/** What a peer does right with names of a label. */
const SHORT: Readonly<Record<Label, string>> = {
  disposable: "disposable names seen",
  disposable_host: "disposable mail hosts seen",
  ordinary: "ordinary names let through",
  invalid: "invalid names seen",
}

function saysOf(names: readonly LabelledName[], scores: readonly Score[], mixCount: number): readonly string[] {
  const counts = LABEL_NAMES.map(label => `${names.filter(name => name.label === label).length} ${LABELS[label]}`)
  const peers = PEER_NAMES.map(peer => `${peer}: ${PEERS[peer].description}`)
  const blind = PEER_NAMES.filter(peer => !PEERS[peer].seesInvalid)
  const wrong = scores.map(score => score.wrong).filter(text => text !== "")
  return [
    `${names.length} names that this project itself has labelled: ${counts.join("; ")}`,
    ...peers,
    `times are processor time; the mix: ${mixCount} addresses a round of the realistic mix, other ones each round, so that what comes once is new`,
    `${blind.join(", ")} is not asked what is invalid; names that are invalid only by DNS are left out`,
    ...(wrong.length === 0 ? [] : [`of the ordinary names ${wrong.join("; ")}`]),
  ]
}
