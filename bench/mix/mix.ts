import { seeded } from "../load/seeded-random.ts"
import {
  DOMAIN_KINDS,
  type DomainKind,
  type DomainKindName,
  type Draw,
  FORM_KINDS,
  type FormKindName,
  type Share,
} from "./kinds.ts"

/** What a line is: how it is written, or for an address of a person, what it is at. */
export type MixKind = DomainKindName | Exclude<FormKindName, "plain">

/** A line of a list, as people send them. */
export type MixLine = {
  readonly text: string
  readonly kind: MixKind
  /** What its domain is, whatever the form of the line. */
  readonly at: DomainKindName
}

const domainNames = Object.keys(DOMAIN_KINDS) as readonly DomainKindName[] // the keys are those of DOMAIN_KINDS
const formNames = Object.keys(FORM_KINDS) as readonly FormKindName[] // the keys are those of FORM_KINDS

/** Every kind. */
export const MIX_KINDS: readonly MixKind[] = [...domainNames, ...formNames.filter(name => name !== "plain")]

/** An address of a person at a domain that recurs: what the other kinds are compared with. */
export const ORDINARY = "ordinary"

/** The shares in words, by where they come from. */
export const MIX_DESCRIPTION: readonly string[] = [
  `of the mix, by the list that the targets are stated for: ${sharesText(true)}`,
  `of the mix, by our estimate: ${sharesText(false)}`,
]

function sharesText(isTarget: boolean): string {
  const rows: readonly Share[] = [...Object.values(DOMAIN_KINDS), ...Object.values(FORM_KINDS)]
  const told = rows.filter(row => (row.isTarget ?? false) === isTarget)
  return told.map(({ share, description }) => `${share} % ${description}`).join("; ")
}

const SEED = 20_261_125

const drawDomain = drawByShare(DOMAIN_KINDS)
const drawForm = drawByShare(FORM_KINDS)
/** Domains that recur and that most lists consist of. */
const drawRecurring = drawByShare({ personal: DOMAIN_KINDS.personal, business: DOMAIN_KINDS.business })

/** The lines of a list without an end, the same on every run. */
export function* mixLines(seed = SEED): Generator<MixLine, never> {
  const random = seeded(seed)
  for (let ordinal = 0; ; ordinal++) {
    const domainKind = drawDomain(random)
    const form = drawForm(random)
    const domain = DOMAIN_KINDS[domainKind].domain(random, ordinal)
    yield {
      text: FORM_KINDS[form].line(random, domain, ordinal),
      kind: form === "plain" ? domainKind : form,
      at: domainKind,
    }
  }
}

/**
 * Lines of one kind without an end, from a number on. Names are such as the mix has: forms are at domains that recur.
 * `isFresh`: each line is at a domain that no other number has.
 */
export function* linesOfKind(
  kind: MixKind | typeof ORDINARY,
  { start = 0, isFresh = false }: { readonly start?: number; readonly isFresh?: boolean } = {},
): Generator<string, never> {
  const random = seeded(SEED + start)
  for (let ordinal = start; ; ordinal++) {
    const [domainKind, form] = isDomainKind(kind)
      ? ([kind, "plain"] as const)
      : ([isFresh ? "unknown" : drawRecurring(random), kind === ORDINARY ? "plain" : kind] as const)
    yield FORM_KINDS[form].line(random, domainOf(domainKind, isFresh, random, ordinal), ordinal)
  }
}

const isDomainKind = (kind: MixKind | typeof ORDINARY): kind is DomainKindName => Object.hasOwn(DOMAIN_KINDS, kind)

function domainOf(name: DomainKindName, isFresh: boolean, random: Draw, ordinal: number): string {
  const kind: DomainKind = DOMAIN_KINDS[name]
  if (!isFresh) return kind.domain(random, ordinal)
  return kind.fresh === undefined ? `n${ordinal}.${kind.domain(random, ordinal)}` : kind.fresh(random, ordinal)
}

/** The next lines. */
export function take<T>(lines: Generator<T, never>, count: number): readonly T[] {
  return Array.from({ length: count }, () => lines.next().value)
}

/** A function that draws a name of the table, each as often as its share says. */
function drawByShare<N extends string>(table: Readonly<Record<N, { readonly share: number }>>): (random: Draw) => N {
  const names = Object.keys(table) as N[] // the keys are those of the table
  const ends: number[] = []
  for (const name of names) ends.push((ends.at(-1) ?? 0) + table[name].share)
  const whole = ends.at(-1) ?? 0
  const [first] = names
  if (first === undefined) throw new Error("nothing can be drawn")
  return random => {
    const drawn = random() * whole
    return names[ends.findIndex(end => drawn < end)] ?? first
  }
}
