/** @jsxImportSource preact */

import { utcDay } from "../../../../base/time.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { createKeyOnce, isIdempotencyKey, newIdempotencyKey } from "../../../../customers/keys/idempotent-creation.ts"
import { type ChangeRefusal, changeOrigins, changeRestrictions } from "../../../../customers/keys/key-changes.ts"
import { type KeyLimitCeiling, NO_CEILING } from "../../../../customers/keys/key-restrictions.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import { type ApiKey, findKey, listKeys, renameKey, revokeKey } from "../../../../customers/keys/keys.ts"
import type { ChangeLog } from "../../../../customers/store/change-log/change-log.ts"
import { checkedCount, readUsageHistory, sumFigures } from "../../../../customers/usage/usage-history.ts"
import type { Exchange } from "../../../exchange.ts"
import { Problem } from "../../../response/problem.ts"
import { handlers } from "../../../router.ts"
import { ownerChanges } from "../../attributed-changes.ts"
import type { SubmittedForm } from "../../form-body.ts"
import type { SignedInUser } from "../../guards.ts"
import { flashMessage, pathWithId, withFlash } from "../../links.ts"
import type { SiteContext } from "../../site-context.ts"
import { daysOf } from "../overview/usage-figures.ts"
import {
  emptyKeyForm,
  type KeyFormError,
  type KeyFormRefusal,
  type KeyFormValues,
  keyFormError,
  parseNewKey,
  readKeyForm,
  splitOrigins,
} from "./key-form.ts"
import { KEY_FLASH, KeyPage, type KeyPageFault } from "./key-page.tsx"
import { CHECKS_DAYS, KEYS_DISPLAYED_MAX, KeysPage } from "./keys-page.tsx"
import { CreatedKeyPage, KeyCreatedBeforePage, NewKeyPage } from "./new-key-page.tsx"
import { readRestrictions, restrictionsOf } from "./restriction-fields.tsx"

/** The account's keys: the list, the form for a new key, and a page for each key. */
export function keysPageRoutes(site: SiteContext) {
  const { guards, random } = site
  return handlers({
    keys: exchange =>
      guards.requireAccount.page(exchange, async user => (
        <KeysPage
          user={user}
          keys={await readKeys(site, user)}
          checks={await readChecks(site, user)}
          nowMs={site.clock()}
        />
      )),
    newKey: exchange =>
      guards.requireAccount.page(exchange, user =>
        newKeyPage(site, user, emptyKeyForm(newIdempotencyKey(random)), null),
      ),
    postKey: exchange =>
      guards.requireAccount.form(exchange, (user, form) => handleCreateKey(site, exchange, user, form)),
    ...keyPageRoutes(site),
  })
}

async function readKeys({ usageOf, changes }: SiteContext, { account }: SignedInUser): Promise<readonly ApiKey[]> {
  // The usage comes first: reading it writes when keys were last used.
  await usageOf(account)
  return await listKeys(changes.store, account.id, KEYS_DISPLAYED_MAX)
}

/** How many checks each key made lately. */
async function readChecks({ usage, clock }: SiteContext, { account }: SignedInUser) {
  const ofKeys = Map.groupBy(await readUsageHistory(usage, clock, account.id, CHECKS_DAYS), ({ keyId }) => keyId)
  return new Map([...ofKeys].map(([id, own]) => [id, checkedCount(sumFigures(own))] as const))
}

async function newKeyPage(site: SiteContext, user: SignedInUser, values: KeyFormValues, error: KeyFormError | null) {
  const nowMs = site.clock()
  const active = (await readKeys(site, user)).filter(key => isUsableKey(key, nowMs))
  const form = { values, error, ceiling: ceilingOfAccount(site, user), nowMs }
  return <NewKeyPage user={user} {...form} isAtLimit={active.length >= LIMITS.keysPerAccountMax} />
}

/** The limits of the user's account, which those of a key have to be below. */
const ceilingOfAccount = ({ tiers }: SiteContext, { account }: SignedInUser): KeyLimitCeiling =>
  tiers[account.tier] ?? NO_CEILING

async function handleCreateKey(site: SiteContext, exchange: Exchange, user: SignedInUser, form: SubmittedForm) {
  const { random, baseUrl, pages } = site
  const values = readKeyForm(form, newIdempotencyKey(random))
  const reject = async (refusal: KeyFormRefusal) =>
    pages.renderInvalid(await newKeyPage(site, user, values, keyFormError(refusal)), exchange)
  if (!isIdempotencyKey(form.text("idempotency_key"))) return await reject({ kind: "form_incomplete" })
  if (values.name === "") return await reject({ kind: "name_missing" })
  const newKey = parseNewKey(values, user.account.id, ceilingOfAccount(site, user))
  if (newKey === null) return await reject({ kind: "kind_missing" })
  const creation = await createKeyOnce(ownerChanges(site, user), random, newKey, values.idempotencyKey)
  if (creation.kind === "created_before") return <KeyCreatedBeforePage user={user} apiKey={creation.key} />
  if (creation.kind !== "created") return await reject(creation)
  return <CreatedKeyPage user={user} apiKey={creation.key} keyText={creation.text} baseUrl={baseUrl()} />
}

