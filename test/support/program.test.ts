import { expect, setDefaultTimeout, test } from "bun:test"
import { tmpdir } from "node:os"
import { bounded } from "./bounded.ts"
import { outcomeOf } from "./outcome-of.ts"
import { startProgram } from "./program.ts"

setDefaultTimeout(300_000)

const started = (script: string) => startProgram([process.execPath, "-e", script], tmpdir(), {})

test("a program is heard while it runs, and told whole when it is over", async () => {
  const program = started("console.error('two'); console.log('one'); setInterval(() => {}, 1000)")
  expect(await program.printed(/one/)).toBe("one\n")
  expect(await program.stop()).toEqual({ code: 143, out: "one\n", err: "two\n" })
})

test("more than a pipe holds is said to nobody in particular, and the program is not stopped by it", async () => {
  const { code, err } = await started("console.error('x'.repeat(10_000_000))").ended()
  expect([code, err.length]).toEqual([0, 10_000_001])
})

test("a program that ends without the words that were waited for is told with what it said", async () => {
  const waiting = started("console.log('one'); console.error('two'); process.exit(3)").printed(/three/)
  expect(await outcomeOf(waiting)).toThrow(/ended \(3\), printed "one\\n" and complained "two\\n" without/)
})

test("what takes too long is told as it stands then, and what fails or comes is as it is", async () => {
  let state = "at first"
  const never = bounded(new Promise(() => undefined), () => state, 1)
  state = "then"
  expect(await outcomeOf(never)).toThrow("no end within 1 ms: then")
  expect(await bounded(Promise.resolve(1), () => state)).toBe(1)
  expect(await outcomeOf(bounded(Promise.reject(new Error("mine")), () => state))).toThrow("mine")
})
