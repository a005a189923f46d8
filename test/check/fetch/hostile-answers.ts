import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { type HostAnswer, httpAnswer, redirectTo } from "../../support/host-web.ts"
import type { ZoneRecords } from "../../support/zone.ts"
import { type HostileCase, OUTSIDE } from "./hostile-case.ts"

const dns: ZoneRecords = {
  "A acme.com": [OUTSIDE],
  "A inward.com": ["10.0.0.1"],
  "A other.com": [OUTSIDE],
}

const answers = (description: string, answer: HostAnswer, ends: HostileCase["ends"], connections = 1): HostileCase => ({
  description,
  url: "http://acme.com/",
  dns,
  web: { [`${OUTSIDE}:80`]: answer },
  ends,
  connections,
})

const redirects = (ends: HostileCase["ends"], rows: Readonly<Record<string, string>>): readonly HostileCase[] =>
  Object.entries(rows).map(([description, location]) => answers(description, redirectTo(location), ends))

const head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n"
const zeros = Buffer.alloc(8 * 1024 * 1024)

function* endless(first: string, part: string): Generator<string> {
  yield first
  for (;;) yield part
}

/** Servers that redirect to a private network, or send endless responses. */
export const HOSTILE_ANSWERS: readonly HostileCase[] = [
  ...redirects("ip_host", {
    "a redirect to the metadata address": "http://169.254.169.254/latest/meta-data/",
    "a redirect to loopback": "http://127.0.0.1/",
    "a redirect to loopback as a number": "//2130706433/",
    "a redirect to IPv6 loopback": "http://[::1]/",
    "a redirect to a public address": `http://${OUTSIDE}/`,
  }),
  ...redirects("bad_host", {
    "a redirect to localhost": "http://localhost/",
    "a redirect to a short name": "https://metadata/",
  }),
  ...redirects("not_public", { "a redirect to a name that leads inwards": "https://inward.com/" }),
  ...redirects("bad_port", {
    "a redirect to another port": "http://acme.com:9200/",
    "a redirect to a port of this host": ":22" + "/",
  }).map(row =>
    row.description.includes("this host") ? { ...row, ends: "too_many_redirects" as const, connections: 4 } : row,
  ),
  ...redirects("bad_scheme", {
    "a redirect to a file": "file:///etc/passwd",
    "a redirect to gopher": "gopher://acme.com/",
  }),
  ...redirects("has_credentials", { "a redirect with a password": "http://a:b@acme.com/" }),
  ...redirects("bad_url", { "a redirect to nowhere": "http://", "a redirect to half an address": "http://[::1/" }),
  ...redirects("no_address", { "a redirect to a name that does not exist": "http://gone.com/" }),
  answers("a redirect to itself", redirectTo("/"), "too_many_redirects", 4),
  answers("a redirect with an empty place", redirectTo(""), "too_many_redirects", 4),
  answers("a redirect without a place", httpAnswer("moved", { status: 302 }), 302),
  answers("a header slipped into a redirect", redirectTo("/a%0d%0aHost:%20localhost"), "too_many_redirects", 4),
  answers("headers without end", () => endless(head, "x-more: and more\r\n"), "too_long"),
  answers("one header without end", () => endless(`${head}x-more: `, "x".repeat(4096)), "too_long"),
  answers("a status line without end", () => endless("HTTP/1.1 200 ", "O".repeat(4096)), "too_long"),
  answers("announcements without end", () => endless("", "HTTP/1.1 103 Early Hints\r\n\r\n"), "too_long"),
  answers("empty lines without end", () => endless("", "\r\n"), "not_http"),
  answers("a body without end", () => endless(`${head}\r\n`, "x".repeat(65_536)), 200),
  answers(
    "a body of more than it is read",
    () => endless(`${head}content-length: 99999999999\r\n\r\n`, "x".repeat(65_536)),
    200,
  ),
  answers("a length beyond counting", () => [`${head}content-length: 99999999999999999999\r\n\r\nx`], "not_http"),
  answers("a negative length", () => [`${head}content-length: -1\r\n\r\nx`], "not_http"),
  answers("two lengths", () => [`${head}content-length: 1\r\ncontent-length: 2\r\n\r\nxy`], "not_http"),
  answers(
    "chunks without end",
    () => endless(`${head}transfer-encoding: chunked\r\n\r\n`, "1000\r\n".concat("x".repeat(4096), "\r\n")),
    200,
  ),
  answers(
    "chunks of one octet without end",
    () => endless(`${head}transfer-encoding: chunked\r\n\r\n`, "1;a=bcdefghijk\r\nx\r\n"),
    "too_long",
  ),
  answers(
    "a chunk's size without end",
    () => endless(`${head}transfer-encoding: chunked\r\n\r\n1;`, "x".repeat(4096)),
    "too_long",
  ),
  answers("a chunk of no size", () => [`${head}transfer-encoding: chunked\r\n\r\nzz\r\n`], "not_http"),
  answers(
    "a chunk that is longer than it says",
    () => [`${head}transfer-encoding: chunked\r\n\r\n1\r\nxyz\r\n`],
    "not_http",
  ),
  answers(
    "a transfer coding that nobody asked for",
    () => [`${head}transfer-encoding: gzip, chunked\r\n\r\n`],
    "bad_coding",
  ),
  answers("a bomb of gzip", httpAnswer(gzipSync(zeros), { headers: { "content-encoding": "gzip" } }), 200),
  answers("a bomb of deflate", httpAnswer(deflateSync(zeros), { headers: { "content-encoding": "deflate" } }), 200),
  answers("a bomb of Brotli", httpAnswer(brotliCompressSync(zeros), { headers: { "content-encoding": "br" } }), 200),
  answers(
    "a bomb within a bomb",
    httpAnswer(gzipSync(gzipSync(zeros)), { headers: { "content-encoding": "gzip, gzip" } }),
    "bad_coding",
  ),
  answers(
    "a coding that is not the one it says",
    httpAnswer("plain", { headers: { "content-encoding": "gzip" } }),
    "bad_coding",
  ),
  answers(
    "a coding named as what every object has",
    httpAnswer("plain", { headers: { "content-encoding": "constructor" } }),
    "bad_coding",
  ),
  answers("no HTTP", () => ["SSH-2.0-OpenSSH_9.2\r\n"], "not_http"),
  answers("HTTP of no version", () => ["<html>hello"], "broken_off"),
  answers("another protocol", () => ["HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n"], "not_http"),
  answers("nothing at all", () => [], "broken_off"),
  answers("half a body", () => [`${head}content-length: 10\r\n\r\nhalf`], "broken_off"),
  answers("a head that stops", () => [head], "broken_off"),
  answers("nobody who listens", "refused", "refused"),
  {
    description: "a redirect from https to http that leads inwards",
    url: "https://acme.com/",
    dns,
    web: { [`${OUTSIDE}:443`]: redirectTo("http://inward.com/") },
    ends: "not_public",
    connections: 1,
  },
  {
    description: "a certificate of another name",
    url: "https://acme.com/",
    dns: { "A acme.com": [OUTSIDE, "93.184.216.35"] },
    web: { [`${OUTSIDE}:443`]: "untrusted", "93.184.216.35:443": "untrusted" },
    ends: "untrusted",
    connections: 1,
  },
]
