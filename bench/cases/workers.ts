/**
 * What does a second worker add? `serve --workers 2` is compared with one worker under the same load. The load program needs
 * a part of the workers' cores and empties their caches: beside one worker with a core of its own stands one that shares its
 * core with the load program, as two workers share theirs.
 */

import { availableParallelism } from "node:os"
import { ROUTES } from "../../src/contract/routes.ts"
import { benchAddresses } from "../load/addresses.ts"
import {
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
import { type Figure, figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved, ratios } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { bound, CAN_PIN, startServer } from "../servers/server-process.ts"

/** The scale of a figure that may be told. */
export const WORKERS_FULL: RoundsScale = { connections: 128, rounds: 7, roundS: 2, warmupS: 5 }

/** What is compared: how many workers there are, and whether they and the load program are bound to one core. */
const SUBJECTS = {
  "two workers": { workers: 2, isOnOneCore: false },
  "one worker": { workers: 1, isOnOneCore: false },
  "one worker on one core": { workers: 1, isOnOneCore: true },
} as const
type Subject = keyof typeof SUBJECTS
const SUBJECT_NAMES = Object.keys(SUBJECTS) as readonly Subject[] // the keys are those of SUBJECTS
type Rounds = Readonly<Record<Subject, readonly CheckRound[]>>

const ROUND_WARMUP_S = 0.5

/** Runs the bench. Rejects when an answer is not 200 or a request fails. */
export async function workersBench(scale: RoundsScale): Promise<Report> {
  await using two = await startedWith(SUBJECTS["two workers"].workers)
  await using one = await startedWith(SUBJECTS["one worker"].workers)
  const servers = { "two workers": two, "one worker": one, "one worker on one core": one }
  const bodies = benchAddresses().map(email => JSON.stringify({ email }))
  const measure = async (name: Subject, durationS = scale.roundS, warmupS = ROUND_WARMUP_S): Promise<CheckRound> => {
    const { server, authorization } = servers[name]
    const load = { path: ROUTES.postCheck.path, authorization, bodies }
    const size = { connections: scale.connections, durationS, warmupS }
    if (!SUBJECTS[name].isOnOneCore) return await checkRound(server, load, size)
    using _ = bound(server.pid, "server")
    return await checkRound(server, load, { ...size, loadCore: "server" })
  }
  for (const name of SUBJECT_NAMES) {
    const { server, authorization } = servers[name]
    await checkAnswers(server, { path: ROUTES.postCheck.path, authorization, bodies })
    await measure(name, scale.warmupS, 0)
  }
  return reportOf(scale, await interleaved(SUBJECT_NAMES, scale.rounds, name => measure(name)))
}

/** A server with so many workers and an account of its own. It starts bound to no core: workers take what there is. */
async function startedWith(workers: number) {
  await using stack = new AsyncDisposableStack()
  const directory = stack.use(await emptyDirectory())
  const authorization = `Bearer ${await limitedKey(directory.path)}`
  const environment = { ...productSettings(directory.path), ...HIGH_LIMITS, ...KEEPING_MEMORY }
  const command = [...PRODUCT.source, "--workers", String(workers)] as const
  const server = stack.use(await startServer({ command, environment }))
  const parts = stack.move()
  return { server, authorization, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

/**
 * What workers would answer if the load program cost nothing: as much more as they would have of the cores. Of these each
 * worker can use one, and all together had what the load program left, and no more than they can use.
 */
export function withoutLoad(
  { workers, cores }: { readonly workers: number; readonly cores: number },
  { answersPerSecond, cpuShare }: Pick<CheckRound, "answersPerSecond" | "cpuShare">,
): number {
  const usable = Math.min(workers, cores)
  return (answersPerSecond * usable) / Math.min(usable, cores - cpuShare)
}

function reportOf(scale: RoundsScale, rounds: Rounds): Report {
  const cores = availableParallelism()
  const one = rounds["one worker"]
  const two = rounds["two workers"]
  const freed = (name: Subject): readonly number[] => {
    const { workers, isOnOneCore } = SUBJECTS[name]
    return rounds[name].map(round => withoutLoad({ workers, cores: isOnOneCore ? 1 : cores }, round))
  }
  const figuresOf = (name: Subject): Figure[] => [
    medianFigure(name, "answers/s", perSecond(rounds[name])),
    medianFigure(`${name} without the load's cost`, "answers/s", freed(name)),
    medianFigure(`${name} CPU`, "µs/answer", cpuUs(rounds[name])),
    medianFigure(`${name} p99`, "ms", p99(rounds[name])),
    figure(`load program on ${name}`, "of a core", loadCpu(rounds[name])),
  ]
  return {
    bench: "workers",
    description: [
      "POST /v1/check, secret key of a limited account, full result; DNS off; one worker is `serve --workers 1`, which is plain `serve`",
      describeRounds(scale),
      `${cores} cores, which the load program shares with the workers`,
      "without the load's cost: answers/s × the cores that the workers can use ÷ what the load program left of them",
      CAN_PIN
        ? "one worker on one core is bound to it together with the load program (taskset); the others, and theirs, are bound to none"
        : "nothing can be bound to a core here: one worker on one core is one worker",
      "CPU is that of all processes of the server",
    ],
    figures: [
      medianFigure("two workers ÷ one", "", ratios(perSecond(two), perSecond(one))),
      medianFigure(
        "two workers on two cores ÷ one on one",
        "",
        ratios(perSecond(two), perSecond(rounds["one worker on one core"])),
        "workers_two",
      ),
      medianFigure("two ÷ one without the load's cost", "", ratios(freed("two workers"), freed("one worker"))),
      ...SUBJECT_NAMES.flatMap(figuresOf),
    ],
  }
}
