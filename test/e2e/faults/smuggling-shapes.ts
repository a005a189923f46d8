/** The head of a request to its last field but those of its framing, and what follows. */
type Front = { readonly line: string; readonly body: string }

/** A shape of a request within whose octets another one stands, as it is written for a front. */
export type Shape = {
  /** It can be read in two ways, and so must be refused; else it has one answer at most. */
  readonly isRefused: boolean
  readonly lines: readonly string[]
  readonly rest: string
  readonly line?: string
}

const CHUNKED = "Transfer-Encoding: chunked"
const size = (text: string): string => text.length.toString(16)
const chunks = (body: string): string => `${size(body)}\r\n${body}\r\n0\r\n\r\n`
const length = (text: string): string => `Content-Length: ${text.length}`

/** Values of Transfer-Encoding that are not `chunked` alone. */
const CODINGS = [
  "xchunked",
  "chunked, identity",
  "identity, chunked",
  "chunked, chunked",
  "chunked;x=y",
  "identity",
  "gzip, chunked",
  '"chunked"',
  "chunked\v",
  "\vchunked",
  "gzip",
  "",
  "chun ked",
  "chunkedchunked",
]

/** Lengths that are no number of digits. */
const LENGTHS = [
  "+$",
  "-1",
  "0x16",
  "$ 5",
  "$.0",
  "$e0",
  "",
  "$;",
  "99999999999999999999",
  "18446744073709551616",
  "twenty",
  "$,$",
  "$, $",
  "\v$",
]

