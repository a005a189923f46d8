/** @jsxImportSource preact */
import {
  ACCOUNT_RULE_NAMES,
  ACCOUNT_RULES,
  type AccountRule,
  type AccountRules,
} from "../../../contract/account-rules.ts"
import { RECOMMENDATIONS } from "../../../contract/policies.ts"
import { ROUTES } from "../../../contract/routes.ts"
import { parseRules, readAccountRules, setAccountRules } from "../../../customers/accounts/account-rules.ts"
import { Problem } from "../../response/problem.ts"
import { handlers } from "../../router.ts"
import { ownerChanges } from "../attributed-changes.ts"
import type { SignedInUser } from "../guards.ts"
import { flashMessage, withFlash } from "../links.ts"
import type { SiteContext } from "../site-context.ts"
import { FlashMessage, FormError, SelectField } from "../ui/forms.tsx"
import { Panel } from "../ui/panels.tsx"
import { RECOMMENDATION_LABELS } from "../ui/verdict/verdict-words.ts"
import { DashboardLayout } from "./dashboard-layout.tsx"

const RULES_FLASH = { "rules-saved": "Your rules are saved. They hold for the next check." } as const

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
        const pairs = ACCOUNT_RULE_NAMES.flatMap(rule => form.all(rule).map(value => [rule, value] as const))
        const parsed = parseRules(pairs)
        if (parsed.kind === "invalid") {
          const rules = (await readAccountRules(changes.store, user.account.id)) ?? {}
          const page = <RulesPage user={user} rules={rules} flash={null} rejected={parsed} />
          return pages.renderInvalid(page, exchange)
        }
        if (!(await setAccountRules(ownerChanges(site, user), user.account.id, parsed.rules)))
          throw new Problem("not_found", "Your account was deleted a moment ago.")
        return pages.redirect(withFlash(path, "rules-saved"), exchange)
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
  const faultOf = (rule: AccountRule) => (rejected?.rule === rule ? rejected.message : null)
  return (
    <DashboardLayout route="rules" title="Rules" user={user}>
      <FlashMessage message={flash} />
      <FormError message={rejected === undefined ? null : "Nothing was changed. Fix the marked field and try again."} />
      <p class="hint">
        A rule overrides the policy for one kind of address. If several rules match, the strictest one wins. Your block
        and allow lists come first. Invalid addresses are always blocked.{" "}
        <a href={`${ROUTES.docsPolicies.path}#rules`}>How a recommendation is found</a>
      </p>
      <form method="post" action={ROUTES.postRules.path}>
        {(["category", "reason"] as const).map(covers => (
          <Panel key={covers} title={RULE_GROUPS[covers]}>
            <div class="rules">
              {ACCOUNT_RULE_NAMES.filter(rule => ACCOUNT_RULES[rule].covers === covers).map(rule => (
                <SelectField
                  key={rule}
                  name={rule}
                  label={capitalized(ACCOUNT_RULES[rule].about)}
                  options={RULE_OPTIONS}
                  selected={rules[rule] ?? ""}
                  error={faultOf(rule)}
                />
              ))}
            </div>
          </Panel>
        ))}
        <button type="submit">Save rules</button>
      </form>
    </DashboardLayout>
  )
}

const RULE_GROUPS = { category: "Kind of address", reason: "Other signals" } as const

const RULE_OPTIONS = [
  { value: "", label: "As the policy says" },
  ...RECOMMENDATIONS.map(value => ({ value, label: RECOMMENDATION_LABELS[value] })),
]

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
