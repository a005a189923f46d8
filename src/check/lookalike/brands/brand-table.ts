import { assert } from "../../../base/errors.ts"
import { parseTable, requireOneOf, splitWords } from "../../../base/text-table.ts"

const COLUMNS = ["kind", "label", "names", "others", "beside"] as const

/** Where a brand's label is found: anywhere (`coined`), at the start of a part (`start`), or beside a lure only (`word`). */
const BRAND_KINDS = ["coined", "start", "word"] as const

/** One household brand. */
export type Brand = {
  readonly kind: (typeof BRAND_KINDS)[number]
  /** Lower-case letters and digits; hyphens are left out. */
  readonly label: string
  /** The registrable domains that belong to the brand; the first is what others imitate. */
  readonly names: readonly [string, ...string[]]
  /** Honest words that contain the label or are one slip from it. */
  readonly others: readonly string[]
  /** Words that ask for trust beside this label, though not beside others. */
  readonly beside: ReadonlySet<string>
}

/** The least length of a label of each kind: a shorter one stands in too many other words. */
const LABEL_LENGTH_MIN = { coined: 6, start: 4, word: 3 } as const
/** No name of a brand is longer. */
export const LABEL_LENGTH_MAX = 32
/** A larger table is a mistake: the automaton has 16 bits for its states. */
const BRANDS_MAX = 1_000
const NAMES_MAX = 100

const DOMAIN_PATTERN = /^[a-z0-9-]{1,63}(\.[a-z0-9-]{2,63}){1,3}$/

/** Reads the table. Throws `InvariantError`, which names the row, if a row cannot be read or exceeds a bound. */
export function parseBrands(text: string): readonly Brand[] {
  const rows = parseTable(text, COLUMNS)
  assert(rows.length <= BRANDS_MAX, `the table has at most ${BRANDS_MAX} brands`)
  const labels = new Set<string>()
  return rows.map(row => {
    const { label } = row
    const kind = requireOneOf(BRAND_KINDS, row.kind)
    const lengthMin = LABEL_LENGTH_MIN[kind]
    const isLabel = /^[a-z0-9]+$/.test(label) && label.length >= lengthMin && label.length <= LABEL_LENGTH_MAX
    assert(isLabel, `${label}, which is ${kind}, has ${lengthMin} to ${LABEL_LENGTH_MAX} letters and digits`)
    assert(!labels.has(label), `${label} has one row`)
    labels.add(label)
    const [first, ...others] = splitWords(row.names)
    assert(first !== undefined && others.length < NAMES_MAX, `${label} has 1 to ${NAMES_MAX} names`)
    for (const name of [first, ...others]) assert(DOMAIN_PATTERN.test(name), `${name} of ${label} is a domain`)
    return {
      kind,
      label,
      names: [first, ...others],
      others: splitWords(row.others),
      beside: new Set(splitWords(row.beside)),
    }
  })
}
