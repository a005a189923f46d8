/** @jsxImportSource preact */
import { Elysia } from "elysia"
import { ROUTES } from "../../../../contract/routes.ts"
import { createKeyOnce, isIdempotencyKey, newIdempotencyKey } from "../../../../customers/keys/idempotent-creation.ts"
import { type ApiKey, findKey, listKeys, renameKey, revokeKey } from "../../../../customers/keys/keys.ts"
import type { ChangeLog } from "../../../../customers/store/change-log/change-log.ts"
import { Problem } from "../../../response/problem.ts"
import type { SignedInUser } from "../../guards.ts"
import { flashMessage, pathWithId, withFlash } from "../../links.ts"
import type { SiteContext } from "../../site-context.ts"
import { KEY_FLASH, KeyPage } from "./key-page.tsx"
import { KEYS_DISPLAYED_MAX, KeysPage } from "./keys-page.tsx"
import {
  emptyKeyForm,
  FORM_INCOMPLETE,
  type KeyFormError,
  type KeyFormValues,
  KIND_MISSING,
  keyFormError,
  parseNewKey,
  readKeyForm,
} from "./new-key-form.tsx"
import { KeyCreatedBeforePage, NewKeyPage } from "./new-key-page.tsx"

/** The account's keys: the list, the form for a new key, and a page for each key. */
export function keysPageRoutes(site: SiteContext) {
  const { guards, random } = site
  return new Elysia({ normalize: false })
    .get(ROUTES.dashboard.path, ({ request }) =>
      guards.requireAccount.page(request, user => keysPage(site, user, emptyKeyForm(newIdempotencyKey(random)), null)),
    )
    .post(
      ROUTES.postKey.path,
      ({ request }) =>
        guards.requireAccount.form(request, async (user, form) => {
          const values = readKeyForm(form, newIdempotencyKey(random))
          if (!isIdempotencyKey(form.text("slip")))
            return await rejectedKeyForm(site, request, user, values, FORM_INCOMPLETE)
          return await handleCreateKey(site, request, user, values)
        }),
      { parse: "none" },
    )
    .use(keyPageRoutes(site))
}

async function keysPage(
  { usageOf, changes }: SiteContext,
  user: SignedInUser,
  values: KeyFormValues,
  error: KeyFormError | null,
) {
  // The usage comes first: reading it writes when keys were last used.
  const { today } = await usageOf(user.account)
  const keys = await listKeys(changes.store, user.account.id, KEYS_DISPLAYED_MAX)
  return <KeysPage user={user} keys={keys} today={today} values={values} error={error} />
}

async function rejectedKeyForm(
  site: SiteContext,
  request: Request,
  user: SignedInUser,
  values: KeyFormValues,
  error: KeyFormError,
): Promise<Response> {
  return site.pages.renderInvalid(await keysPage(site, user, values, error), request)
}

async function handleCreateKey(site: SiteContext, request: Request, user: SignedInUser, values: KeyFormValues) {
  const { changes, random, baseUrl } = site
  const newKey = parseNewKey(values, user.account.id)
  if (newKey === null) return await rejectedKeyForm(site, request, user, values, KIND_MISSING)
  const creation = await createKeyOnce(changes, random, newKey, values.idempotencyKey)
  if (creation.kind === "created_before") return <KeyCreatedBeforePage user={user} apiKey={creation.key} />
  if (creation.kind !== "created") return await rejectedKeyForm(site, request, user, values, keyFormError(creation))
  const { key, text } = creation
  return <NewKeyPage user={user} apiKey={key} keyText={text} baseUrl={baseUrl()} />
}

/** The page of one key, its new name, and its revocation. */
function keyPageRoutes(site: SiteContext) {
  const { pages, guards, changes } = site
  return new Elysia({ normalize: false })
    .get(ROUTES.dashboardKey.path, ({ request, params }) =>
      guards.requireAccount.page(request, async user => await keyPage(site, request, user, params.id)),
    )
    .post(
      ROUTES.postKeyName.path,
      ({ request, params }) =>
        guards.requireAccount.form(request, async (user, form) => {
          const { id } = await findOwnKey(changes, user, params.id)
          const input = form.text("name")
          const { kind } = await renameKey(changes, id, input)
          if (kind === "renamed") return pages.redirect(withFlash(pathWithId("dashboardKey", id), "renamed"), request)
          const { message: error } = keyFormError({ kind: "bad_name" })
          return pages.renderInvalid(await keyPage(site, request, user, id, { input, error }), request)
        }),
      { parse: "none" },
    )
    .post(
      ROUTES.postKeyRevoke.path,
      ({ request, params }) =>
        guards.requireAccount.form(request, async (user, form) => {
          const key = await findOwnKey(changes, user, params.id)
          if (key.revokedAtMs === null && form.text("sure") !== "yes")
            return pages.renderInvalid(await keyPage(site, request, user, key.id, null, true), request)
          const revocation = await revokeKey(changes, key.id, "owner")
          const flash = revocation.kind === "revoked" && !revocation.isNew ? "revoked-before" : "revoked"
          return pages.redirect(withFlash(pathWithId("dashboardKey", key.id), flash), request)
        }),
      { parse: "none" },
    )
}

/** The user's key with this id. Rejects with `not_found` for any other id, other accounts' keys included. */
async function findOwnKey({ store }: ChangeLog, { account }: SignedInUser, id: string): Promise<ApiKey> {
  const key = await findKey(store, id)
  if (key?.accountId !== account.id) throw new Problem("not_found", "You have no such key.")
  return key
}

async function keyPage(
  { usageOf, changes }: SiteContext,
  request: Request,
  user: SignedInUser,
  id: string,
  name: { readonly input: string; readonly error: string } | null = null,
  isUnconfirmed = false,
) {
  await findOwnKey(changes, user, id)
  const { today } = await usageOf(user.account)
  const key = await findOwnKey(changes, user, id)
  return (
    <KeyPage
      user={user}
      apiKey={key}
      unitsToday={today.by_key.find(usage => usage.id === id)?.used ?? 0}
      flash={flashMessage(request.url, KEY_FLASH)}
      name={name ?? { input: key.name, error: null }}
      isUnconfirmed={isUnconfirmed}
    />
  )
}
