import { CATEGORY_NAMES } from "../../src/contract/categories.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { POLICY_NAMES } from "../../src/contract/policies.ts"
import { TEST_ADDRESSES } from "../../src/contract/test-addresses.ts"
import { inputShapes } from "../support/input-shapes.ts"
import type { Dice } from "./dice.ts"

/** Part of most local parts that are made up here: no log may hold it. */
export const MARK = "zq7mark"

const DOMAINS = [
  ...["gmail.com", "mailinator.com", "duck.com", "mit.edu", "nasa.gov", "gmial.com", "paypa1.com", "stripe.com"],
  ...["acme-holding.de", "co.uk", "uk", "com", "localhost", "example.test", "mailkind.test", "sub.mailkind.test"],
  ...["bücher.de", "xn--bcher-kva.de", "xn--", "xn--a", "日本語.jp", "пример.рф", "ﬀ.com", "gmаil.com", "faß.de"],
  ...["127.0.0.1", "[127.0.0.1]", "[IPv6:::1]", "0x7f.1", "2130706433", "a..b.com", ".com", "com.", "a.com.", "-a.com"],
  ...["a_b.com", "a b.com", "a\u00ad.com", "a\u200d.com", "a\u0300.com", "toString", "__proto__", "constructor.com"],
] as const satisfies readonly string[]

const ODD = [
  ...[
    "",
    " ",
    "\t",
    "\0",
    "\u007f",
    "\u0085",
    "\u2028",
    "\ufeff",
    "\ufffd",
    "\ud800",
    "\udfff",
    "\u202e",
    "💥",
    "e\u0301",
  ],
  ...[
    "'",
    '"',
    "\\",
    "<script>",
    "&amp;",
    "%00",
    "%",
    "%zz",
    "%25",
    "+",
    "..",
    "/",
    "//",
    "?",
    "#",
    ";",
    ",",
    "|",
    "$1",
  ],
  ...["null", "true", "NaN", "-1", "1e999", "0x10", "[]", "{}", "' OR 1=1 --", "{{7*7}}", "\r\nX-Odd: 1", "__proto__"],
] as const satisfies readonly string[]

/** Lengths at which something ends. */
const LENGTHS = [
  ...[LIMITS.localPartBytesMax, LIMITS.addressBytesMax, LIMITS.domainBytesMax, LIMITS.labelBytesMax],
  ...[LIMITS.keyNameLengthMax, LIMITS.commentLengthMax, LIMITS.requestIdLengthMax, LIMITS.urlLengthMax],
] as const satisfies readonly number[]

/** A length near one at which something ends. */
export const nearLimit = (dice: Dice): number => Math.max(0, dice.pick([...LENGTHS]) + dice.below(5) - 2)

const some = <T>(values: readonly T[], dice: Dice): T => dice.pick(values as [T, ...T[]]) // none of the lists is empty

/** Longer ones do not fit into the head of a request. */
const SHAPE_LENGTH_MAX = 400
const SHAPES = inputShapes(500).filter(({ input }) => input(0).length <= SHAPE_LENGTH_MAX)

/** Any text at all. */
export function oddText(dice: Dice): string {
  if (dice.once(8)) return some(SHAPES, dice).input(dice.below(1_000_000))
  if (dice.once(8)) return dice.pick(["a", "é", "💥", " ", "a.", "-"]).repeat(nearLimit(dice))
  return dice.times(1 + dice.below(4), () => (dice.once(2) ? some(ODD, dice) : some(DOMAINS, dice))).join("")
}

/** A domain, most often one that may be. */
export function someDomain(dice: Dice): string {
  if (dice.once(10)) return oddText(dice)
  const domain = dice.once(2)
    ? some(DOMAINS, dice)
    : `${word(dice)}.${dice.pick(["com", "de", "io", "zz", "co.uk", "xn--p1ai"])}`
  if (dice.once(12)) return `${dice.pick(["a", "b."]).repeat(nearLimit(dice) / 2)}.${domain}`
  return dice.once(6) ? `${word(dice)}.${domain.toUpperCase()}` : domain
}

/** An address, most often one that may be. */
export function someEmail(dice: Dice): string {
  if (dice.once(12)) return oddText(dice)
  if (dice.once(6)) return `${some(Object.keys(TEST_ADDRESSES), dice)}${dice.once(3) ? "+tag" : ""}@mailkind.test`
  const local = dice.pick([
    "jane.doe",
    "info",
    "all",
    "no-reply",
    '"a b"',
    '"a@b"',
    "ü",
    "a..b",
    "+tag",
    "a+b+c",
    "",
    "a(b)",
  ])
  const part = dice.once(12) ? MARK.repeat(nearLimit(dice) / MARK.length) : `${local}${dice.once(4) ? "" : `.${MARK}`}`
  return `${part}${dice.pick(["@", "@", "@", "@", "@@", "＠", " @"])}${someDomain(dice)}`
}

/** A website's address, most often one that may be. */
export function someUrl(dice: Dice): string {
  const scheme = dice.pick([
    "http://",
    "https://",
    "",
    "//",
    "ftp://",
    "javascript:",
    "HTTP://",
    "https:/",
    "http://u:p@",
  ])
  const rest = dice.pick([
    "",
    "/",
    "/pricing?a=b#c",
    ":80/",
    ":99999/",
    `/${oddText(dice)}`,
    `/${"a".repeat(nearLimit(dice))}`,
  ])
  return `${scheme}${someDomain(dice)}${rest}`
}

const word = (dice: Dice): string =>
  dice.times(1 + dice.below(12), () => dice.pick([..."abcdefghijklmnop0-"] as [string, ...string[]])).join("")

/** Texts for the fields that forms and bodies have, by their names; what is not named gets any text. */
const FIELDS: ReadonlyMap<string, (dice: Dice) => string> = new Map(
  Object.entries({
    email: someEmail,
    "new-email": someEmail,
    domain: someDomain,
    url: someUrl,
    input: (dice: Dice) => dice.pick([someEmail, someDomain, someUrl])(dice),
    requests: (dice: Dice) => dice.pick([someEmail, someDomain, someUrl])(dice),
    subject: (dice: Dice) => dice.pick([someEmail, someDomain])(dice),
    policy: (dice: Dice) => some(POLICY_NAMES, dice),
    expected: (dice: Dice) => some(CATEGORY_NAMES, dice),
    expected_category: (dice: Dice) => some(CATEGORY_NAMES, dice),
    entries: (dice: Dice) => dice.times(1 + dice.below(8), () => dice.pick([someEmail, someDomain])(dice)).join("\n"),
    list: (dice: Dice) => dice.pick(["block", "allow"]),
    list_action: (dice: Dice) => dice.pick(["add", "remove"]),
    kind: (dice: Dice) => dice.pick(["secret", "publishable"]),
    origins: (dice: Dice) => `https://${someDomain(dice)}`,
    tier: (dice: Dice) => String(dice.below(6)),
    code: (dice: Dice) => String(100_000 + dice.below(900_000)),
    sure: () => "yes",
    material: () => "yes",
    next: (dice: Dice) => dice.pick(["/dashboard", "//evil.example", "https://evil.example/", "/\\evil", "/admin"]),
    status: (dice: Dice) => dice.pick(["received", "accepted", "rejected"]),
    version: () => "1",
  } satisfies Record<string, (dice: Dice) => string>),
)

/** The text of a field: one that belongs there, and sometimes any. */
export const fieldText = (name: string, dice: Dice): string =>
  dice.once(8) ? oddText(dice) : (FIELDS.get(name) ?? oddText)(dice)
