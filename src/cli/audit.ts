import { type Command, InvalidArgumentError, Option } from "commander"
import { DAY_MS, HOUR_MS, isoInstant, parseInstant } from "../base/time.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import {
  type ActQuery,
  AUDIT_ACTS,
  type AuditActKind,
  listActsSince,
  type RecordedAct,
} from "../customers/audit/audit.ts"
import { accountByEmail, type CustomerCommandDeps, type WithCustomers } from "./accounts.ts"
import type { Output } from "./output.ts"

/** How many entries are read at once. */
const PAGE_SIZE = 500

type AuditFlags = {
  readonly since?: (nowMs: number) => number
  readonly account?: string
  readonly act?: AuditActKind
  readonly json: boolean
}

/** Registers `audit`. */
export function registerAuditCommand(root: Command, output: Output, withCustomers: WithCustomers): void {
  root
    .command("audit")
    .description("Print who changed what, the oldest entry first.")
    .option("--since <when>", "only from then on: 7d, 12h, 2027-01-31 or 2027-01-31T12:00:00Z", parseSince)
    .option("--account <email>", "only by or about this account, also as its id (acc_…)")
    .addOption(new Option("--act <kind>", "only acts of this kind").choices(Object.keys(AUDIT_ACTS)))
    .option("--json", "print one JSON object per line", false)
    .action((flags: AuditFlags) => withCustomers(deps => printAudit(output, deps, flags)))
}

/** An instant, or a time before now. */
function parseSince(text: string): (nowMs: number) => number {
  const [, count = "", unit = ""] = /^(\d{1,5})([dh])$/.exec(text) ?? []
  if (unit !== "") return nowMs => nowMs - Number(count) * (unit === "d" ? DAY_MS : HOUR_MS)
  const atMs = parseInstant(text)
  if (atMs === null) throw new InvalidArgumentError("Use 7d, 12h, 2027-01-31 or 2027-01-31T12:00:00Z.")
  return () => atMs
}

async function printAudit(output: Output, deps: CustomerCommandDeps, flags: AuditFlags): Promise<void> {
  const { store, clock } = deps.changes
  const query: ActQuery = {
    sinceMs: flags.since?.(clock()) ?? 0,
    accountId: flags.account === undefined ? null : await accountIdOf(deps, flags.account),
    kind: flags.act ?? null,
  }
  const textOf = flags.json ? jsonLine : textLine
  for (let last: RecordedAct | null = null; ; ) {
    const page: readonly RecordedAct[] = await listActsSince(store, query, last, PAGE_SIZE)
    for (const act of page) output.line(textOf(act))
    last = page.at(-1) ?? null
    if (page.length < PAGE_SIZE) return
  }
}

/** Deleted accounts are known by their ids alone. */
const accountIdOf = async (deps: CustomerCommandDeps, account: string): Promise<string> =>
  account.startsWith("acc_") ? account : (await accountByEmail(deps, account)).id

const jsonLine = ({ kind, accountId, details, actorKind, actorId, source, keyId, atMs }: RecordedAct): string =>
  JSON.stringify({
    at: isoInstant(atMs),
    act: kind,
    account_id: accountId,
    details,
    actor: actorKind,
    actor_id: actorId === "" ? null : actorId,
    source,
    key_id: keyId,
  })

function textLine({ kind, accountId, details, actorKind, actorId, keyId, atMs }: RecordedAct): string {
  const about = [accountId, details].filter(part => part !== null && part !== "").join(" ")
  const by = [actorKind, actorId, keyId].filter(part => part !== null && part !== "").join(" ")
  return `${isoInstant(atMs)}  ${kind}  ${escapeControls(about || "–")}  by ${escapeControls(by)}`
}
