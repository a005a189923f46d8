/**
 * Do two versions say the same of everything? A digest of the verdicts of many inputs, offline: lines of the realistic mix and
 * hostile ones, a third of them under each policy, as `classify` writes them in NDJSON. What differs from run to run (ids,
 * times) is left out.
 */

import { join } from "node:path"
import { POLICY_NAMES } from "../../src/contract/policies.ts"
import { inputShapes } from "../../test/support/input-shapes.ts"
import { mixLines } from "../mix/mix.ts"
import { emptyDirectory } from "../servers/product.ts"

/** One input in so many is hostile: they are long. */
const HOSTILE_EVERY = 100
const SHAPES = 500
/** A line of more than 64 KiB is refused unread, so that it has no verdict; escaped in UTF-8 these stay below. */
const LENGTH_MAX = 10_000

/** What a version says of the inputs. */
type Verdicts = {
  /** SHA-256 of all results. */
  readonly sha256: string
  /** A short hash of each, by the number of its input. */
  readonly hashes: readonly bigint[]
}

/** The digest of the verdicts of two programs, each given by its `main.ts`, on so many inputs. Rejects with the first that they judge apart. */
export async function expectSameVerdicts(ours: string, theirs: string, inputs: number): Promise<string> {
  const [our, their] = [await verdictsOf(ours, inputs), await verdictsOf(theirs, inputs)]
  if (our.sha256 === their.sha256) return our.sha256
  const differing = our.hashes.flatMap((hash, at) => (hash === their.hashes[at] ? [] : [at]))
  const [first = 0] = differing
  const { value: input } = inputsFrom(first).next()
  throw new Error(
    `the trees judge ${differing.length} of ${inputs} inputs apart, first of all under ${policyOf(first)}: ${JSON.stringify(input.slice(0, 200))}`,
  )
}

const policyOf = (number: number): string => POLICY_NAMES[number % POLICY_NAMES.length] ?? ""

async function verdictsOf(main: string, inputs: number): Promise<Verdicts> {
  await using directory = await emptyDirectory()
  const hasher = new Bun.CryptoHasher("sha256")
  const hashes = new Array<bigint>(inputs).fill(0n)
  for (const [turn, policy] of POLICY_NAMES.entries()) {
    const file = join(directory.path, `${policy}.ndjson`)
    await writeInputs(file, inputs, turn)
    let number = turn
    for await (const result of resultsOf(main, file, policy)) {
      const told = result.replace(VARYING, "")
      hasher.update(told)
      hashes[number] = BigInt(Bun.hash(told))
      number += POLICY_NAMES.length
    }
    if (number < inputs) throw new Error(`${main}: not every input has its result`)
  }
  return { sha256: hasher.digest("hex"), hashes }
}

const VARYING = /,"took_ms":[\d.]+|,"request_id":"[^"]*"/g

/** Writes every input whose number leaves this rest. */
async function writeInputs(path: string, inputs: number, rest: number): Promise<void> {
  const sink = Bun.file(path).writer()
  let number = 0
  for (const input of inputsFrom(0)) {
    if (number === inputs) break
    if (number % POLICY_NAMES.length === rest) sink.write(`${JSON.stringify(input)}\n`)
    if (number % 10_000 === 0) await sink.flush()
    number++
  }
  await sink.end()
}

/** The inputs from a number on, without an end. */
function* inputsFrom(start: number): Generator<string, never> {
  const shapes = inputShapes(SHAPES)
  let number = 0
  for (const { text } of mixLines()) {
    const shape =
      number % HOSTILE_EVERY === HOSTILE_EVERY - 1 ? shapes[((number / HOSTILE_EVERY) % SHAPES) | 0] : undefined
    if (number >= start) yield shape === undefined ? text : shape.input(number).slice(0, LENGTH_MAX).toWellFormed()
    number++
  }
  throw new Error("the mix has an end")
}

/** The results of a program, line by line. Rejects when it fails. */
async function* resultsOf(main: string, file: string, policy: string): AsyncGenerator<string, void> {
  await using child = Bun.spawn([process.execPath, main, "classify", file, "--offline", "--policy", policy], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const complaint = new Response(child.stderr).text()
  const decoder = new TextDecoder()
  let rest = ""
  for await (const part of child.stdout) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    yield* lines
  }
  if ((await child.exited) !== 0) throw new Error(`${main} failed: ${(await complaint).trim()}`)
}
