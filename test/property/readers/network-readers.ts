import { type Finding, known } from "../../../src/base/finding.ts"
import { BOOTSTRAP_CHARS_MAX, parseBootstrap } from "../../../src/check/age/rdap-bootstrap.ts"
import { parseRegistration } from "../../../src/check/age/rdap-response.ts"
import type { CachedDnsAnswer, CachingResolver } from "../../../src/check/dns/dns-types.ts"
import { parseReply } from "../../../src/check/dns/wire/packet.ts"
import { GUARDED_FETCH_BOUNDS } from "../../../src/check/fetch/guarded-fetch.ts"
import {
  ConnectionReader,
  decodeBody,
  readResponseBody,
  readResponseHead,
} from "../../../src/check/fetch/http-response.ts"
import { decodePage, parsePage } from "../../../src/check/homepage/page-parser.ts"
import { detectParking } from "../../../src/check/homepage/parking-signals.ts"
import { askDmarcPolicy } from "../../../src/check/mail/dmarc.ts"
import { lookupSpfSuites, selectSpfRecord } from "../../../src/check/mail/spf.ts"
import { lookupSuiteKeys } from "../../../src/check/mail/suite-indicators.ts"
import { parseTenant } from "../../../src/check/tenant/tenant-lookup.ts"
import { parseTenantSignIn } from "../../../src/check/tenant/tenant-sign-in.ts"
import { record, replyBytes, TYPES } from "../../check/dns/wire/reply-bytes.ts"
import { type Reader, textOf } from "./reader.ts"

const DOMAIN = "example.com"
const MESSAGE_BYTES_MAX = 65_535

/** Every question has this one TXT record. */
const answerOf = (text: string): Finding<CachedDnsAnswer> =>
  known({ outcome: "records", records: [{ type: "TXT", text }], ttlS: 1, isCached: false, freshUntilMs: 0 })
const answering =
  (text: string): CachingResolver =>
  async () =>
    answerOf(text)

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  yield bytes
}

async function readResponse(bytes: Uint8Array): Promise<void> {
  const reader = new ConnectionReader(once(bytes), GUARDED_FETCH_BOUNDS.bodyBytesMax * 2)
  const head = await readResponseHead(reader, GUARDED_FETCH_BOUNDS.headBytesMax)
  const body = await readResponseBody(reader, head, GUARDED_FETCH_BOUNDS.bodyBytesMax)
  await decodeBody(body, head.headers.get("content-encoding"), GUARDED_FETCH_BOUNDS.bodyBytesMax)
}

/** A reply with the text as its records, whatever they are. */
function reply(type: "MX" | "TXT", text: string, count: number): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(text, "latin1").subarray(0, MESSAGE_BYTES_MAX - 64)
  return new Uint8Array(Buffer.concat([replyBytes({ name: DOMAIN, type, answerCount: count }), bytes]))
}

const POINTER = "\xc0\x0c"
const A_RECORD = Buffer.from(record(Uint8Array.of(0xc0, 12), TYPES.A, Uint8Array.of(1, 2, 3, 4))).toString("latin1")
const MX_RECORD = Buffer.from(
  record(Uint8Array.of(0xc0, 12), TYPES.MX, Uint8Array.of(0, 1, 1, 0x61, 0xc0, 12)),
).toString("latin1")

const JSON_TOKENS = ['"', "{", "}", "[", "]", ":", ",", "\\", "1", " ", '"a":1,', "{},", "\\u0061"]