/** Where chunks go wrong: their size and what parts them, with the body between. */
const CHUNKS: Readonly<Record<string, (body: string) => string>> = {
  negative: body => `-1\r\n${body}\r\n0\r\n\r\n`,
  plus: body => `+${size(body)}\r\n${body}\r\n0\r\n\r\n`,
  "0x": body => `0x${size(body)}\r\n${body}\r\n0\r\n\r\n`,
  "blank after": body => `${size(body)} \r\n${body}\r\n0\r\n\r\n`,
  "blank before": body => ` ${size(body)}\r\n${body}\r\n0\r\n\r\n`,
  "bare LF": body => `${size(body)}\n${body}\n0\n\n`,
  "LF after": body => `${size(body)}\r\n${body}\n0\r\n\r\n`,
  "line in the extension": body => `${size(body)};a="\r\n"\r\n${body}\r\n0\r\n\r\n`,
  "LF ends the extension": body => `${size(body)};a\n${body}\r\n0\r\n\r\n`,
  "past 64 bits": body => `1000000000000000${size(body)}\r\n${body}\r\n0\r\n\r\n`,
  "no size": body => `\r\n${body}\r\n0\r\n\r\n`,
  "too short": body => `1\r\n${body}\r\n0\r\n\r\n`,
  "too long": body => `${(body.length + 1).toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  "nothing between": body => `${size(body)}\r\n${body}0\r\n\r\n`,
  "no end": body => `${size(body)}\r\n${body}XX0\r\n\r\n`,
  "no digit": body => `g\r\n${body}\r\n0\r\n\r\n`,
  "last with a blank": body => `${size(body)}\r\n${body}\r\n0 \r\n\r\n`,
  "last with more": body => `${size(body)}\r\n${body}\r\n0x\r\n\r\n`,
}

/** Lines of a head that are none, or none that all read alike, before a right length. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  "a folded line": ["X-A: a", " b"],
  "a folded coding": ["Transfer-Encoding:", " chunked"],
  "a coding in a fold": ["X-A: a", " Transfer-Encoding: chunked"],
  "a coding behind a CR": ["X-A: a\rTransfer-Encoding: chunked"],
  "a coding behind an LF": ["X-A: a\nTransfer-Encoding: chunked"],
  "a bare LF": ["X-A: a\nX-B: b"],
  "a bare CR": ["X-A: a\rX-B: b"],
  "NUL in a value": ["X-A: a\0b"],
  "NUL in a name": ["X\0A: ab"],
  "no name": [": a"],
  "no colon": ["Nothing"],
  "a blank in a name": ["X A: b"],
  "a blank before the colon": ["Transfer-Encoding : chunked"],
}

/** Lines in place of the first. */
const FIRST_LINES: Readonly<Record<string, (line: string) => string>> = {
  "no version": line => line.replace(" HTTP/1.1", ""),
  "HTTP/2.0": line => line.replace("1.1", "2.0"),
  "HTTP/1.1x": line => `${line}x`,
  "more after the version": line => `${line} x`,
  "two blanks": line => line.replace(" ", "  "),
  tabs: line => line.replaceAll(" ", "\t"),
  "NUL in the path": line => line.replace(" HTTP", "\0 HTTP"),
  "a blank in the path": line => line.replace(" HTTP", " x HTTP"),
  "a line of 200 000 octets": line => line.replace(" HTTP", `?${"a".repeat(200_000)} HTTP`),
}

/** Every shape for a front, with what it hides. */
export function shapesOf({ line, body }: Front, hidden: string): Readonly<Record<string, Shape>> {
  const shapes: Record<string, Shape> = {}
  const refused = (name: string, lines: readonly string[], rest: string, first?: string): void => {
    shapes[name] = { isRefused: true, lines, rest, ...(first === undefined ? {} : { line: first }) }
  }
  const both = chunks(body) + hidden
  refused("a length, then chunks", [length(both), CHUNKED], both)
  refused("chunks, then a length", [CHUNKED, length(both)], both)
  refused("a short length, then chunks", ["Content-Length: 3", CHUNKED], both)
  refused("no chunk, then a length", [CHUNKED, length(`0\r\n\r\n${hidden}`)], `0\r\n\r\n${hidden}`)
  refused("two lengths, the longer last", [length(body), length(body + hidden)], body + hidden)
  refused("two lengths, the longer first", [length(body + hidden), length(body)], body + hidden)
  refused("no length and a length", ["Content-Length: 0", length(hidden)], hidden)
  refused("two codings", [CHUNKED, CHUNKED], both)
  refused("a coding and identity", [CHUNKED, "Transfer-Encoding: identity"], both)
  refused("identity and a coding", ["Transfer-Encoding: identity", CHUNKED], both)
  for (const value of LENGTHS)
    refused(
      `the length ${JSON.stringify(value)}`,
      [`Content-Length: ${value.replaceAll("$", String(body.length))}`],
      body + hidden,
    )
  for (const value of CODINGS) refused(`the coding ${JSON.stringify(value)}`, [`Transfer-Encoding: ${value}`], both)
  for (const [name, written] of Object.entries(CHUNKS)) refused(`chunks: ${name}`, [CHUNKED], written(body) + hidden)
  for (const [name, lines] of Object.entries(LINES)) refused(name, [...lines, length(body)], body + hidden)
  for (const [name, first] of Object.entries(FIRST_LINES))
    refused(`the first line: ${name}`, [length(body)], body + hidden, first(line))
  // What is hidden here is the body, however one reads it.
  shapes["the body of a length"] = { isRefused: false, lines: [length(hidden)], rest: hidden }
  shapes["the body in a chunk"] = { isRefused: false, lines: [CHUNKED], rest: chunks(hidden) }
  shapes["an extension of a chunk"] = {
    isRefused: false,
    lines: [CHUNKED],
    rest: `${size(hidden)};a=b\r\n${hidden}\r\n0\r\n\r\n`,
  }
  shapes["a body that is waited for"] = {
    isRefused: false,
    lines: ["Expect: 100-continue", length(hidden)],
    rest: hidden,
  }
  shapes["an upgrade to HTTP/2"] = {
    isRefused: false,
    lines: ["Connection: Upgrade", "Upgrade: h2c", length(hidden)],
    rest: hidden,
  }
  shapes["a second host"] = { isRefused: true, lines: ["Host: evil.example", length(hidden)], rest: hidden }
  shapes["a whole URL"] = {
    isRefused: false,
    lines: [length(hidden)],
    rest: hidden,
    line: line.replace(" /", " http://evil.example/"),
  }
  return shapes
}
