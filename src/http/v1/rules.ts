import { writtenMembers } from "../../base/json-members.ts"
import { isJsonObject } from "../../base/untrusted-text.ts"
import { ACCOUNT_RULE_NAMES, type AccountRules } from "../../contract/account-rules.ts"
import type { RulesAnswer } from "../../contract/account-rules-schema.ts"
import { LIMITS } from "../../contract/limits.ts"
import {
  type ParsedRules,
  parseRules,
  readAccountRules,
  setAccountRules,
} from "../../customers/accounts/account-rules.ts"
import type { ChangeLog } from "../../customers/store/change-log/change-log.ts"
import { callerOf, type Exchange } from "../exchange.ts"
import { type BodyReservations, parseJsonBody, readBytes } from "../request/body.ts"
import { invalidKey } from "../request/caller.ts"
import { callerActor } from "../request/caller-actor.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { invalidInput, NOT_AN_OBJECT } from "../response/problem.ts"
import { handlers } from "../router.ts"

type RulesRouteDeps = {
  readonly responses: JsonResponses
  readonly changes: ChangeLog
  readonly loadShedder: BodyReservations
}

/** GET and PUT /v1/rules: what an account recommends instead of the policy. They cost no units. */
export const rulesRoutes = ({ responses, changes, loadShedder }: RulesRouteDeps) => {
  const respond = ({ id, lease }: Exchange, rules: RulesAnswer): Response =>
    responses.serialized(JSON.stringify(rules), id, 200, lease?.headers())
  return handlers({
    getRules: async exchange => respond(exchange, await readRules(changes, exchange)),
    putRules: async exchange => {
      const { request } = exchange
      const rules = readRulesBody(request, await readBytes(request, LIMITS.rulesBodyBytesMax, loadShedder))
      return respond(exchange, await replaceRules(changes, exchange, rules))
    },
  })
}

/** The rules of the caller. Throws `invalid_key` when its account was deleted after its key was looked up. */
export const readRules = async ({ store }: ChangeLog, exchange: Exchange): Promise<RulesAnswer> =>
  rulesAnswer(await readAccountRules(store, callerOf(exchange).account.id))

/** Replaces the rules of the caller, and throws as `readRules` does. */
export async function replaceRules(changes: ChangeLog, exchange: Exchange, rules: AccountRules): Promise<RulesAnswer> {
  const { account, key } = callerOf(exchange)
  const log = { ...changes, actor: callerActor(account.id, key.id) }
  return rulesAnswer((await setAccountRules(log, account.id, rules)) ? rules : null)
}

/** The rules as the API tells them: all that an account can have. Throws `invalid_key` for null, which means that there is no account. */
export function rulesAnswer(rules: AccountRules | null): RulesAnswer {
  if (rules === null) throw invalidKey("This key does not exist.")
  const whole = Object.fromEntries(ACCOUNT_RULE_NAMES.map(rule => [rule, rules[rule] ?? null]))
  return { rules: whole as RulesAnswer["rules"] } // `fromEntries` loses the type of the names
}

/** Throws `invalid_input`. The text is read too, because a name that is written twice is only once in the parsed body. */
function readRulesBody(request: Request, bytes: Uint8Array): AccountRules {
  const body = parseJsonBody(request, bytes)
  if (!isJsonObject(body)) throw invalidInput([NOT_AN_OBJECT])
  if (!isJsonObject(body["rules"])) throw invalidInput([{ pointer: "/rules", detail: NO_RULES }])
  const [written, another] = writtenMembers(new TextDecoder().decode(bytes)).filter(({ name }) => name === "rules")
  if (another !== undefined) throw invalidInput([{ pointer: "/rules", detail: "`rules` is given more than once." }])
  const parsed = parseRules(
    writtenMembers(written?.text ?? "").map(({ name, text }) => [name, JSON.parse(text)] as const),
  )
  return validRules(parsed)
}

/** Throws `invalid_input`. */
export function validRules(parsed: ParsedRules): AccountRules {
  if (parsed.kind === "valid") return parsed.rules
  throw invalidInput([{ pointer: parsed.rule === null ? "/rules" : `/rules/${parsed.rule}`, detail: parsed.message }])
}

const NO_RULES = '`rules` must be an object with all rules, such as {"personal": "block"}. An empty one removes all.'
