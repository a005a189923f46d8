import { createAccount } from "../../src/customers/accounts/accounts.ts"
import { suspendAccount } from "../../src/customers/accounts/suspension.ts"
import { recordFeedback } from "../../src/customers/feedback/feedback.ts"
import { createKey } from "../../src/customers/keys/keys.ts"
import type { AttributedLog } from "../../src/customers/store/change-log/change-log.ts"
import { random } from "../customers/temp-store.ts"

/** A task of support, the line of a shell that does it with the program and `jq` alone, and what it prints. */
type SupportTask = {
  readonly task: string
  readonly line: string
  readonly prints: string | RegExp
  /** The variable that the lines after it have the output by. */
  readonly as?: string
}

/** Twenty tasks of a day, in their order. */
export const SUPPORT_DAY: readonly SupportTask[] = [
  {
    task: "Who writes from this company?",
    line: `mailkind account list --search @acme.com --json | jq -r '.[].email'`,
    prints: "sam@acme.com\njane@acme.com",
  },
  {
    task: "Whose key ends so?",
    line: `mailkind account list --search "$LAST4" --json | jq -r '.[].email'`,
    prints: "jane@acme.com",
  },
  {
    task: "What is the state of the account, and does it owe terms?",
    line: `mailkind account show jane@acme.com --json | jq -r '[.state, .tier, .terms.state, .keys.active] | @csv'`,
    prints: '"active",1,"accepted",2',
  },
  {
    task: "How much of today is left?",
    line: `mailkind account usage jane@acme.com --json | jq -c '.today | [.used, .remaining, .rate_limited]'`,
    prints: /^\[0,\d+,0\]$/,
  },
  {
    task: "Give them the next tier.",
    line: `mailkind account tier jane@acme.com 2 --json | jq -c '[.previous_tier, .tier]'`,
    prints: "[1,2]",
  },
  {
    task: "Note down what was agreed.",
    line: `mailkind account note jane@acme.com --add "Tier 2 until May, as agreed." --json | jq -r .note`,
    prints: "Tier 2 until May, as agreed.",
  },
  {
    task: "Which keys were never used?",
    line: `mailkind key list --account jane@acme.com --state active --json | jq -r '.[] | select(.last_used_at == null) | .name'`,
    prints: "Old shop\nShop",
  },
  {
    task: "Find the key of the shop.",
    line: `mailkind key list --account jane@acme.com --search "old shop" --json | jq -r '.[0].id'`,
    prints: /^key_\w+$/,
    as: "KEY",
  },
  {
    task: "Let only the office use it, and a hundred units a day.",
    line: `mailkind key update "$KEY" --network 203.0.113.0/24 --units-per-day 100 --json | jq -c '[.networks, .units_per_day]'`,
    prints: '[["203.0.113.0/24"],100]',
  },
  {
    task: "Take the limit away again.",
    line: `mailkind key update "$KEY" --units-per-day none --json | jq -c '[.networks, .units_per_day]'`,
    prints: '[["203.0.113.0/24"],null]',
  },
  {
    task: "Revoke it, because it leaked.",
    line: `mailkind key revoke "$KEY" --json | jq -r '[.state, .revoked_by] | join(" by ")'`,
    prints: "revoked by admin",
  },
  {
    task: "Suspend whoever sends spam.",
    line: `mailkind account suspend sam@acme.com --reason "We got complaints. Please write to us." --json | jq -r '"\\(.email) \\(.state)"'`,
    prints: "sam@acme.com suspended",
  },
  {
    task: "Who has been suspended longest?",
    line: `mailkind account list --state suspended --json | jq -r 'sort_by(.suspended_at)[0].email'`,
    prints: "old@example.org",
  },
  {
    task: "Let them in again.",
    line: `mailkind account resume old@example.org --json | jq -r '.state'`,
    prints: "active",
  },
  {
    task: "Is a file of new customers right?",
    line: `mailkind account import wrong.csv --dry-run --json 2>&1 | jq -r '.error.errors[] | "line \\(.line): \\(.detail)"'`,
    prints:
      "line 3: This is not an email address.\nline 4: A tier is a number from 0 to 4.\nline 5: An account with this email exists already.",
  },
  {
    task: "Import it when it is.",
    line: `mailkind account import right.csv --json | jq -c '[.created, [.accounts[].tier]]'`,
    prints: "[2,[0,3]]",
  },
  {
    task: "Accept the report that waits longest.",
    line: `mailkind feedback accept "$(mailkind feedback list --status received --json | jq -r '.[-1].id')" --json | jq -r '"\\(.domain) is \\(.correction)"'`,
    prints: "granite-works.com is business",
  },
  {
    task: "Take back terms that were published by mistake.",
    line: `mailkind terms publish --version 2 --url https://acme.example/terms --material --json > /dev/null && mailkind terms withdraw 2 --json | jq -c '[.changed, .accounts_mailed]'`,
    prints: "[true,0]",
  },
  {
    task: "Hand out what is stored about somebody, and delete it.",
    line: `mailkind account export old@example.org | jq -r '.account.email' && mailkind account delete old@example.org --yes --json | jq .deleted`,
    prints: "old@example.org\ntrue",
  },
  {
    task: "What was changed today, and by whom?",
    line: `mailkind audit --since 1h --json | jq -rs 'map(select(.source == "command")) | group_by(.act) | map("\\(.[0].act) \\(length)") | join(", ")'`,
    prints:
      "account_created 2, account_deleted 1, account_resumed 1, account_suspended 1, key_limited 2, key_revoked 1, note_changed 1, report_accepted 1, terms_published 1, terms_withdrawn 1, tier_set 1",
  },
]

/** The files that lie where the commands run. */
export const SUPPORT_FILES = {
  "wrong.csv": "email,tier\nnew@acme.com,1\nno address,1\nother@acme.com,9\nJane@acme.com,1\n",
  "right.csv": "email,tier\nnew@acme.com,0\nother@acme.com,3\n",
} as const

const DAY_MS = 86_400_000

/** Writes what was there before that day, and gives the variable of the first lines: how a key of Jane ends. */
export async function prepareSupportDay(changes: AttributedLog, nowMs: number): Promise<{ readonly LAST4: string }> {
  const days = (ago: number): AttributedLog => ({ ...changes, clock: () => nowMs - ago * DAY_MS })
  const create = async (ago: number, email: string) => {
    const creation = await createAccount(days(ago), random, { email, tier: 1, termsVersion: null })
    if (creation.kind !== "created") throw new Error(creation.kind)
    return creation.account.id
  }
  const old = await create(9, "old@example.org")
  await suspendAccount(days(8), old, "")
  const jane = await create(7, "jane@acme.com")
  await create(6, "sam@acme.com")
  const ends: string[] = []
  for (const [ago, name] of [
    [5, "Shop"],
    [4, "Old shop"],
  ] as const) {
    const made = await createKey(days(ago), random, { accountId: jane, kind: "secret", name, origins: [] })
    if (made.kind !== "created") throw new Error(made.kind)
    ends.push(made.key.last4)
  }
  for (const [ago, domain] of [
    [3, "granite-works.com"],
    [2, "slate-works.com"],
  ] as const) {
    const report = { accountId: jane, domain, roleWord: null, comment: null }
    await recordFeedback(days(ago), random, { ...report, currentCategory: "unknown", reportedCategory: "business" })
  }
  return { LAST4: ends[0] ?? "" }
}