/** The readers of what the servers of a checked domain publish, and of what registries and other services answer. */
export const NETWORK_READERS: readonly Reader[] = [
  {
    name: "homepage",
    files: ["check/homepage/page-parser.ts", "check/homepage/homepage-probe.ts", "check/homepage/parking-signals.ts"],
    tokens: [
      ..."<>/!-=\"'& ;]?",
      "<a ",
      "</a>",
      "<p>",
      "href=",
      "<!--",
      "-->",
      "<script>",
      "</script>",
      "<svg>",
      "</title>",
      "<title>",
      "location",
      "&#",
      "&amp;",
      "example.com",
      "\u0301",
    ],
    plain: "<p>We build <a href='/x'>things</a> for people who need them.</p>\n",
    bytesMax: GUARDED_FETCH_BOUNDS.bodyBytesMax,
    memoryBytesMax: 32 * 1_048_576,
    read: bytes => {
      const page = parsePage(decodePage(bytes, "text/html"), `https://${DOMAIN}/`)
      detectParking({ domain: DOMAIN, redirectChain: [`https://${DOMAIN}/`], page, registrableOf: name => name })
    },
  },
  {
    name: "script of a homepage",
    files: ["check/homepage/page-parser.ts"],
    tokens: ["location", ".href", "=", '"', "'", " ", ".replace(", ".assign(", "\n", "a", ")"],
    plain: 'window.x = function () { return "y" }\n',
    frame: text => `<script>${text}</script>`,
    bytesMax: GUARDED_FETCH_BOUNDS.bodyBytesMax,
    memoryBytesMax: 32 * 1_048_576,
    read: bytes => parsePage(decodePage(bytes, null), `https://${DOMAIN}/`),
  },
  {
    name: "response of a web server",
    files: ["check/fetch/http-response.ts", "check/fetch/guarded-fetch.ts"],
    tokens: ["\n", "\r\n", ":", " ", "\t", "a", "x: y\r\n", "0", "1", ";", ",", "HTTP/1.1 100 Continue\r\n\r\n"],
    plain: "X-Header: some value\r\n",
    frame: text => `HTTP/1.1 200 OK\r\n${text}\r\n\r\n`,
    bytesMax: GUARDED_FETCH_BOUNDS.headBytesMax,
    memoryBytesMax: 16 * 1_048_576,
    read: readResponse,
  },
  {
    name: "chunks of a web server",
    files: ["check/fetch/http-response.ts"],
    tokens: ["1\r\na\r\n", "0", "\r\n", "1", "a", ";", "ffffffff\r\n", "0000000", " ", "2;x=y\r\nab\r\n"],
    plain: `40\r\n${"a".repeat(64)}\r\n`,
    frame: text => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${text}0\r\n\r\n`,
    bytesMax: GUARDED_FETCH_BOUNDS.bodyBytesMax,
    memoryBytesMax: 16 * 1_048_576,
    read: readResponse,
  },
  {
    name: "compressed page",
    files: ["check/fetch/http-response.ts"],
    tokens: ["a", "<", "\n", " "],
    plain: "<p>We build things.</p>\n",
    frame: text => {
      const body = Bun.gzipSync(text)
      return new Uint8Array(
        Buffer.concat([
          Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`),
          body,
        ]),
      )
    },
    bytesMax: GUARDED_FETCH_BOUNDS.bodyBytesMax,
    memoryBytesMax: 32 * 1_048_576,
    read: readResponse,
  },
  {
    name: "SPF",
    files: ["check/mail/spf.ts"],
    tokens: [" ", "include:", "redirect=", "a", "mx", ":", "/", ".", "%{d}", "%", "{", "+", "-all", "~", "exists:"],
    plain: "include:_spf.example.com ip4:192.0.2.0/24 ",
    frame: text => `v=spf1 ${text}-all`,
    bytesMax: MESSAGE_BYTES_MAX,
    memoryBytesMax: 4 * 1_048_576,
    read: async bytes => {
      const record = selectSpfRecord([textOf(bytes)])
      if (record !== null) await lookupSpfSuites(answering(record), DOMAIN, record)
    },
  },
  {
    name: "DMARC",
    files: ["check/mail/dmarc.ts"],
    tokens: [";", "=", " ", "\t", "p", "p=", "none", "rua=", "mailto:a@b", ",", "sp", "v=DMARC1;", "a", ":"],
    plain: "rua=mailto:dmarc@example.com; adkim=r; ",
    frame: text => `v=DMARC1; p=none; ${text}`,
    bytesMax: MESSAGE_BYTES_MAX,
    memoryBytesMax: 4 * 1_048_576,
    read: bytes => {
      const answer = answerOf(textOf(bytes))
      return askDmarcPolicy(DOMAIN, DOMAIN, (_name, _isParent, onAnswer) => onAnswer(answer))(() => true)
    },
  },
  {
    name: "DKIM key",
    files: ["check/mail/suite-indicators.ts"],
    tokens: [";", "=", " ", "\t", "p", "p=", "v=DKIM1", "k", "A"],
    plain: "v=DKIM1; k=rsa; x=MIGfMA0GCSqGSIb3DQEBAQUAA4; ",
    bytesMax: MESSAGE_BYTES_MAX,
    memoryBytesMax: 4 * 1_048_576,
    read: bytes => lookupSuiteKeys(answering(textOf(bytes)), DOMAIN, "suite_b"),
  },
  {
    name: "DNS packet, MX",
    files: ["check/dns/wire/packet.ts", "check/dns/wire/packet-reader.ts", "check/dns/wire/records.ts"],
    tokens: ["\0", "\x01", "\x05", "\x0f", "\x3f", "\xc0", POINTER, "\xff", "a", ".", MX_RECORD, A_RECORD, "\0\x05"],
    plain: MX_RECORD,
    frame: text => reply("MX", text, Math.min(5000, Math.ceil(text.length / 16))),
    bytesMax: MESSAGE_BYTES_MAX,
    memoryBytesMax: 16 * 1_048_576,
    read: bytes => parseReply(bytes, 7, { name: DOMAIN, type: "MX" }),
  },
  {
    name: "DNS packet, TXT",
    files: ["check/dns/wire/packet.ts"],
    tokens: ["\0", "\x01", "\x10", "\xc0", POINTER, "\xff", "a", '"', "\0\x10\0\x01\0\0\0\0\0\x05\x04aaaa"],
    plain: `${POINTER}\0\x10\0\x01\0\0\0\0\0\x05\x04aaaa`,
    frame: text => reply("TXT", text, Math.min(5000, Math.ceil(text.length / 17))),
    bytesMax: MESSAGE_BYTES_MAX,
    memoryBytesMax: 16 * 1_048_576,
    read: bytes => parseReply(bytes, 7, { name: DOMAIN, type: "TXT" }),
  },
  {
    name: "RDAP",
    files: ["check/age/rdap-request.ts", "check/age/rdap-response.ts"],
    tokens: [...JSON_TOKENS, '{"eventAction":"registration","eventDate":"2020-01-01"},'],
    plain: '{"eventAction":"registration","eventDate":"2020-01-01T00:00:00Z"},',
    frame: text => `{"objectClassName":"domain","ldhName":"${DOMAIN}","events":[${text}{}]}`,
    bytesMax: 262_144,
    memoryBytesMax: 16 * 1_048_576,
    read: bytes => parseRegistration(JSON.parse(textOf(bytes)), DOMAIN, 0),
  },
  {
    name: "RDAP bootstrap",
    files: ["check/age/rdap-bootstrap.ts"],
    tokens: [...JSON_TOKENS, '[["a"],["https://b.example/"]],', '"é",', '"a.b",', '"https://a.example/",'],
    plain: '[["com"],["https://rdap.example.com/"]],',
    frame: text => `{"version":"1.0","services":[${text}[[],[]]]}`,
    bytesMax: BOOTSTRAP_CHARS_MAX,
    memoryBytesMax: 64 * 1_048_576,
    read: bytes => parseBootstrap(textOf(bytes), false),
  },
  {
    name: "tenant",
    files: ["check/tenant/identity-endpoint.ts", "check/tenant/tenant-lookup.ts", "check/tenant/tenant-sign-in.ts"],
    tokens: [...JSON_TOKENS, "https://", "/", ".", "?", "\u202e", "adfs/ls"],
    plain: '"x":"some value",',
    frame: text =>
      `{"issuer":"https://sts.windows.net/${text.replaceAll('"', "")}/","NameSpaceType":"Federated","AuthURL":${JSON.stringify(`https://a.b/${text}`.slice(0, 4096))}}`,
    bytesMax: MESSAGE_BYTES_MAX,
    memoryBytesMax: 8 * 1_048_576,
    read: bytes => {
      const response = { kind: "answered", json: JSON.parse(textOf(bytes)) } as const
      parseTenant(response)
      parseTenantSignIn(response, DOMAIN)
    },
  },
]
