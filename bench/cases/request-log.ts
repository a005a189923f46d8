/**
 * What does the request log cost? The product logs every request for its account, or none: two servers with the same
 * settings but that one are loaded in turn by the same program with the same requests, and their processor time is compared.
 */

import { join } from "node:path"
import { ROUTES } from "../../src/contract/routes.ts"
import { openSqlite } from "../../src/customers/store/sqlite-store.ts"
import { createSystem } from "../../src/system/system.ts"
import { benchAddresses } from "../load/addresses.ts"
import {
  type CheckLoad,
  type CheckRound,
  checkAnswers,
  checkRound,
  cpuUs,
  describeRounds,
  loadCpu,
  perSecond,
  type RoundsScale,
} from "../load/check-rounds.ts"
import { figure, medianFigure, type Report } from "../report/report.ts"
import { interleaved, ratios } from "../report/rounds.ts"
import { HIGH_LIMITS, limitedKey } from "../servers/accounts.ts"
import { emptyDirectory, KEEPING_MEMORY, PRODUCT, productSettings } from "../servers/product.ts"
import { CAN_PIN, type Program, startServer } from "../servers/server-process.ts"

/** The scale of a figure that may be told. */
export const REQUEST_LOG_FULL: RoundsScale = { connections: 64, rounds: 15, roundS: 1, warmupS: 4 }

const ROUND_WARMUP_S = 0.3
const SETTINGS = ["on", "off"] as const
type Setting = (typeof SETTINGS)[number]

/** Runs the bench. Rejects when an answer is not 200, or when the log does not hold what the setting says. */
export async function requestLogBench(
  scale: RoundsScale,
  command: Program["command"] = PRODUCT.source,
): Promise<Report> {
  await using directory = await emptyDirectory()
  await using otherDirectory = await emptyDirectory()
  const paths = { on: directory.path, off: otherDirectory.path }
  const bodies = benchAddresses().map(email => JSON.stringify({ email }))
  const load = async (setting: Setting): Promise<CheckLoad> => ({
    path: ROUTES.postCheck.path,
    authorization: `Bearer ${await limitedKey(paths[setting])}`,
    bodies,
  })
  const loads = { on: await load("on"), off: await load("off") }
  const start = (setting: Setting) =>
    startServer({
      command,
      environment: {
        ...productSettings(paths[setting]),
        ...HIGH_LIMITS,
        ...KEEPING_MEMORY,
        MAILKIND_REQUEST_LOG: setting,
      },
      core: "server",
    })
  await using on = await start("on")
  await using off = await start("off")
  const servers = { on, off }
  for (const setting of SETTINGS) await checkAnswers(servers[setting], loads[setting])
  const measure = (setting: Setting, durationS = scale.roundS, warmupS = ROUND_WARMUP_S): Promise<CheckRound> =>
    checkRound(servers[setting], loads[setting], { connections: scale.connections, durationS, warmupS })
  for (const setting of SETTINGS) await measure(setting, scale.warmupS, 0)
  const rounds = await interleaved(SETTINGS, scale.rounds, setting => measure(setting))
  const rows = { on: await rowCount(paths.on), off: await rowCount(paths.off) }
  if (rows.on === 0 || rows.off > 0) throw new Error(`the logs hold ${rows.on} and ${rows.off} requests`)
  return reportOf(scale, rounds, rows.on)
}

async function rowCount(directory: string): Promise<number> {
  const store = await openSqlite(join(directory, "mailkind.sqlite"), createSystem().clock)
  try {
    return (await store.one<{ count: number }>("SELECT COUNT(*) AS count FROM request_log"))?.count ?? 0
  } finally {
    await store.close()
  }
}

type Rounds = Readonly<Record<Setting, readonly CheckRound[]>>

const reportOf = (scale: RoundsScale, { on, off }: Rounds, rows: number): Report => ({
  bench: "requests",
  description: [
    "POST /v1/check, secret key of a limited account, full result, DNS off; the request log on and off",
    describeRounds(scale),
    CAN_PIN ? "servers bound to core 0, load to core 1 (taskset)" : "not bound to cores",
    `the log held ${rows} requests in the end; what arrives beyond 500 a second is counted, not logged`,
  ],
  figures: [
    medianFigure("CPU an answer, on ÷ off", "", ratios(cpuUs(on), cpuUs(off)), "requests_logged"),
    medianFigure("CPU, on", "µs/answer", cpuUs(on)),
    medianFigure("CPU, off", "µs/answer", cpuUs(off)),
    medianFigure("on", "answers/s", perSecond(on)),
    medianFigure("off", "answers/s", perSecond(off)),
    figure("load program", "of a core", loadCpu(on, off)),
  ],
})
