import type { Command } from "commander"
import { isoInstant } from "../base/time.ts"
import { countAccounts } from "../customers/accounts/accounts.ts"
import {
  acceptTerms,
  countUnaccepted,
  listTerms,
  type NewTerms,
  publishTerms,
  type Terms,
  type TermsPublication,
  withdrawTerms,
} from "../customers/terms/terms.ts"
import { noticeEndsAtMs } from "../customers/terms/terms-notices.ts"
import { type CustomerCommandDeps, namedAccount, type WithCustomers } from "./account/accounts.ts"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"

/** Registers the commands about terms. */
export function registerTermsCommands(root: Command, output: Output, withCustomers: WithCustomers): void {
  const group = root.command("terms").description("The terms that accounts agree to.")
  group
    .command("publish")
    .description("Publish a version of the terms.")
    .requiredOption("--version <version>", "its name: letters, digits, dots, dashes, underscores")
    .requiredOption("--url <url>", "where people can read it")
    .option("--material", "accounts must accept it", false)
    .option(...JSON_FLAG, false)
    .action(({ version, url, material, json: asJson }) =>
      withCustomers(deps => termsPublish(output, deps, { version, url, isMaterial: material }, asJson)),
    )
  group
    .command("withdraw")
    .description(
      "Withdraw the current terms while accounts still have time to accept them. The terms before them hold again.",
    )
    .argument("<version>")
    .option(...JSON_FLAG, false)
    .action((version, { json: asJson }) => withCustomers(deps => termsWithdraw(output, deps, version, asJson)))
  group
    .command("show")
    .description("Show every version, newest first, and how many accounts have not accepted.")
    .option(...JSON_FLAG, false)
    .action(({ json: asJson }) => withCustomers(deps => termsShow(output, deps, asJson)))
  group
    .command("accept")
    .description("Accept the current terms for an account that agreed in another way.")
    .requiredOption("--account <account>", "whose account: its email or its id")
    .option(...JSON_FLAG, false)
    .action(({ account, json: asJson }) => withCustomers(deps => termsAccept(output, deps, account, asJson)))
}

/** `terms publish --version V --url U [--material]`: idempotent. Tells how many accounts no mail about material terms reaches. */
export async function termsPublish(
  output: Output,
  { changes }: CustomerCommandDeps,
  wanted: NewTerms,
  asJson: boolean,
): Promise<void> {
  const published = await publishTerms(changes, wanted)
  if (published.kind !== "published")
    throw new CommandError(PUBLICATION_REFUSALS[published.kind], published.kind === "version_taken" ? 1 : 2)
  const { terms, isNew } = published
  const counts = terms.isMaterial ? await countAccounts(changes.store) : { all: 0, mailable: 0 }
  const unmailableCount = counts.all - counts.mailable
  if (asJson)
    return printJson(output, {
      ...termsJson(terms),
      ...(unmailableCount > 0 && { accounts_without_mail: unmailableCount }),
    })
  output.line(
    `Version ${terms.version} ${isNew ? "is published" : `was published ${isoInstant(terms.publishedAtMs)}`}.`,
  )
  if (terms.isMaterial) output.line(`Accounts must accept it before ${isoInstant(noticeEndsAtMs(terms))}.`)
  if (unmailableCount > 0)
    output.line(
      `${unmailableCount === 1 ? "1 account has" : `${unmailableCount} accounts have`} no address that gets mail (such as owner@localhost) and will not hear of it. Tell their owners, or accept it for them with \`terms accept\`.`,
    )
}

const PUBLICATION_REFUSALS: { readonly [K in Exclude<TermsPublication["kind"], "published">]: string } = {
  version_taken: "This version exists already, with other terms or withdrawn. Choose another version.",
  bad_version: "A version has 1 to 40 letters, digits, dots, dashes and underscores.",
  bad_url: "The URL of terms must begin with http:// or https://.",
}

/** `terms withdraw VERSION`: idempotent. Tells how many accounts were mailed about the terms. */
async function termsWithdraw(
  output: Output,
  { changes }: CustomerCommandDeps,
  version: string,
  asJson: boolean,
): Promise<void> {
  const result = await withdrawTerms(changes, version)
  switch (result.kind) {
    case "unknown_version":
      throw new CommandError("There is no such version. `terms show` shows all.")
    case "in_force":
      throw new CommandError(`Version ${version} holds already. To change it, publish another version.`)
    case "superseded":
      throw new CommandError(
        `Version ${result.terms.version} was published after it. Only the current terms can be withdrawn.`,
      )
    case "withdrawn": {
      const { terms, isNew, notifiedCount } = result
      if (asJson) return printJson(output, { ...termsJson(terms), changed: isNew, accounts_mailed: notifiedCount })
      output.line(`Version ${version} ${isNew ? "is withdrawn" : `was withdrawn ${isoInstant(terms.withdrawnAtMs)}`}.`)
      if (notifiedCount > 0)
        output.line(
          `${notifiedCount === 1 ? "1 account was" : `${notifiedCount} accounts were`} mailed about it. Tell their owners that it does not hold.`,
        )
    }
  }
}

/** `terms show`: all versions, and how many accounts have yet to accept material ones. */
export async function termsShow(output: Output, { changes }: CustomerCommandDeps, asJson: boolean): Promise<void> {
  const terms = await listTerms(changes.store)
  const unaccepted = await countUnaccepted(changes.store)
  if (asJson) return printJson(output, { versions: terms.map(termsJson), accounts_to_accept: unaccepted })
  if (terms.length === 0) return output.line("No terms are published.")
  printTable(
    output,
    terms.map(({ version, isMaterial, publishedAtMs, withdrawnAtMs, url }) => [
      version,
      withdrawnAtMs !== undefined ? "withdrawn" : isMaterial ? "material" : "not material",
      isoInstant(publishedAtMs),
      url,
    ]),
  )
  output.line(`${unaccepted === 1 ? "1 account" : `${unaccepted} accounts`} must still accept material terms.`)
}

/** `terms accept --account EMAIL`: says so when there is nothing to accept, which is no failure. */
export async function termsAccept(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  asJson: boolean,
): Promise<void> {
  const account = await namedAccount(customers, email)
  const result = await acceptTerms(customers.changes, account.id)
  if (result.kind === "unknown_account") throw new CommandError("The account was deleted a moment ago.")
  const { version, acceptedAt } =
    result.kind === "accepted"
      ? { version: result.terms.version, acceptedAt: isoInstant(result.acceptedAtMs) }
      : { version: null, acceptedAt: null }
  if (asJson) return printJson(output, { id: account.id, email: account.email, version, accepted_at: acceptedAt })
  if (version === null) return output.line("No terms are published.")
  output.line(`${account.email} has accepted version ${version}, on ${acceptedAt}.`)
}

const termsJson = ({ version, url, isMaterial, publishedAtMs, withdrawnAtMs }: Terms) => ({
  version,
  url,
  is_material: isMaterial,
  published_at: isoInstant(publishedAtMs),
  withdrawn_at: isoInstant(withdrawnAtMs ?? null),
})
