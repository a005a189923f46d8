import { type Static, Type as t } from "@sinclair/typebox"
import { ACCOUNT_RULE_NAMES, ACCOUNT_RULES, type AccountRule } from "./account-rules.ts"
import { RecommendationSchema } from "./result-schema.ts"
import { describedAs } from "./schema-parts.ts"

/** How a rule of the API is written: a recommendation, or nothing. */
const ruleSchema = (rule: AccountRule) => describedAs(t.Union([RecommendationSchema, t.Null()]), `What is recommended for ${ACCOUNT_RULES[rule].about}. Null: the policy decides.`)

const rulesSchemas = Object.fromEntries(ACCOUNT_RULE_NAMES.map(rule => [rule, ruleSchema(rule)])) as {
  readonly [R in AccountRule]: ReturnType<typeof ruleSchema> // `fromEntries` loses the type of the names
}

const WHOLE = "All rules of the account. Each stands above the policy of a request and below own lists."

/** Response of GET and PUT /v1/rules. */
export const RulesAnswer = t.Object({ rules: t.Object(rulesSchemas, { $id: "AccountRules", additionalProperties: false, description: WHOLE }) }, { $id: "RulesAnswer", additionalProperties: false })
export type RulesAnswer = Static<typeof RulesAnswer>

/** Body of PUT /v1/rules. Unknown members are ignored, but not those of `rules`. */
export const RulesBody = t.Object(
  {
    rules: t.Partial(t.Object(rulesSchemas), {
      $id: "WantedRules",
      additionalProperties: false,
      description: "All rules that the account has from now on. What is absent or null has none.",
    }),
  },
  { $id: "RulesBody" },
)
