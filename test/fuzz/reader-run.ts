import { type Judged, judgeReader, type Worst } from "../property/readers/judge.ts"
import { READERS } from "../property/readers/readers.ts"

/** How large the texts are, and how many of the most expensive ones of each reader are judged. */
const EFFORT = { screenChars: 2048, fullChars: 60_000, kept: 12, rounds: 5 } as const

/** Gives each reader so many texts, and tells the worst of each and what is wrong. Gives the exit code. */
export async function fuzzReaders(
  { cases, seed }: { readonly cases: number; readonly seed: number },
  isJson: boolean,
): Promise<number> {
  const found: Judged[] = []
  for (const reader of READERS) {
    const judged = await judgeReader(reader, { ...EFFORT, cases, seed })
    found.push(judged)
    if (!isJson) console.log([lineOf(judged), ...judged.faults].join("\n"))
  }
  const faults = found.flatMap(judged => judged.faults)
  const count = found.reduce((sum, judged) => sum + judged.cases, 0)
  if (isJson) console.log(JSON.stringify({ readers: found, cases: count, faults }, null, 2))
  else
    console.log(`${READERS.length} readers, ${count} cases, ${faults.length === 0 ? "nothing is wrong" : "see above"}`)
  return faults.length === 0 ? 0 : 1
}

function lineOf({ name, plainNsPerByte, growth, plainTimes, pieceMs, memoryMb }: Judged): string {
  const told = ({ value }: Worst): string => (Number.isNaN(value) ? "-" : value.toFixed(1))
  return [
    name.padEnd(34),
    `${plainNsPerByte.toFixed(0)} ns a plain byte`.padEnd(22),
    `twice the bytes ${told(growth)} times`.padEnd(28),
    `a byte ${told(plainTimes)} plain ones`.padEnd(26),
    `${told(pieceMs)} ms in one piece`.padEnd(22),
    `${told(memoryMb)} MiB`,
  ].join(" ")
}
