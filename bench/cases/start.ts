/** How long does the server take from the start of its process to the first healthy answer? */

import { sendRequest } from "../load/ask.ts"
import { medianFigure, type Report } from "../report/report.ts"
import { interleaved } from "../report/rounds.ts"
import { emptyDirectory, PRODUCT, productSettings } from "../servers/product.ts"
import { type Program, startServer } from "../servers/server-process.ts"

/** How much the bench does: so many fresh processes of each kind. */
export type StartScale = { readonly rounds: number }

/** The scale of a figure that may be told. */
export const START_FULL: StartScale = { rounds: 9 }

/** What is started: its name in the table, and its command. */
export type Starters = Readonly<Record<string, Program["command"] | null>>

/** Runs the bench on each command, in an empty directory and in one where it has run before. A null command is told as not built. */
export async function startBench(scale: StartScale, starters: Starters = PRODUCT): Promise<Report> {
  await using warm = await emptyDirectory()
  const measures = new Map<string, () => Promise<number>>()
  for (const [name, command] of Object.entries(starters)) {
    if (command === null) continue
    await millisecondsOf(command, warm.path)
    measures.set(`${name}, empty directory`, async () => {
      await using empty = await emptyDirectory()
      return await millisecondsOf(command, empty.path)
    })
    measures.set(`${name}, warm directory`, () => millisecondsOf(command, warm.path))
  }
  const rounds = await interleaved([...measures.keys()], scale.rounds, name => measures.get(name)?.() ?? Number.NaN)
  const missing = Object.keys(starters).filter(name => starters[name] === null)
  return {
    bench: "start",
    description: [
      `from the start of the process to 200 on /v1/health; ${scale.rounds} fresh processes each, in turn`,
      ...missing.map(name => `${name}: not built (bun run build)`),
    ],
    figures: Object.entries(rounds).map(([name, values]) => medianFigure(name, "ms", values, "start")),
  }
}

async function millisecondsOf(command: Program["command"], directory: string): Promise<number> {
  const startedAt = performance.now()
  await using server = await startServer({ command, environment: productSettings(directory) })
  const { status } = await sendRequest({ method: "GET", url: new URL("/v1/health", server.url), headers: {}, body: "" })
  const tookMs = performance.now() - startedAt
  if (status !== 200) throw new Error(`the server started, but its health is ${status}`)
  return tookMs
}
