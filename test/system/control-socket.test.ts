import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type ControlConnection,
  MESSAGE_BYTES_MAX,
  MESSAGES_MAX,
  unixControlSockets,
} from "../../src/system/control-socket.ts"
import { onTestEnd } from "../support/on-test-end.ts"

/** A listener, and one peer that sends what it likes. */
async function peer() {
  const directory = mkdtempSync(join(tmpdir(), "mk-"))
  const path = join(directory, "s")
  const met = Promise.withResolvers<ControlConnection>()
  const end = unixControlSockets.listen(path, met.resolve)
  const socket = connect(path)
  const closed = new Promise<void>(resolve => socket.on("error", () => undefined).on("close", () => resolve()))
  onTestEnd(() => {
    socket.destroy()
    end?.()
    rmSync(directory, { recursive: true, force: true })
  })
  /** In pieces of their own, each of which the system has taken. */
  const send = async (...pieces: readonly string[]) => {
    for (const piece of pieces) await new Promise(resolve => socket.write(piece, resolve))
  }
  return { connection: await met.promise, send, closed }
}

test("a peer may send so many messages of so many bytes before one is received", async () => {
  const { connection, send } = await peer()
  const message = "m".repeat(MESSAGE_BYTES_MAX)
  await send("m", `${message.slice(1)}\n`, ...Array.from({ length: MESSAGES_MAX - 1 }, (_, at) => `${at}\n`))
  expect(await connection.receive()).toBe(message)
  for (let at = 0; at < MESSAGES_MAX - 1; at++) expect(await connection.receive()).toBe(String(at))
})

test.each([
  ["more messages", Array.from({ length: MESSAGES_MAX + 1 }, () => "m\n")],
  ["a thousand messages, a few in a piece", Array.from({ length: 200 }, () => "m\n".repeat(5))],
  ["a message that is longer", [`${"m".repeat(MESSAGE_BYTES_MAX + 1)}\n`]],
  ["a message without an end, in pieces", Array.from({ length: MESSAGE_BYTES_MAX + 1 }, () => "m")],
])("a peer that sends %s is cut off, and nothing of it is kept", async (_, pieces) => {
  const { connection, send, closed } = await peer()
  void send(...pieces)
  await closed
  expect(await connection.receive()).toBeNull()
})
