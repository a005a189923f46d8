import type { Dice } from "./dice.ts"

const PIECES = [
  ...[
    "\r\n",
    "\n",
    "\r",
    "\0",
    " ",
    "\t",
    ":",
    ";",
    ",",
    "\r\n\r\n",
    "\r\n ",
    "HTTP/1.1",
    "HTTP/1.0",
    "HTTP/2.0",
    "%",
    "\xff",
  ],
  ...[
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: xchunked\r\n",
  ],
  ...[
    "Host: other\r\n",
    "Connection: close\r\n",
    "Connection: Upgrade\r\nUpgrade: websocket\r\n",
    "Expect: 100-continue\r\n",
  ],
  ...["0\r\n\r\n", "ffffffffffffffff\r\n", "-1\r\n", "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"],
] as const satisfies readonly string[]

const CHANGES = [
  (bytes: Buffer, dice: Dice) => replaced(bytes, dice.below(bytes.length), 1, Buffer.from([dice.below(256)])),
  (bytes: Buffer, dice: Dice) => replaced(bytes, dice.below(bytes.length), dice.below(20), Buffer.alloc(0)),
  (bytes: Buffer, dice: Dice) => replaced(bytes, dice.below(bytes.length), 0, Buffer.from(dice.pick(PIECES), "latin1")),
  (bytes: Buffer, dice: Dice) => replaced(bytes, lineStart(bytes, dice), 0, Buffer.from(dice.pick(PIECES), "latin1")),
  (bytes: Buffer, dice: Dice) => bytes.subarray(0, 1 + dice.below(bytes.length)),
  (bytes: Buffer, dice: Dice) => replaced(bytes, lineStart(bytes, dice), 0, lineAt(bytes, lineStart(bytes, dice))),
] as const

/** The octets of a request with one to three things changed that make it another one, or none. It is never empty. */
export function mutated(dice: Dice, whole: Buffer): Buffer {
  let bytes = whole
  for (let count = dice.below(3); count >= 0; count--) {
    const next = dice.pick(CHANGES)(bytes, dice)
    if (next.length > 0) bytes = next
  }
  return bytes
}

const replaced = (bytes: Buffer, at: number, count: number, by: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + count)])

/** Where one of the first lines starts. */
function lineStart(bytes: Buffer, dice: Dice): number {
  let at = 0
  for (let line = dice.below(10); line > 0; line--) {
    const end = bytes.indexOf("\r\n", at)
    if (end < 0) break
    at = end + 2
  }
  return Math.min(at, bytes.length)
}

function lineAt(bytes: Buffer, at: number): Buffer {
  const end = bytes.indexOf("\r\n", at)
  return Buffer.from(bytes.subarray(at, end < 0 ? bytes.length : end + 2))
}
