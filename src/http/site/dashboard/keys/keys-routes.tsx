/** @jsxImportSource preact */

import { utcDay } from "../../../../base/time.ts"
import { createKeyOnce, isIdempotencyKey, newIdempotencyKey } from "../../../../customers/keys/idempotent-creation.ts"
import { changeKey } from "../../../../customers/keys/key-changes.ts"
import { type KeyLimitCeiling, NO_CEILING } from "../../../../customers/keys/key-restrictions.ts"
import { isUsableKey } from "../../../../customers/keys/key-state.ts"
import { type ApiKey, findKey, listKeys, revokeKey } from "../../../../customers/keys/keys.ts"
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
import { KEY_FLASH, KeyPage, type KeyPageFault } from "./key-page.tsx"
import {
  emptyKeyForm,
  type KeyFormError,
  keyFormError,
  type NewKeyValues,
  parseKeyKind,
  parseSettingValues,
  readKeyForm,
  readSettings,
  settingErrors,
} from "./key-settings.ts"
import { CHECKS_DAYS, KEYS_DISPLAYED_MAX, KeysPage } from "./keys-page.tsx"
import { CreatedKeyPage, KeyCreatedBeforePage, NewKeyPage } from "./new-key-page.tsx"

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
      guards.requireAccount.page(exchange, user => newKeyPage(site, user, emptyKeyForm(newIdempotencyKey(random)), [])),
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

async function newKeyPage(
  site: SiteContext,
  user: SignedInUser,
  values: NewKeyValues,
  errors: readonly KeyFormError[],
) {
  const nowMs = site.clock()
  const active = (await readKeys(site, user)).filter(key => isUsableKey(key, nowMs))
  const fields = { values, errors, ceiling: ceilingOfAccount(site, user), nowMs }
  return <NewKeyPage user={user} {...fields} active={active} />
}

/** The limits of the user's account, which those of a key have to be below. */
const ceilingOfAccount = ({ tiers }: SiteContext, { account }: SignedInUser): KeyLimitCeiling =>
  tiers[account.tier] ?? NO_CEILING

async function handleCreateKey(site: SiteContext, exchange: Exchange, user: SignedInUser, form: SubmittedForm) {
  const { random, baseUrl, pages } = site
  const values = readKeyForm(form, newIdempotencyKey(random))
  const reject = async (errors: readonly KeyFormError[]) =>
    pages.renderInvalid(await newKeyPage(site, user, values, errors), exchange)
  const kind = parseKeyKind(values.kind)
  const settings = parseSettingValues(values)
  const ceiling = ceilingOfAccount(site, user)
  const errors = [
    ...(isIdempotencyKey(form.text("idempotency_key")) ? [] : [keyFormError({ kind: "form_incomplete" })]),
    ...(values.name === "" ? [keyFormError({ kind: "name_missing" })] : []),
    ...(kind === null
      ? [keyFormError({ kind: "kind_missing" })]
      : settingErrors(kind, settings, ceiling, site.clock())),
  ]
  if (kind === null || errors.length > 0) return await reject(errors)
  const newKey = { accountId: user.account.id, kind, ceiling, ...settings }
  const creation = await createKeyOnce(ownerChanges(site, user), random, newKey, values.idempotencyKey)
  if (creation.kind === "created_before") return <KeyCreatedBeforePage user={user} apiKey={creation.key} />
  if (creation.kind !== "created") return await reject([keyFormError(creation)])
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
    postKeySettings: keyForm(handleSettings),
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

const handleSettings: KeyFormHandler = async (site, user, key, form) => {
  const values = readSettings(form)
  const refused = (errors: readonly KeyFormError[]) => ({ values, errors })
  const ceiling = ceilingOfAccount(site, user)
  const { name, ...further } = parseSettingValues(values, key.expiresAtMs)
  const isRevoked = key.revokedAtMs !== null
  const errors = isRevoked ? [] : settingErrors(key.kind, { name, ...further }, ceiling, site.clock(), key)
  if (errors.length > 0) return refused(errors)
  const wanted = isRevoked ? { name } : { name, ...further }
  const change = await changeKey(ownerChanges(site, user), key.id, wanted, ceiling, form.text("seen") || null)
  if (change.kind === "changed") return "saved"
  // A form that another one has overtaken keeps what was typed.
  return change.kind === "revoked" || change.kind === "unknown_key" ? "revoked-before" : refused([keyFormError(change)])
}

const handleRevocation: KeyFormHandler = async (site, user, key) => {
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
      others={(await readKeys(site, user)).filter(other => other.id !== id && isUsableKey(other, clock()))}
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
