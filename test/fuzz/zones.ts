import type { DnsRecordType } from "../../src/check/dns/dns-types.ts"
import {
  joined,
  pointer,
  QUESTION_NAME_AT,
  record,
  replyBytes,
  short,
  soaContent,
  TYPES,
  txtContent,
  wireLabels,
  wireName,
} from "../check/dns/wire/reply-bytes.ts"
import { Dice } from "./dice.ts"

/*
 * A made-up world of DNS: what a name has depends on the seed, the name and the type alone, so a question has the same reply however
 * often and in whatever order it is put.
 */

const QUESTION = pointer(QUESTION_NAME_AT)

/** Labels of host names, and such as no host name has: the wire holds any bytes. Characters up to U+00FF stand for single bytes. */
const LABELS = [
  ...["mx", "mail", "mx1", "smtp-in", "a", "x".repeat(63), "mx_1", "_dmarc", "xn--mx-eka", "xn--", "localhost", "4"],
  ...["<mail", "org>", '"mail', "mail;", "https://mail", "imap:q", "a::b", "fe80::1%eth0", "::1", "::", ":", "[::1]"],
  ...[
    "[203",
    "9]",
    "127",
    "0",
    "1",
    "255",
    "203",
    "10",
    "0x7f",
    "mail host",
    " ",
    "\t",
    "%",
    "%00",
    "%2e",
    "*",
    "@",
    "-a",
    "a-",
  ],
  ...["\0", "\u001b[2J", "\r\n", "\u007f", "\u00ff\u00fe", "\u00c3\u00a9", "\u00c2\u00a0", "a.b", ".", "\\", "'", "$1"],
  ...["__proto__", "constructor", "toString", "undefined", "null", "{}", "<script>", "&amp;", "..", "/etc"],
] as const

const HOSTS = [
  ...["aspmx.l.google.com", "alt1.aspmx.l.google.com", "x.mail.protection.outlook.com", "ms1.msv1.invalid.outlook.com"],
  ...[
    "mxa-001.pphosted.com",
    "mail.mailinator.com",
    "mx.yandex.net",
    "in1-smtp.messagingengine.com",
    "park-mx.above.com",
  ],
  ...[
    "mx1.throw-away.com",
    "198.51.99.7",
    "127.0.0.1",
    "10.0.0.1",
    "255.255.255.255",
    "0.0.0.0",
    "localhost",
    "com",
    "",
  ],
] as const

/** The beginnings of addresses of every kind. What is missing is random. */
const PREFIXES_V4 = [
  [],
  [10],
  [127],
  [192, 168],
  [169, 254],
  [100, 64],
  [0],
  [224],
  [255],
  [192, 0, 2],
  [45, 1, 2],
] as const
const PREFIXES_V6 = [
  ...[[], [0x20, 0x01], [0xfe, 0x80], [0xfc], [0xff, 0x02], [0x20, 0x02], [0x20, 0x01, 0x0d, 0xb8], [0x2a, 0x01]],
  ...[[0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], Array(15).fill(0)],
] as const

const SPACES = [
  " ",
  "\t",
  "  ",
  "",
  "\u00a0",
  "\u000b",
  "\u000c",
  "\n",
  "\r",
  "\u2003",
  "\u3000",
  "\ufeff",
  "\0",
] as const
const PIECES = [
  ...[
    "v=spf1",
    "V=SPF1",
    "v=spf10",
    "v=DMARC1",
    "v=dmarc1",
    "v=DKIM1",
    "-all",
    "~all",
    "+all",
    "redirect=_spf.google.com",
  ],
  ...[
    "include:_spf.google.com",
    "include:spf.protection.outlook.com",
    "include:%{i}.x.com",
    "include:",
    "include::",
    "a:",
  ],
  ...[
    "include:spf-loop.com",
    "include:a..b",
    "include:fe80::1%eth0",
    "mx/33//129",
    "exists:%{d2r+-}.x",
    "ptr",
    "ip6:::1",
  ],
  ...[
    "p=reject",
    "p=none",
    "P = Quarantine",
    "p=",
    "sp=none",
    "np=reject",
    "t=y",
    "psd=y",
    "psd=n",
    "rua=mailto:a@b.com",
  ],
  ...["rua=,,", "p=reject;p=none", "p=MIIB", "k=rsa", "=", ";", ";;", "=;=", '"', "\\", "\u00e9", "\ud83d\udca5"],
] as const
const TEXT_STARTS = ["v=spf1 ", "v=DMARC1; ", "v=DKIM1; p=", "MS=ms1", "google-site-verification=", ""] as const

const NULL_MX = joined([short(0), wireName("")])

/** What an owner has of a type. `alias`: nothing but a CNAME. */
const OUTCOMES = [
  ...["records", "records", "records", "records", "records", "records", "many", "alias", "mixed"],
  ...["no_data", "no_name", "failed", "garbage"],
] as const

