/**
 * How much of a bare server's throughput does an authenticated, limited and metered POST /v1/check keep? Both run in processes of their own and are loaded in
 * turn by the same program, with the same requests; the floor's answer has the length of the product's mean answer.
 */

import { fileURLToPath } from "bun"
import { ROUTES } from "../../src/contract/routes.ts"
import { benchAddresses } from "../load/addresses.ts"
import {
  type CheckAnswers,
  type CheckLoad,
  type CheckRound,
  checkAnswers,
  checkRound,
  cpuUs,
  describeRounds,
  loadCpu,
  p99,
  perSecond,
  type RoundsScale,
} from "../load/check-rounds.ts"
import { figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved, ratios } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey, unlimitedKey } from "../servers/accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { CAN_PIN, type Program, startServer } from "../servers/server-process.ts"

/** The scale of a figure that may be told. */
export const HTTP_FULL: RoundsScale = { connections: 64, rounds: 21, roundS: 1, warmupS: 5 }

const FLOOR = fileURLToPath(import.meta.resolve("../servers/baseline.ts"))
const ROUND_WARMUP_S = 0.3
/** Above this share of a core the load program may be what limits the floor, and the ratio flatters us. */
const LOAD_CPU_MAX = 0.95

/** Runs the bench on the server that `command` starts. Rejects when an answer is not 200 or a request fails. */
export async function httpBench(scale: RoundsScale, command: Program["command"] = PRODUCT.source): Promise<Report> {
  await using directory = await emptyDirectory()
  const limited = `Bearer ${await limitedKey(directory.path)}`
  const unlimited = `Bearer ${await unlimitedKey(directory.path)}`
  await using product = await startServer({
    command,
    environment: { ...productSettings(directory.path), ...HIGH_LIMITS, ...KEEPING_MEMORY },
    core: "server",
  })
  const bodies = benchAddresses().map(email => JSON.stringify({ email }))
  const load = (authorization: string): CheckLoad => ({ path: ROUTES.postCheck.path, authorization, bodies })
  const answers = await checkAnswers(product, load(limited))
  const floorCommand = [process.execPath, FLOOR, String(answers.bytes)] as const
  await using floor = await startServer({ command: floorCommand, environment: KEEPING_MEMORY, core: "server" })
  const loads = {
    product: { server: product, load: load(limited) },
    unlimited: { server: product, load: load(unlimited) },
    floor: { server: floor, load: load(limited) },
  }
  const { connections } = scale
  const measure = (name: Subject, durationS = scale.roundS, warmupS = ROUND_WARMUP_S): Promise<CheckRound> =>
    checkRound(loads[name].server, loads[name].load, { connections, durationS, warmupS })
  for (const name of SUBJECTS) await measure(name, scale.warmupS, 0)
  return reportOf(scale, await interleaved(SUBJECTS, scale.rounds, name => measure(name)), answers)
}

const SUBJECTS = ["product", "unlimited", "floor"] as const
type Subject = (typeof SUBJECTS)[number]
type Rounds = Readonly<Record<Subject, readonly CheckRound[]>>

function reportOf(scale: RoundsScale, { product, unlimited, floor }: Rounds, answers: CheckAnswers): Report {
  const cpu = loadCpu(product, floor)
  const mix = Object.entries(answers.categories).map(([category, count]) => `${count} ${category}`)
  return {
    bench: "http",
    description: [
      `POST /v1/check, secret key of a limited account, and of one without limits, full result; ${mix.join(", ")}; DNS off; answers of ${answers.bytes} bytes`,
      describeRounds(scale),
      "both keep freed memory for ten seconds, as `bun run start` does",
      CAN_PIN ? "servers bound to core 0, load to core 1 (taskset)" : "not bound to cores",
      ...(cpu > LOAD_CPU_MAX ? ["the load program was the limit: the ratio is too kind"] : []),
    ],
    figures: [
      medianFigure("product ÷ floor", "", ratios(perSecond(product), perSecond(floor)), "http"),
      medianFigure(
        "product without limits ÷ floor",
        "",
        ratios(perSecond(unlimited), perSecond(floor)),
        "http_unlimited",
      ),
      medianFigure("product", "answers/s", perSecond(product)),
      medianFigure("product without limits", "answers/s", perSecond(unlimited)),
      medianFigure("floor", "answers/s", perSecond(floor)),
      medianFigure("product p99 ÷ floor p99", "", ratios(p99(product), p99(floor)), "http_p99"),
      medianFigure("product p99", "ms", p99(product)),
      medianFigure("floor p99", "ms", p99(floor)),
      medianFigure("product CPU", "µs/answer", cpuUs(product)),
      medianFigure("floor CPU", "µs/answer", cpuUs(floor)),
      figure("load program", "of a core", cpu),
    ],
  }
}
