import { domainToASCII } from "node:url"
import * as names from "./names.ts"
import { onceName } from "./once-name.ts"

/** Gives numbers from 0 to 1. */
export type Draw = () => number

/**
 * A part of the mix: how many of a hundred lines it has; `isTarget`: that is the share in the list that the targets are stated
 * for, and otherwise our estimate. None was counted on a list of ours: there is none, and none of anybody's would be published.
 */
export type Share = { readonly share: number; readonly isTarget?: true; readonly description: string }

/** Domains that an address is at. `ordinal` is another one for each line. */
export type DomainKind = Share & {
  readonly domain: (random: Draw, ordinal: number) => string
  /** A domain of the kind that no other line has; absent: a name below one of its domains. */
  readonly fresh?: (random: Draw, ordinal: number) => string
}

/** Companies whose domains recur, and those that come once or twice in a million lines. */
const COMPANIES = 3_000
const RARE_COMPANIES = 400_000

const unknown = (_: Draw, ordinal: number): string => onceName(COMPANIES + RARE_COMPANIES + ordinal)

/** The domains of a hundred lines. */
export const DOMAIN_KINDS = {
  personal: { share: 38, description: "mailbox providers, half of them one", domain: provider },
  business: {
    share: 13,
    description: `${COMPANIES} companies that no list holds, the first ones most often`,
    // The logarithm of the number is drawn evenly, so that each ten times rarer domain comes a tenth as often.
    domain: random => onceName(Math.floor(COMPANIES ** random()) - 1),
    fresh: unknown,
  },
  organisation: {
    share: 1,
    description: "companies that the lists hold",
    domain: random => pick(random, names.LISTED.organisation),
  },
  rare: {
    share: 23,
    isTarget: true,
    description: "companies that come once or twice in a million lines",
    domain: random => onceName(COMPANIES + Math.floor(random() * RARE_COMPANIES)),
    fresh: unknown,
  },
  unknown: {
    share: 15,
    isTarget: true,
    description: "domains that come once and that nothing is known of",
    domain: unknown,
    fresh: unknown,
  },
  disposable: { share: 3, description: "throw-away domains", domain: random => pick(random, names.LISTED.disposable) },
  relay: { share: 1, description: "relays", domain: random => pick(random, names.LISTED.relay) },
  education: {
    share: 3,
    description: "universities and schools",
    domain: random => pick(random, names.LISTED.education),
  },
  government: { share: 1, description: "government bodies", domain: random => pick(random, names.LISTED.government) },
  free_subdomain: {
    share: 0.3,
    description: "names below suffixes where anyone gets one",
    domain: (random, ordinal) => `${pick(random, names.TRADES)}${ordinal % 500}.${pick(random, names.LISTED.free)}`,
    fresh: (random, ordinal) => `${pick(random, names.TRADES)}${ordinal}.${pick(random, names.LISTED.free)}`,
  },
  idn: {
    share: 0.7,
    description: "names that are not spelled in ASCII, half of them as A-labels",
    domain: random => international(random, ""),
    fresh: (random, ordinal) => international(random, String(ordinal)),
  },
  typo: {
    share: 0.8,
    description: "slips in the name of a provider",
    domain: slip,
    fresh: (_, ordinal) => numberedSlip(ordinal),
  },
  lookalike: {
    share: 0.2,
    description: "imitations of well-known names",
    domain: random => imitation(Math.floor(random() * 2_000)),
    fresh: (_, ordinal) => imitation(ordinal),
  },
} as const satisfies Record<string, DomainKind>
export type DomainKindName = keyof typeof DOMAIN_KINDS

/** How a line is written. */
type FormKind = Share & { readonly line: (random: Draw, domain: string, ordinal: number) => string }

/** The forms of a hundred lines. */
export const FORM_KINDS = {
  plain: { share: 71, description: "addresses of persons", line: (random, domain) => `${person(random)}@${domain}` },
  role: {
    share: 12,
    isTarget: true,
    description: "addresses of roles, a fifth with a number, a tenth with a place",
    line: (random, domain) => `${role(random)}@${domain}`,
  },
  tag: {
    share: 2,
    description: "addresses with a tag",
    line: (random, domain) => `${person(random)}+${pick(random, names.TAGS)}@${domain}`,
  },
  capitals: { share: 5, description: "addresses with capitals", line: capitals },
  url: { share: 3, description: "URLs, most with a path", line: url },
  domain: { share: 5, description: "domains alone", line: (_, domain) => domain },
  invalid: {
    share: 2,
    description: "texts that cannot be an address, a domain or a URL",
    line: (random, domain, ordinal) => invalid(random, domain, ordinal),
  },
} as const satisfies Record<string, FormKind>
export type FormKindName = keyof typeof FORM_KINDS

