/** @jsxImportSource preact */
import { capitalized } from "../../../base/text.ts"
import {
  ACCOUNT_RULE_NAMES,
  ACCOUNT_RULES,
  type AccountRule,
  type AccountRules,
  RULE_OF_FLOOR,
} from "../../../contract/account-rules.ts"
import { CATEGORY_NAMES } from "../../../contract/categories.ts"
import {
  POLICIES,
  POLICY_NAMES,
  type Policy,
  RECOMMENDATION_FLOORS,
  RECOMMENDATIONS,
  type Recommendation,
  type RecommendationFloor,
} from "../../../contract/policies.ts"
import { REASONS } from "../../../contract/reasons.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { parseRules, readAccountRules, setAccountRules } from "../../../customers/accounts/account-rules.ts"
import { Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { ownerChanges } from "../attributed-changes.ts"
import type { SignedInUser } from "../guards.ts"
import { flashMessage, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { FlashMessage, FormError, Select } from "../ui/forms.tsx"
import { Panel } from "../ui/panels.tsx"
import { type CellColumn, RowTable } from "../ui/table.tsx"
import { RECOMMENDATION_LABELS } from "../ui/verdict/verdict-words.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"

const RULES_FLASH = {
  "rules-saved": "Your rules are saved. They hold for the next check.",
  "rules-reset": "All rules are reset. The policy decides again.",
} as const

/** The rules of the account, and the form that replaces them. */
export function rulesPageRoutes(site: SiteContext) {
  const { pages, guards, changes } = site
  const { path } = ROUTES.rules
  return handlers({
    rules: exchange =>
      guards.requireAccount.page(exchange, async user => {
        const rules = (await readAccountRules(changes.store, user.account.id)) ?? {}
        return <RulesPage user={user} rules={rules} flash={flashMessage(exchange.request.url, RULES_FLASH)} />
      }),
    postRules: exchange =>
      guards.requireAccount.form(exchange, async (user, form) => {
        const isReset = form.text("reset") === "yes"
        const pairs = isReset
          ? []
          : ACCOUNT_RULE_NAMES.flatMap(rule => form.all(rule).map(value => [rule, value] as const))
        const parsed = parseRules(pairs)
        if (parsed.kind === "invalid") {
          const rules = (await readAccountRules(changes.store, user.account.id)) ?? {}
          const page = <RulesPage user={user} rules={rules} flash={null} rejected={parsed} />
          return pages.renderInvalid(page, exchange)
        }
        if (!(await setAccountRules(ownerChanges(site, user), user.account.id, parsed.rules)))
          throw new Problem("not_found", "Your account was deleted a moment ago.")
        return pages.redirect(withFlash(path, isReset ? "rules-reset" : "rules-saved"), exchange)
      }),
  })
}

type RulesPageProps = {
  readonly user: SignedInUser
  readonly rules: AccountRules
  readonly flash: string | null
  /** What is wrong with the rules that were sent. Absent: nothing, or none were sent. */
  readonly rejected?: { readonly rule: AccountRule | null; readonly message: string }
}

function RulesPage({ user, rules, flash, rejected }: RulesPageProps) {
  const columns = ruleColumns(rules, rule => (rejected?.rule === rule ? rejected.message : null))
  return (
    <DashboardLayout route="rules" title="Rules" user={user}>
      <FlashMessage message={flash} />
      <FormError message={rejected === undefined ? null : "Nothing was changed. Fix the marked field and try again."} />
      <p class="hint">
        A rule overrides the policy of a request. If several rules match, the strictest one wins.{" "}
        <a href={`${ROUTES.docsPolicies.path}#rules`}>How we decide</a>
      </p>
      <form method="post" action={ROUTES.postRules.path}>
        {(["category", "reason"] as const).map(covers => (
          <Panel key={covers} title={RULE_GROUPS[covers]}>
            <RowTable
              caption={RULE_GROUPS[covers]}
              columns={columns}
              rows={ACCOUNT_RULE_NAMES.filter(rule => ACCOUNT_RULES[rule].covers === covers)}
            />
          </Panel>
        ))}
        <div class="actions">
          <button type="submit">Save rules</button>
          {Object.keys(rules).length === 0 ? null : (
            <button type="submit" name="reset" value="yes" class="quiet">
              Reset all
            </button>
          )}
        </div>
      </form>
    </DashboardLayout>
  )
}

const RULE_GROUPS = { category: "Kind of address", reason: "Other signals" } as const

/** What a rule is about, what each policy says without it, and the field of the rule. */
const ruleColumns = (
  rules: AccountRules,
  faultOf: (rule: AccountRule) => string | null,
): readonly CellColumn<AccountRule>[] => [
  {
    ...{ name: "Rule for", kind: "text" },
    cell: rule => [
      <label key="label" for={rule}>
        {capitalized(ACCOUNT_RULES[rule].about)}
      </label>,
      rules[rule] === undefined || POLICY_NAMES.every(policy => policySays(policy, rule) === rules[rule]) ? null : (
        <span key="changed" class="pill changed">
          Changed
        </span>
      ),
    ],
  },
  ...POLICY_NAMES.map(
    (policy): CellColumn<AccountRule> => ({
      ...{ name: policy, kind: "time", onPhone: "labelled" },
      cell: rule => (
        <span class={`advice ${policySays(policy, rule)}`}>{RECOMMENDATION_LABELS[policySays(policy, rule)]}</span>
      ),
    }),
  ),
  {
    ...{ name: "Your rule", kind: "actions", onPhone: "first" },
    cell: rule => <Select name={rule} options={RULE_OPTIONS} selected={rules[rule] ?? ""} error={faultOf(rule)} />,
  },
]

/** What a policy recommends for an address that only this rule could be about. */
function policySays(policy: Policy, rule: AccountRule): Recommendation {
  const floor = FLOORS.find(name => RULE_OF_FLOOR[name] === rule)
  if (floor !== undefined) return RECOMMENDATION_FLOORS[floor][policy]
  const category = rule === "free_subdomain" ? REASONS[rule].decides : CATEGORY_NAMES.find(name => name === rule)
  return category === undefined ? "allow" : POLICIES[policy][category]
}

const FLOORS = Object.keys(RECOMMENDATION_FLOORS) as RecommendationFloor[] // the keys of a table are its type's

const RULE_OPTIONS = [
  { value: "", label: "No rule" },
  ...RECOMMENDATIONS.map(value => ({ value, label: RECOMMENDATION_LABELS[value] })),
]