/** The reply of the made-up world to a question, with the id. Null: nobody answers. */
export function zoneReply(seed: number, id: number, name: string, type: DnsRecordType): Uint8Array | null {
  const dice = new Dice(seed, Bun.hash.crc32(`${type} ${name}`))
  const parts = { id, name, type }
  if (dice.once(100)) return null
  if (new Dice(seed, Bun.hash.crc32(name)).once(15))
    return replyBytes({ ...parts, flags: 0x8183, authorities: soa(dice, name) })
  if (type === "MX" && dice.once(12)) return replyBytes({ ...parts, answers: [record(QUESTION, TYPES.MX, NULL_MX)] })
  switch (dice.pick(OUTCOMES)) {
    case "failed":
      return replyBytes({ ...parts, flags: dice.pick([0x8182, 0x8185, 0x8184]) })
    case "no_name":
      return replyBytes({ ...parts, flags: 0x8183, authorities: soa(dice, name) })
    case "no_data":
      return replyBytes({ ...parts, authorities: soa(dice, name) })
    case "alias":
      return replyBytes({ ...parts, answers: aliases(dice, type) })
    case "mixed":
      return replyBytes({
        ...parts,
        answers: [...records(dice, "A", 2), ...records(dice, type, 2), ...records(dice, "TXT", 1)],
      })
    case "many":
      return replyBytes({ ...parts, answers: records(dice, type, 1 + dice.below(60)) })
    case "garbage":
      return garbage(dice, replyBytes({ ...parts, answers: records(dice, type, 3) }))
    case "records":
      return replyBytes({ ...parts, answers: records(dice, type, 1 + dice.below(4)) })
  }
}

const soa = (dice: Dice, name: string): readonly Uint8Array[] =>
  dice.once(4) ? [] : [record(name.split(".").slice(-2).join("."), TYPES.SOA, soaContent(dice.below(1000)))]

/** A CNAME to a name that may be odd, and sometimes what stands there. */
function aliases(dice: Dice, type: DnsRecordType): readonly Uint8Array[] {
  const target = oddName(dice)
  const alias = record(QUESTION, TYPES.CNAME, target)
  return dice.once(2) ? [alias] : [alias, record(target, TYPES[type], content(dice, type))]
}

const records = (dice: Dice, type: DnsRecordType, count: number): readonly Uint8Array[] =>
  dice.times(count, () =>
    record(QUESTION, TYPES[type], content(dice, type), { ttlS: dice.pick([0, 1, 300, 86_400, 0x8000_0000]) }),
  )

function garbage(dice: Dice, bytes: Uint8Array): Uint8Array {
  const odd = bytes.slice(0, dice.once(3) ? dice.below(bytes.length) : bytes.length)
  for (let count = dice.below(8); count > 0 && odd.length > 4; count--)
    odd[2 + dice.below(odd.length - 2)] = dice.below(256)
  return odd
}

function content(dice: Dice, type: DnsRecordType): Uint8Array {
  switch (type) {
    case "A":
      return filled(dice, oneOf(PREFIXES_V4, dice), 4)
    case "AAAA":
      return filled(dice, oneOf(PREFIXES_V6, dice), 16)
    case "MX":
      return joined([short(dice.pick([0, 10, 10, 20, 65_535])), oddName(dice)])
    case "SRV":
      return joined([short(0), short(5), short(443), oddName(dice)])
    case "TXT":
      return txtContent(...strings(new TextEncoder().encode(oddText(dice))))
    default:
      return oddName(dice)
  }
}

const oneOf = (prefixes: readonly (readonly number[])[], dice: Dice): readonly number[] =>
  prefixes[dice.below(prefixes.length)] ?? []

const filled = (dice: Dice, prefix: readonly number[], count: number): Uint8Array =>
  Uint8Array.of(...prefix, ...dice.times(count - prefix.length, () => dice.below(256)))

/** A name as bytes: that of a host, or of labels that may be no host's. */
function oddName(dice: Dice): Uint8Array {
  if (dice.once(3)) return wireName(dice.pick(HOSTS))
  if (dice.once(20)) return wireLabels(dice.times(120, () => "a"))
  const labels = dice.times(1 + dice.below(4), () => dice.pick(LABELS))
  return wireLabels(dice.once(2) ? labels : [...labels, "x", dice.pick(["org", "com"])])
}

const oddText = (dice: Dice): string =>
  dice.pick(TEXT_STARTS) +
  dice
    .times(dice.below(dice.once(20) ? 300 : 8), () => `${dice.pick(PIECES)}${dice.pick([";", ""])}${dice.pick(SPACES)}`)
    .join("")

const STRING_BYTES_MAX = 255

const strings = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.max(1, Math.ceil(bytes.length / STRING_BYTES_MAX)) }, (_, at) =>
    bytes.subarray(at * STRING_BYTES_MAX, (at + 1) * STRING_BYTES_MAX),
  )

/** The body of a check of the domain with the number. */
export function zoneCheck(dice: Dice, number: number): Readonly<Record<string, string | boolean>> {
  const registrable = `zone${number}${dice.pick([".com", ".de", ".co.uk", ".io", ".eu.cc", ".edu"])}`
  const domain = dice.once(4) ? `${dice.pick(["www", "a.b", "mail", "x_y"])}.${registrable}` : registrable
  const subject = dice.pick([
    { email: `jane@${domain.replace("_", "-")}` },
    { email: `info+tag@${domain.replace("_", "-")}` },
    { domain },
    { url: `https://${domain}/x?a=b` },
  ])
  return { ...subject, policy: dice.pick(["b2b", "strict", "lenient"]), deep: dice.once(4), workspace: !dice.once(4) }
}

/** What may differ between an answer and the cached one. */
export const UNLIKE = { cached: null, took_ms: null, request_id: null }