/** One of the words. */
export const pick = (random: Draw, words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? ""

const MAJOR_TURNS = Object.entries(names.MAJOR_PROVIDERS).flatMap(([name, share]) => Array<string>(share).fill(name))

function provider(random: Draw): string {
  return MAJOR_TURNS[Math.floor(random() * 100)] ?? pick(random, names.MINOR_PROVIDERS)
}

function person(random: Draw): string {
  const [first, last, number] = [
    pick(random, names.FIRST_NAMES),
    pick(random, names.LAST_NAMES),
    (1 + random() * 99) | 0,
  ]
  const forms = [`${first}.${last}`, `${first}.${last}${number}`, `${first}${last}`, `${first.charAt(0)}${last}`]
  return pick(random, [...forms, `${first}_${last}`, first, `${first}${number}`, `${first}.${last}`])
}

function role(random: Draw): string {
  // Squared, so that the first words come most often.
  const word = names.ROLES[Math.floor(random() ** 2 * names.ROLES.length)] ?? ""
  const kind = random()
  if (kind < 0.2) return `${word}${1 + Math.floor(random() * 20)}`
  return kind < 0.3 ? `${word}${pick(random, [".", "-"])}${pick(random, names.ROLE_PLACES)}` : word
}

function capitals(random: Draw, domain: string): string {
  const address = `${person(random)}@${domain}`
  if (random() < 0.3) return address.toUpperCase()
  return address.replaceAll(/(?<![\w-])\w/g, letter => letter.toUpperCase())
}

function url(random: Draw, domain: string): string {
  const host = `${pick(random, ["https://www.", "https://", "http://www.", "www.", "https://shop."])}${domain}`
  return random() < 0.3
    ? host
    : `${host}/${pick(random, names.PATHS)}${pick(random, ["", "", "?utm_source=mail&id=7"])}`
}

function invalid(random: Draw, domain: string, ordinal: number): string {
  const someone = `${person(random)}${ordinal % 1000}`
  return pick(random, [
    ...[`${someone}@@${domain}`, `${someone}@`, `@${domain}`, `${someone}@localhost`, `.${someone}@${domain}`],
    ...[
      `${someone} @${domain}`,
      `${someone}..x@${domain}`,
      `${someone}@-${domain}`,
      `${someone}@${domain}.`.replace("@", ".@."),
    ],
    ...[
      `${someone}`,
      "n/a",
      `+49 30 ${ordinal % 100_000}`,
      `${someone}@${domain.replace(/\..*/, "")}`,
      `<${someone}@${domain}`,
    ],
  ])
}

function international(random: Draw, number: string): string {
  const isOther = random() < 0.2
  const name = isOther
    ? pick(random, names.IDN_OTHERS).replace(".", `${number}.`)
    : `${pick(random, names.IDN_WORDS)}-${pick(random, names.IDN_ENDINGS)}${number}.${pick(random, names.COMPANY_SUFFIXES)}`
  return random() < 0.5 ? domainToASCII(name) : name
}

/** A provider's name with one letter too many or wrong: another one for each number, as far as there are others. */
function numberedSlip(number: number): string {
  const name = PROVIDERS[number % PROVIDERS.length] ?? ""
  const turn = Math.floor(number / PROVIDERS.length)
  const letter = String.fromCharCode(0x61 + (turn % 26))
  const place = Math.floor(turn / 26)
  const length = name.indexOf(".")
  const at = 1 + (place % length)
  return `${name.slice(0, at)}${letter}${name.slice(at + (Math.floor(place / length) % 2))}`
}

const PROVIDERS = [...Object.keys(names.MAJOR_PROVIDERS), ...names.MINOR_PROVIDERS]

/** A provider's name with two letters swapped, one left out, doubled or wrong, or with another ending. */
function slip(random: Draw): string {
  const name = provider(random)
  const [label = "", ending = ""] = /^(.*?)(\..*)$/.exec(name)?.slice(1) ?? []
  const at = 1 + Math.floor(random() * Math.max(1, label.length - 2))
  const [before, letter, after] = [label.slice(0, at), label.charAt(at), label.slice(at + 1)]
  const wrong = pick(random, [..."aeiounrtslm"])
  return pick(random, [
    ...[`${before}${after.charAt(0)}${letter}${after.slice(1)}${ending}`, `${before}${after}${ending}`],
    ...[`${before}${letter}${letter}${after}${ending}`, `${before}${wrong}${after}${ending}`],
    `${label}${pick(random, [".con", ".cmo", ".co", ".vom", ".om"])}`,
  ])
}

/** Letters, and what looks like them. */
const DISGUISES: Readonly<Record<string, readonly string[]>> = {
  a: ["а", "á", "à", "ä"],
  c: ["с", "ç"],
  e: ["е", "é", "è", "3"],
  i: ["1", "í", "ì"],
  l: ["1", "í"],
  m: ["rn"],
  n: ["ñ"],
  o: ["0", "о", "ó"],
  p: ["р"],
}

/** A well-known name with some letters disguised, at least one: another one for each number, as far as there are others. */
function imitation(number: number): string {
  const name = names.IMITATED[number % names.IMITATED.length] ?? ""
  let left = 1 + Math.floor(number / names.IMITATED.length)
  const disguised = Array.from(name, letter => {
    const forms = [letter, ...(DISGUISES[letter] ?? [])]
    const form = forms[left % forms.length] ?? letter
    left = Math.floor(left / forms.length)
    return form
  }).join("")
  return disguised === name ? imitation(number + 1) : `${disguised}.${COMMON_ENDINGS[left % COMMON_ENDINGS.length]}`
}

const COMMON_ENDINGS = ["com", "net", "org", "info", "de", "fr", "co.uk", "io", "eu"]
