import type { Command } from "commander"
import { ACCOUNT_RULE_NAMES, type AccountRules } from "../../contract/account-rules.ts"
import {
  changeAccountRules,
  parseRules,
  readAccountRules,
  rulesText,
  rulesVersion,
} from "../../customers/accounts/account-rules.ts"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "../output.ts"
import { type CustomerCommandDeps, namedAccount, type WithCustomers } from "./accounts.ts"

type RulesOptions = { readonly none: boolean; readonly seen?: string; readonly json: boolean }

/** Registers `account rules`. */
export function registerAccountRules(group: Command, output: Output, withCustomers: WithCustomers): void {
  group
    .command("rules")
    .description("Show the rules of an account, or replace all of them.")
    .argument("<email>")
    .argument("[rule...]", "such as personal=block: all rules that it has from now on")
    .option("--none", "take all rules away", false)
    .option("--seen <version>", "replace only the rules with this version, as --json shows it")
    .option(...JSON_FLAG, false)
    .action((email: string, rules: readonly string[], options: RulesOptions) =>
      withCustomers(deps => accountRules(output, deps, email, rules, options)),
    )
}

/** `account rules EMAIL [RULE=RECOMMENDATION... | --none]`. */
async function accountRules(
  output: Output,
  customers: CustomerCommandDeps,
  email: string,
  texts: readonly string[],
  { none: isNone, seen, json: asJson }: RulesOptions,
): Promise<void> {
  if (isNone && texts.length > 0) throw new CommandError("Name rules, or use --none.", 2)
  const wanted = readRules(texts)
  const { id, email: storedEmail } = await namedAccount(customers, email)
  const isChange = isNone || texts.length > 0
  if (seen !== undefined && !isChange) throw new CommandError("--seen needs rules, or --none.", 2)
  if (isChange) assertChanged(await changeAccountRules(customers.changes, id, wanted, seen ?? null))
  const rules = isChange ? wanted : await readAccountRules(customers.changes.store, id)
  if (rules === null) throw new CommandError(DELETED)
  if (asJson) return printJson(output, { id, email: storedEmail, rules, version: rulesVersion(rules) })
  if (rulesText(rules) === "") return output.line(`${storedEmail} has no rules.`)
  printTable(
    output,
    ACCOUNT_RULE_NAMES.flatMap(rule => (rules[rule] === undefined ? [] : [[rule, rules[rule]]])),
  )
}

const DELETED = "The account was deleted a moment ago."

function assertChanged(change: Awaited<ReturnType<typeof changeAccountRules>>): void {
  if (change === "unknown_account") throw new CommandError(DELETED)
  if (change === "changed_meanwhile")
    throw new CommandError(
      "The rules are not those that you saw. Nothing was changed. Show them, and name their version.",
      4,
    )
}

function readRules(texts: readonly string[]): AccountRules {
  const parsed = parseRules(
    texts.map(text => {
      const [name = "", recommendation = "none", ...more] = text.split("=")
      return [name, [recommendation, ...more].join("=")] as const
    }),
  )
  if (parsed.kind === "invalid") throw new CommandError(`Nothing was changed. ${parsed.message}`, 2)
  return parsed.rules
}
