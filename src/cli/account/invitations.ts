import { type Command, Option } from "commander"
import { isoInstant } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import { TIER_MAX } from "../../contract/tiers.ts"
import {
  type InvitationRefusal,
  invitationLink,
  invitationOf,
  invite,
  listInvitations,
  revokeInvitation,
} from "../../customers/sign-in/invitations.ts"
import { addTimeOptions, isWithin, type TimeFlags } from "../list-options.ts"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "../output.ts"
import {
  ACCOUNT_REFUSALS,
  type CustomerCommandDeps,
  describeTier,
  parseTier,
  tierOption,
  type WithCustomers,
} from "./accounts.ts"

/** Registers the commands about invitations in the group `account`. */
export function registerInvitationCommands(group: Command, output: Output, withCustomers: WithCustomers): void {
  group
    .command("invite")
    .description(
      "Invite an address to an account, also while sign-up is closed. Without a mail server the link is printed.",
    )
    .argument("<email>")
    .addOption(tierOption())
    .option(...JSON_FLAG, false)
    .action((email, { tier, json: asJson }) =>
      withCustomers(deps => accountInvite(output, deps, email, tier ?? deps.defaultTier, asJson)),
    )
  addTimeOptions(group.command("invitations").description("List the invitations that are valid now, the latest first."))
    .addOption(new Option("--tier <n>", `only invitations to this tier, 0 to ${TIER_MAX}`).argParser(parseTier))
    .option(...JSON_FLAG, false)
    .action((flags: ListFlags) => withCustomers(deps => accountInvitations(output, deps, flags)))
  group
    .command("uninvite")
    .description("Revoke an invitation.")
    .argument("<id or email>")
    .option(...JSON_FLAG, false)
    .action((name, { json: asJson }) => withCustomers(deps => accountUninvite(output, deps, name, asJson)))
}

const REFUSALS: Readonly<Record<InvitationRefusal, string>> = {
  ...ACCOUNT_REFUSALS,
  too_many_invitations: `There are ${LIMITS.invitationsMax} invitations already. Revoke some, or wait until they end.`,
}

/** `account invite EMAIL [--tier N]`. */
async function accountInvite(
  output: Output,
  { changes, random, baseUrl, mailInvitation }: CustomerCommandDeps,
  email: string,
  tier: number,
  asJson: boolean,
): Promise<void> {
  const result = await invite(changes, random, { email, tier })
  if (result.kind !== "invited")
    throw new CommandError(REFUSALS[result.kind], result.kind === "malformed_email" ? 2 : 1)
  const { id, endsAtMs } = result.invitation
  const link = invitationLink(baseUrl ?? "", result.link)
  const isMailed = (await mailInvitation?.(result.email, link)) ?? false
  const ends = isoInstant(endsAtMs)
  if (asJson) return printJson(output, { id, email: result.email, tier, ends_at: ends, link: isMailed ? null : link })
  if (isMailed) return output.line(`The invitation of ${result.email} is sent (${id}). It ends at ${ends}.`)
  output.line(`The invitation was not emailed. Send this link to ${result.email}. It works once, until ${ends}:`)
  output.line(link)
}

type ListFlags = TimeFlags & { readonly tier?: number; readonly json: boolean }

/** `account invitations`. */
async function accountInvitations(
  output: Output,
  { changes }: CustomerCommandDeps,
  { tier, json: asJson, ...times }: ListFlags,
): Promise<void> {
  const isInTime = isWithin(times, changes.clock())
  const found = (await listInvitations(changes.store, changes.clock)).filter(
    one => (tier === undefined || one.tier === tier) && isInTime(one.createdAtMs),
  )
  const invitations = found.map(one => ({
    ...{ id: one.id, tier: one.tier },
    ...{ created_at: isoInstant(one.createdAtMs), ends_at: isoInstant(one.endsAtMs) },
  }))
  if (asJson) return printJson(output, invitations)
  if (invitations.length === 0) return output.line("There are no invitations.")
  printTable(
    output,
    invitations.map(({ id, tier: number, created_at, ends_at }) => [
      id,
      describeTier(number),
      created_at,
      `ends ${ends_at}`,
    ]),
  )
}

/** `account uninvite ID|EMAIL`. */
async function accountUninvite(
  output: Output,
  { changes }: CustomerCommandDeps,
  name: string,
  asJson: boolean,
): Promise<void> {
  const id = (await invitationOf(changes.store, name)) ?? name
  if (!(await revokeInvitation(changes, id))) throw new CommandError("There is no such invitation.")
  if (asJson) return printJson(output, { revoked: true })
  output.line("The invitation is revoked. Its link does not work any more.")
}
