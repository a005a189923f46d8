import { expect, test } from "bun:test"
import { readTextBody } from "../../src/base/fetch.ts"
import { outcomeOf } from "../support/outcome-of.ts"

/** A body of endless chunks that counts what was read of it and tells when it was left. */
function endless() {
  const state = { chunks: 0, isLeft: false }
  const body = new ReadableStream<Uint8Array>({
    pull: controller => {
      state.chunks++
      controller.enqueue(new Uint8Array(1024).fill(97))
    },
    cancel: () => {
      state.isLeft = true
    },
  })
  return { response: new Response(body), state }
}

test("a body of as many octets as allowed is read, and one more is too many", async () => {
  expect(await readTextBody(new Response("é".repeat(5)), 10)).toBe("é".repeat(5))
  expect(await readTextBody(new Response(`${"é".repeat(5)}.`), 10)).toBeNull()
})

test("an endless body is left at the first chunk too many", async () => {
  const { response, state } = endless()
  expect(await readTextBody(response, 10 * 1024)).toBeNull()
  expect(state.isLeft).toBe(true)
  expect(state.chunks).toBeLessThan(20)
})

test("a character that is cut in two by chunks is read whole, and octets that are no UTF-8 cost only themselves", async () => {
  const body = new ReadableStream<Uint8Array>({
    start: controller => {
      controller.enqueue(new Uint8Array([0xc3]))
      controller.enqueue(new Uint8Array([0xa9, 0xff]))
      controller.close()
    },
  })
  expect(await readTextBody(new Response(body), 10)).toBe("é\uFFFD")
})

test("no body is an empty text", async () => {
  expect(await readTextBody(new Response(null), 10)).toBe("")
})

test("a body that breaks off rejects", async () => {
  const body = new ReadableStream<Uint8Array>({
    start: controller => controller.error(new Error("the connection was lost")),
  })
  expect(await outcomeOf(readTextBody(new Response(body), 10))).toThrow("the connection was lost")
})
