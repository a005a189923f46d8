/** @jsxImportSource preact */
import { Elysia } from "elysia"
import type { Random } from "../../../../base/outside-world.ts"
import { PROBLEMS } from "../../../../contract/problems.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import type { Usage } from "../../../../contract/usage-schema.ts"
import { createKeyOnce, isIdempotencyKey, newIdempotencyKey } from "../../../../customers/keys/idempotent-creation.ts"
import type { CallerAccount } from "../../../../customers/keys/key-cache.ts"
import { type ApiKey, findKey, listKeys, renameKey, revokeKey } from "../../../../customers/keys/keys.ts"
import type { ChangeLog } from "../../../../customers/store/change-log/change-log.ts"
import { Problem } from "../../../response/problem.ts"
import type { Assets } from "../../assets.ts"
import type { Guards, SignedInUser } from "../../guards.ts"
import { keyPath } from "../../links.ts"
import type { PageResponses } from "../../page-responses.ts"
import { flashMessage } from "../../ui/forms.tsx"
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

/** What the pages about keys are built from. */
export type KeysRoutesDeps = {
  readonly pages: PageResponses
  readonly enter: Guards
  readonly files: Assets
  readonly changes: ChangeLog
  readonly random: Random
  readonly usageOf: (account: CallerAccount) => Promise<Usage>
  readonly baseUrl: () => string
}

/** The pages of an account's keys: all of them, a new one, and each by itself. */
export function keysPageRoutes(needs: KeysRoutesDeps) {
  const { enter, random } = needs
  return new Elysia({ normalize: false })
    .get(ROUTES.dashboard.path, ({ request }) =>
      enter.requireAccount.page(request, visitor =>
        keysPage(needs, visitor, emptyKeyForm(newIdempotencyKey(random)), null),
      ),
    )
    .post(
      ROUTES.postKey.path,
      ({ request }) =>
        enter.requireAccount.form(request, async (visitor, form) => {
          const entry = readKeyForm(form, newIdempotencyKey(random))
          if (!isIdempotencyKey(form.text("slip")))
            return await rejectedKeyForm(needs, request, visitor, entry, FORM_INCOMPLETE)
          return await handleCreateKey(needs, request, visitor, entry)
        }),
      { parse: "none" },
    )
    .use(keyPageRoutes(needs))
}

async function keysPage(
  { usageOf, changes }: KeysRoutesDeps,
  visitor: SignedInUser,
  entry: KeyFormValues,
  fault: KeyFormError | null,
) {
  // In this order: telling the usage writes when keys were last used.
  const { today } = await usageOf(visitor.account)
  const keys = await listKeys(changes.store, visitor.account.id, KEYS_DISPLAYED_MAX)
  return <KeysPage user={visitor} keys={keys} today={today} values={entry} error={fault} />
}

async function rejectedKeyForm(
  needs: KeysRoutesDeps,
  request: Request,
  visitor: SignedInUser,
  entry: KeyFormValues,
  fault: KeyFormError,
): Promise<Response> {
  const page = await keysPage(needs, visitor, entry, fault)
  return needs.pages.render(page, request, { status: PROBLEMS.invalid_input.status })
}

async function handleCreateKey(needs: KeysRoutesDeps, request: Request, visitor: SignedInUser, entry: KeyFormValues) {
  const { changes, random, files, baseUrl } = needs
  const wanted = parseNewKey(entry, visitor.account.id)
  if (wanted === null) return await rejectedKeyForm(needs, request, visitor, entry, KIND_MISSING)
  const creation = await createKeyOnce(changes, random, wanted, entry.idempotencyKey)
  if (creation.kind === "created_before") return <KeyCreatedBeforePage user={visitor} apiKey={creation.key} />
  if (creation.kind !== "created") return await rejectedKeyForm(needs, request, visitor, entry, keyFormError(creation))
  const { key, text } = creation
  const copyScript = await files.path("copy.js")
  return <NewKeyPage user={visitor} apiKey={key} keyText={text} baseUrl={baseUrl()} copyScript={copyScript} />
}

/** One key of the account. */
function keyPageRoutes(needs: KeysRoutesDeps) {
  const { pages, enter, changes } = needs
  const status = PROBLEMS.invalid_input.status
  return new Elysia({ normalize: false })
    .get(ROUTES.dashboardKey.path, ({ request, params }) =>
      enter.requireAccount.page(request, async visitor => await keyPage(needs, request, visitor, params.id)),
    )
    .post(
      ROUTES.postKeyName.path,
      ({ request, params }) =>
        enter.requireAccount.form(request, async (visitor, form) => {
          const { id } = await findOwnKey(changes, visitor, params.id)
          const input = form.text("name")
          const { kind } = await renameKey(changes, id, input)
          if (kind === "renamed") return pages.redirect(`${keyPath(id)}?done=renamed`, request)
          const { message: error } = keyFormError({ kind: "bad_name" })
          return pages.render(await keyPage(needs, request, visitor, id, { input, error }), request, { status })
        }),
      { parse: "none" },
    )
    .post(
      ROUTES.postKeyRevoke.path,
      ({ request, params }) =>
        enter.requireAccount.form(request, async (visitor, form) => {
          const key = await findOwnKey(changes, visitor, params.id)
          if (key.revokedAtMs === null && form.text("sure") !== "yes")
            return pages.render(await keyPage(needs, request, visitor, key.id, null, true), request, { status })
          const revocation = await revokeKey(changes, key.id, "owner")
          const deed = revocation.kind === "revoked" && !revocation.isNew ? "revoked-before" : "revoked"
          return pages.redirect(`${keyPath(key.id)}?done=${deed}`, request)
        }),
      { parse: "none" },
    )
}

/** The visitor's key of this id. Rejects with `not_found` for every other id, whoever's it is. */
async function findOwnKey({ store }: ChangeLog, { account }: SignedInUser, id: string): Promise<ApiKey> {
  const key = await findKey(store, id)
  if (key?.accountId !== account.id) throw new Problem("not_found", "You have no such key.")
  return key
}

async function keyPage(
  { usageOf, changes }: KeysRoutesDeps,
  request: Request,
  visitor: SignedInUser,
  id: string,
  name: { readonly input: string; readonly error: string } | null = null,
  isUnconfirmed = false,
) {
  await findOwnKey(changes, visitor, id)
  const { today } = await usageOf(visitor.account)
  const key = await findOwnKey(changes, visitor, id)
  return (
    <KeyPage
      user={visitor}
      apiKey={key}
      unitsToday={today.by_key.find(used => used.id === id)?.used ?? 0}
      flash={flashMessage(request.url, KEY_FLASH)}
      name={name ?? { input: key.name, error: null }}
      isUnconfirmed={isUnconfirmed}
    />
  )
}
