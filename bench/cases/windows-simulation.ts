import { seeded } from "../load/seeded-random.ts"

/**
 * Made-up daily windows of a source that publishes the names that are abused most, with the persistence that a published list
 * of 1 000 names has: of a day's names, yesterday's window has 0.90, and all windows up to a day ago have 0.98, up to a week ago
 * 0.90, up to a month ago 0.78.
 */

/** How many names a window has, and where they come from. All but `names` are for a window of 1 000 names. */
const WORLD = {
  /** Names that are new on a day, in two kinds: most of them stay for weeks, the others for days. */
  born: [
    { count: 12, staysAnotherDay: 0.95 },
    { count: 8, staysAnotherDay: 0.75 },
  ],
  /** Names that never go for good, and those of them that are replaced each day by others that were not there. */
  lasting: 929,
  replaced: 80,
} as const

const WINDOW_NAMES = 1000

type Born = { readonly name: string; readonly staysAnotherDay: number }

/** The windows of so many days. They are the same on every run of a seed. */
export function simulatedWindows(days: number, seed: number): readonly (readonly string[])[] {
  const random = seeded(seed)
  const newName = nameMaker(random)
  const births = (): Born[] =>
    WORLD.born.flatMap(({ count, staysAnotherDay }) =>
      Array.from({ length: count }, () => ({ name: newName(), staysAnotherDay })),
    )
  let shown = Array.from({ length: WORLD.lasting }, newName)
  let hidden: string[] = []
  let born: Born[] = []
  const nextWindow = (): string[] => {
    born = [...born.filter(({ staysAnotherDay }) => random() < staysAnotherDay), ...births()]
    const wanted = WINDOW_NAMES - born.length
    const left = shuffle(shown, random)
    const returning = shuffle(hidden, random)
    const kept = left.slice(0, Math.min(left.length, Math.max(0, wanted - WORLD.replaced)))
    shown = [...kept, ...returning.slice(0, wanted - kept.length)]
    hidden = [...left.slice(kept.length), ...returning.slice(wanted - kept.length)]
    return [...shown, ...born.map(({ name }) => name)]
  }
  // A month passes before the first window, so that names of every age are in it.
  for (let day = 0; day < 60; day++) nextWindow()
  return Array.from({ length: days }, nextWindow)
}

/** Makes names that look like real ones and are all different. */
export function nameMaker(random: () => number): () => string {
  const tlds = ["com", "net", "org", "xyz", "shop", "info", "site", "online", "top", "pl"] as const
  let count = 0
  return () => {
    const word = Math.floor(random() * 36 ** 6).toString(36)
    return `${word}${(count++).toString(36)}.${tlds[Math.floor(random() * tlds.length)] ?? "com"}`
  }
}

function shuffle(names: readonly string[], random: () => number): string[] {
  return names
    .map(name => ({ name, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ name }) => name)
}

/** Of a window's names, the share that a set has. */
export const knownShare = (window: readonly string[], known: (name: string) => boolean): number =>
  window.filter(known).length / window.length
