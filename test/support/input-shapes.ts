import { seeded } from "../../bench/load/seeded-random.ts"

/** A kind of input: each call gives another one of the same shape. */
export type InputShape = { readonly description: string; readonly input: (index: number) => string }

type Chance = () => number

const pick = <T>(chance: Chance, values: readonly [T, ...T[]]): T =>
  values[Math.floor(chance() * values.length)] ?? values[0]

/** Characters by script: the first code point, and how many follow it that are letters. */
const SCRIPTS = {
  ascii: [0x61, 26],
  "latin-1": [0xe0, 22],
  greek: [0x3b1, 24],
  cyrillic: [0x430, 32],
  arabic: [0x628, 18],
  devanagari: [0x905, 40],
  thai: [0xe01, 46],
  hangul: [0xac00, 11_000],
  jamo: [0x1100, 19],
  han: [0x4e00, 20_000],
  "full-width": [0xff41, 26],
  mathematical: [0x1d41a, 26],
  ligature: [0xfb00, 6],
  "long compatibility": [0xfdf0, 11],
  emoji: [0x1f600, 60],
  "combining mark": [0x300, 70],
} as const satisfies Readonly<Record<string, readonly [first: number, count: number]>>

type Script = keyof typeof SCRIPTS

/** Lengths around those at which something ends, in characters. */
const LENGTHS = [1, 2, 15, 30, 31, 59, 60, 63, 64, 100, 253, 254, 985] as const
const LABEL_COUNTS = [1, 2, 4, 30, 120] as const
const PREFIXES = ["", "xn--", "a-", "-", "paypal"] as const

function letters(script: Script, length: number, index: number): string {
  const [first, count] = SCRIPTS[script]
  return String.fromCodePoint(...Array.from({ length }, (_, at) => first + ((index * 31 + at * 7) % count)))
}

/** A random host: labels of one script and length, some with the prefix of an A-label or with marks between the letters. */
function randomHost(chance: Chance): InputShape {
  const script = pick(chance, Object.keys(SCRIPTS) as [Script, ...Script[]])
  const length = pick(chance, LENGTHS)
  const count = pick(chance, LABEL_COUNTS)
  const prefix = pick(chance, PREFIXES)
  const hasMarks = chance() < 0.3
  const label = (index: number): string => {
    const text = `${prefix}${letters(script, length, index)}`
    return hasMarks ? text.replaceAll(/./gu, "$&\u0301") : text
  }
  return {
    description: `${count} labels ${prefix}${hasMarks ? "with marks, " : ""}of ${length} ${script}`,
    input: index => `${Array.from({ length: count }, (_, at) => label(index * count + at)).join(".")}.com`,
  }
}

function randomLocalPart(chance: Chance): InputShape {
  const script = pick(chance, Object.keys(SCRIPTS) as [Script, ...Script[]])
  const length = pick(chance, [...LENGTHS, 5000])
  const form = pick(chance, ["plain", "dots", "tag", "quoted", "escapes"])
  const text = (index: number) => letters(script, length, index)
  const forms: Readonly<Record<typeof form, (index: number) => string>> = {
    plain: text,
    dots: index => [...text(index)].join("."),
    tag: index => `jane+${text(index)}`,
    quoted: index => `"${text(index)}"`,
    escapes: index => `"${'\\"'.repeat(length)}${index}"`,
  }
  return { description: `${form} local part of ${length} ${script}`, input: forms[form] ?? text }
}

/** Random shapes of addresses, domains and URLs, the same on every run. */
export function inputShapes(count: number, seed = 1): readonly InputShape[] {
  const chance = seeded(seed)
  return Array.from({ length: count }, () => {
    const host = randomHost(chance)
    const localPart = randomLocalPart(chance)
    const path = `/${"x/".repeat(pick(chance, [1, 100, 900]))}`
    return pick<InputShape>(chance, [
      { description: `a@ ${host.description}`, input: index => `a@${host.input(index)}` },
      { description: localPart.description, input: index => `${localPart.input(index)}@acme-works.com` },
      host,
      { description: `URL of ${host.description}`, input: index => `https://${host.input(index)}${path}` },
    ])
  })
}
