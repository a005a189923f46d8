/**
 * What does a batch save? Batches of as many items as one may have are compared with single checks of the same addresses,
 * and with a bare server that parses the same body and writes as many ready objects of the same shape.
 */

import { join } from "node:path"
import { fileURLToPath } from "bun"
import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { benchAddresses } from "../load/addresses.ts"
import { sendRequest } from "../load/ask.ts"
import {
  type CheckLoad,
  type CheckRound,
  checkRound,
  describeRounds,
  loadCpu,
  p99,
  perSecond,
  type RoundsScale,
} from "../load/check-rounds.ts"
import { figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved, ratios } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { CAN_PIN, type ServerProcess, startServer } from "../servers/server-process.ts"

/** The scale of a figure that may be told. */
export const BATCH_FULL: RoundsScale = { connections: 16, rounds: 7, roundS: 1.5, warmupS: 3 }

const FLOOR = fileURLToPath(import.meta.resolve("../servers/baseline-batch.ts"))
const ROUND_WARMUP_S = 0.3
const ITEMS = LIMITS.batchItemsMax
const SUBJECTS = ["batch", "single", "floor"] as const
type Rounds = Readonly<Record<(typeof SUBJECTS)[number], readonly CheckRound[]>>

/** Runs the bench. Rejects when an answer is not 200, or a batch has not a full result an item. */
export async function batchBench(scale: RoundsScale): Promise<Report> {
  await using directory = await emptyDirectory()
  const authorization = `Bearer ${await limitedKey(directory.path)}`
  await using product = await startServer({
    command: PRODUCT.source,
    environment: { ...productSettings(directory.path), ...HIGH_LIMITS, ...KEEPING_MEMORY },
    core: "server",
  })
  const addresses = benchAddresses()
  const batches: CheckLoad = { path: ROUTES.postBatch.path, bodies: batchesOf(addresses), authorization }
  const singles = addresses.map(email => JSON.stringify({ email }))
  const answer = await batchAnswer(product, batches)
  const answerFile = join(directory.path, "answer.json")
  await Bun.write(answerFile, answer)
  const command = [process.execPath, FLOOR, answerFile] as const
  await using floor = await startServer({ command, environment: KEEPING_MEMORY, core: "server" })
  const loads = {
    batch: [product, batches],
    single: [product, { path: ROUTES.postCheck.path, bodies: singles, authorization }],
    floor: [floor, batches],
  } as const
  const measure = (name: keyof Rounds, durationS = scale.roundS, warmupS = ROUND_WARMUP_S) => {
    const [server, load] = loads[name]
    return checkRound(server, load, { connections: scale.connections, durationS, warmupS })
  }
  for (const name of SUBJECTS) await measure(name, scale.warmupS, 0)
  const rounds = await interleaved(SUBJECTS, scale.rounds, name => measure(name))
  return reportOf(scale, rounds, Buffer.byteLength(answer))
}

/** Bodies of full batches, each of which begins at another address. */
function batchesOf(addresses: readonly string[]): readonly string[] {
  const twice = [...addresses, ...addresses]
  return addresses.map((_, at) => JSON.stringify({ items: twice.slice(at, at + ITEMS) }))
}

/** The answer to the first batch, after another that has made every address known. */
async function batchAnswer(server: ServerProcess, { path, bodies, authorization }: CheckLoad): Promise<string> {
  const url = new URL(path, server.url)
  const headers = { Authorization: authorization, "Content-Type": "application/json" }
  const answerTo = (body = "") => sendRequest({ method: "POST", url, headers, body })
  await answerTo(bodies[0])
  const { status, body } = await answerTo(bodies[0])
  const { results } = JSON.parse(body)
  if (status !== 200 || results.length !== ITEMS || !results.every((one: object) => "mail" in one))
    throw new Error(`no batch of full results, but ${status}: ${body.slice(0, 300)}`)
  return body
}

function reportOf(scale: RoundsScale, { batch, single, floor }: Rounds, answerBytes: number): Report {
  const batchItems = perSecond(batch).map(rate => rate * ITEMS)
  const floorItems = perSecond(floor).map(rate => rate * ITEMS)
  const singles = perSecond(single)
  return {
    bench: "batch",
    description: [
      `POST /v1/check/batch of ${ITEMS} addresses, secret key of a limited account; DNS off; answers of ${answerBytes} bytes`,
      "floor: a bare server that parses the same body and writes as many ready objects of the same shape",
      describeRounds(scale),
      CAN_PIN ? "servers bound to core 0, load to core 1 (taskset)" : "not bound to cores",
    ],
    figures: [
      medianFigure("batch ÷ floor", "", ratios(batchItems, floorItems), "batch_floor"),
      medianFigure("batch ÷ single checks", "", ratios(batchItems, singles), "batch_single"),
      medianFigure("batch", "items/s", batchItems),
      medianFigure("floor", "items/s", floorItems),
      medianFigure("single checks", "items/s", singles),
      medianFigure("batch p99", "ms", p99(batch)),
      figure("load program", "of a core", loadCpu(batch, single, floor)),
    ],
  }
}
