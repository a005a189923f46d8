import { type Command, Option } from "commander"
import { isoInstant } from "../base/time.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import {
  type ActQuery,
  AUDIT_ACTS,
  type AuditActKind,
  listActsSince,
  type RecordedAct,
} from "../customers/audit/audit.ts"
import { type CustomerCommandDeps, namedAccount, type WithCustomers } from "./account/accounts.ts"
import { addTimeOptions, type TimeFlags, timeRange } from "./list-options.ts"
import type { Output } from "./output.ts"

/** How many entries are read at once. */
const PAGE_SIZE = 500

type AuditFlags = TimeFlags & {
  readonly account?: string
  readonly by?: string
  readonly act?: AuditActKind
  readonly json: boolean
}

/** Registers `audit`. */
export function registerAuditCommand(root: Command, output: Output, withCustomers: WithCustomers): void {
  addTimeOptions(root.command("audit").description("Print who changed what, the oldest entry first."))
    .option("--account <account>", "only by or about this account, by its email or id")
    .option("--by <who>", "only by this account, also as its id, or by this user of the operating system")
    .addOption(new Option("--act <kind>", "only acts of this kind").choices(Object.keys(AUDIT_ACTS)))
    .option("--json", "print one JSON object per line", false)
    .action((flags: AuditFlags) => withCustomers(deps => printAudit(output, deps, flags)))
}

async function printAudit(output: Output, deps: CustomerCommandDeps, flags: AuditFlags): Promise<void> {
  const { store, clock } = deps.changes
  const { fromMs, toMs } = timeRange(flags, clock())
  const query: ActQuery = {
    sinceMs: fromMs,
    untilMs: toMs,
    accountId: flags.account === undefined ? null : await accountIdOf(deps, flags.account),
    kind: flags.act ?? null,
    ...(flags.by === undefined
      ? {}
      : { actorId: flags.by.includes("@") ? await accountIdOf(deps, flags.by) : flags.by }),
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
  account.startsWith("acc_") ? account : (await namedAccount(deps, account)).id

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