/** The page of one key, the forms that change it, and its revocation. */
function keyPageRoutes(site: SiteContext) {
  const { guards } = site
  const keyForm = (handle: KeyFormHandler) => (exchange: Exchange & { readonly params: { readonly id: string } }) =>
    guards.requireAccount.form(exchange, async (user, form) => {
      const key = await findOwnKey(site.changes, user, exchange.params.id)
      const result = await handle(site, user, key, form)
      if (typeof result === "string")
        return site.pages.redirect(withFlash(pathWithId("dashboardKey", key.id), result), exchange)
      return site.pages.renderInvalid(await keyPage(site, exchange, user, key.id, result), exchange)
    })
  return handlers({
    dashboardKey: exchange =>
      guards.requireAccount.page(exchange, async user => await keyPage(site, exchange, user, exchange.params.id)),
    postKeyName: keyForm(handleRename),
    postKeyOrigins: keyForm(handleOrigins),
    postKeyLimits: keyForm(handleLimits),
    postKeyRevoke: keyForm(handleRevocation),
  })
}

/** Changes a key of the user by a form. Resolves with the name of the flash message, or with what is wrong with the form. */
type KeyFormHandler = (
  site: SiteContext,
  user: SignedInUser,
  key: ApiKey,
  form: SubmittedForm,
) => Promise<keyof typeof KEY_FLASH | KeyPageFault>

const handleRename: KeyFormHandler = async (site, user, { id }, form) => {
  const input = form.text("name")
  const { kind } = await renameKey(ownerChanges(site, user), id, input)
  return kind === "renamed" ? "renamed" : { form: "name", input, message: keyFormError({ kind: "bad_name" }).message }
}

/** What is wrong with a change; null: the key is revoked. A form that another one has overtaken keeps what was typed. */
const changeError = (refusal: ChangeRefusal | KeyFormRefusal): KeyFormError | null =>
  refusal.kind === "revoked" || refusal.kind === "unknown_key" ? null : keyFormError(refusal)

/** What the form showed of the key, which the change is based on; null: it does not say. */
const seenBy = (form: SubmittedForm): string | null => form.text("seen") || null

const handleOrigins: KeyFormHandler = async (site, user, { id }, form) => {
  const input = form.text("origins")
  const change = await changeOrigins(ownerChanges(site, user), id, splitOrigins(input), seenBy(form))
  if (change.kind === "changed") return "moved"
  const error = changeError(change)
  return error === null ? "revoked-before" : { form: "origins", input, message: error.message }
}

const handleLimits: KeyFormHandler = async (site, user, { id, expiresAtMs }, form) => {
  const input = readRestrictions(form)
  const wanted = restrictionsOf(input, expiresAtMs)
  const ceiling = ceilingOfAccount(site, user)
  const change = await changeRestrictions(ownerChanges(site, user), id, wanted, ceiling, seenBy(form))
  if (change.kind === "changed") return "limited"
  const error = changeError(change)
  return error === null ? "revoked-before" : { form: "limits", input, error }
}

const handleRevocation: KeyFormHandler = async (site, user, key, form) => {
  if (key.revokedAtMs === null && form.text("sure") !== "yes") return { form: "revoke" }
  const revocation = await revokeKey(ownerChanges(site, user), key.id, "owner")
  return revocation.kind === "revoked" && !revocation.isNew ? "revoked-before" : "revoked"
}

/** The user's key with this id. Rejects with `not_found` for any other id, other accounts' keys included. */
async function findOwnKey({ store }: ChangeLog, { account }: SignedInUser, id: string): Promise<ApiKey> {
  const key = await findKey(store, id)
  if (key?.accountId !== account.id) throw new Problem("not_found", "You have no such key.")
  return key
}

async function keyPage(site: SiteContext, exchange: Exchange, user: SignedInUser, id: string, fault?: KeyPageFault) {
  const { usageOf, changes, clock, baseUrl } = site
  await findOwnKey(changes, user, id)
  const { today } = await usageOf(user.account)
  const key = await findOwnKey(changes, user, id)
  const history = await readUsageHistory(site.usage, clock, user.account.id, CHECKS_DAYS)
  const ofKey = history.filter(({ keyId }) => keyId === id)
  return (
    <KeyPage
      user={user}
      apiKey={key}
      unitsToday={today.by_key.find(usage => usage.id === id)?.used ?? 0}
      dailyChecks={daysOf(ofKey, CHECKS_DAYS, utcDay(clock())).map(checkedCount)}
      flash={flashMessage(exchange.request.url, KEY_FLASH)}
      fault={fault ?? null}
      ceiling={ceilingOfAccount(site, user)}
      nowMs={clock()}
      baseUrl={baseUrl()}
    />
  )
}
