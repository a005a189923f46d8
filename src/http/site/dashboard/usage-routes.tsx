/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { ROUTES } from "../../../contract/routes.ts"
import type { Usage } from "../../../contract/usage-schema.ts"
import type { HeldAccount } from "../../../customers/keys/held-keys.ts"
import { listKeys } from "../../../customers/keys/keys.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import { keyUsages } from "../../../customers/usage/key-usage.ts"
import type { UsageMeter } from "../../../customers/usage/usage-meter.ts"
import type { Assets } from "../assets.ts"
import type { Entrances } from "../signed-in.ts"
import { type ChartFiles, UsagePage } from "./usage-page.tsx"

/** What the page of usage is built from. */
export type UsageRoutesNeeds = {
  readonly enter: Entrances
  readonly files: Assets
  readonly changes: ChangeLog
  readonly usage: UsageMeter
  readonly usageOf: (account: HeldAccount) => Promise<Usage>
}

/** Of how many keys the page tells the names. */
const KEYS_NAMED_MAX = 1000

/** The page of an account's usage: the numbers of GET /v1/usage, and those of each key. */
export function usageRoutes({ enter, files, changes: { store, clock }, usage, usageOf }: UsageRoutesNeeds) {
  return new Elysia({ normalize: false }).get(ROUTES.usage.path, ({ request }) =>
    enter.account.page(request, async visitor => {
      const { id } = visitor.account
      const told = await usageOf(visitor.account)
      const byKey = await keyUsages(usage, clock, id)
      const keys = await listKeys(store, id, KEYS_NAMED_MAX)
      return <UsagePage visitor={visitor} usage={told} keyUsages={byKey} keys={keys} files={await chartFiles(files)} />
    }),
  )
}

async function chartFiles({ path }: Assets): Promise<ChartFiles> {
  const [page, chart, styles] = await Promise.all([path("usage-chart.js"), path("uplot.js"), path("uplot.css")])
  return { page, chart, styles }
}
