/** @jsxImportSource preact */
import { Elysia } from "elysia"
import type { Random } from "../../../base/clock.ts"
import { PROBLEMS } from "../../../contract/problems.ts"
import { ROUTES } from "../../../contract/routes.ts"
import type { Usage } from "../../../contract/usage-schema.ts"
import type { HeldAccount } from "../../../customers/keys/held-keys.ts"
import { createKeyOnce, isSlip, newSlip } from "../../../customers/keys/key-once.ts"
import { findKey, type Key, listKeys, renameKey, revokeKey } from "../../../customers/keys/keys.ts"
import type { ChangeLog } from "../../../customers/store/changes.ts"
import { Problem } from "../../problem.ts"
import type { Assets } from "../assets.ts"
import { doneWords } from "../deed.ts"
import type { PageAnswers } from "../page-answers.ts"
import type { Entrances, Visitor } from "../signed-in.ts"
import { entryOf, faultOf, type KeyEntry, type KeyFault, NO_KIND, NO_SLIP, newEntry, wantedKey } from "./key-form.ts"
import { KEY_DEEDS, KeyPage } from "./key-page.tsx"
import { pathOfKey } from "./key-paths.ts"
import { KEYS_SHOWN_MAX, KeysPage } from "./keys-page.tsx"
import { CreatedBeforePage, NewKeyPage } from "./new-key-page.tsx"

/** What the pages about keys are built from. */
export type KeysRoutesNeeds = {
  readonly pages: PageAnswers
  readonly enter: Entrances
  readonly files: Assets
  readonly changes: ChangeLog
  readonly random: Random
  readonly usageOf: (account: HeldAccount) => Promise<Usage>
  readonly baseUrl: () => string
}

/** The pages of an account's keys: all of them, a new one, and each by itself. */
export function keysRoutes(needs: KeysRoutesNeeds) {
  const { enter, random } = needs
  return new Elysia({ normalize: false })
    .get(ROUTES.dashboard.path, ({ request }) =>
      enter.account.page(request, visitor => keysPage(needs, visitor, newEntry(newSlip(random)), null)),
    )
    .post(
      ROUTES.postKey.path,
      ({ request }) =>
        enter.account.form(request, async (visitor, form) => {
          const entry = entryOf(form, newSlip(random))
          if (!isSlip(form.text("slip"))) return await refusedKey(needs, request, visitor, entry, NO_SLIP)
          return await createdKey(needs, request, visitor, entry)
        }),
      { parse: "none" },
    )
    .use(keyRoutes(needs))
}

async function keysPage(
  { usageOf, changes }: KeysRoutesNeeds,
  visitor: Visitor,
  entry: KeyEntry,
  fault: KeyFault | null,
) {
  // In this order: telling the usage writes when keys were last used.
  const { today } = await usageOf(visitor.account)
  const keys = await listKeys(changes.store, visitor.account.id, KEYS_SHOWN_MAX)
  return <KeysPage visitor={visitor} keys={keys} today={today} entry={entry} fault={fault} />
}

async function refusedKey(
  needs: KeysRoutesNeeds,
  request: Request,
  visitor: Visitor,
  entry: KeyEntry,
  fault: KeyFault,
): Promise<Response> {
  const page = await keysPage(needs, visitor, entry, fault)
  return needs.pages.page(page, request, { status: PROBLEMS.invalid_input.status })
}

async function createdKey(needs: KeysRoutesNeeds, request: Request, visitor: Visitor, entry: KeyEntry) {
  const { changes, random, files, baseUrl } = needs
  const wanted = wantedKey(entry, visitor.account.id)
  if (wanted === null) return await refusedKey(needs, request, visitor, entry, NO_KIND)
  const creation = await createKeyOnce(changes, random, wanted, entry.slip)
  if (creation.kind === "created_before") return <CreatedBeforePage visitor={visitor} made={creation.key} />
  if (creation.kind !== "created") return await refusedKey(needs, request, visitor, entry, faultOf(creation))
  const { key, text } = creation
  const copyScript = await files.path("copy.js")
  return <NewKeyPage visitor={visitor} made={key} text={text} baseUrl={baseUrl()} copyScript={copyScript} />
}

/** One key of the account. */
function keyRoutes(needs: KeysRoutesNeeds) {
  const { pages, enter, changes } = needs
  const status = PROBLEMS.invalid_input.status
  return new Elysia({ normalize: false })
    .get(ROUTES.dashboardKey.path, ({ request, params }) =>
      enter.account.page(request, async visitor => await keyPage(needs, request, visitor, params.id)),
    )
    .post(
      ROUTES.postKeyName.path,
      ({ request, params }) =>
        enter.account.form(request, async (visitor, form) => {
          const { id } = await ownKey(changes, visitor, params.id)
          const typed = form.text("name")
          const { kind } = await renameKey(changes, id, typed)
          if (kind === "renamed") return pages.goTo(`${pathOfKey(id)}?done=renamed`, request)
          const { says: fault } = faultOf({ kind: "bad_name" })
          return pages.page(await keyPage(needs, request, visitor, id, { typed, fault }), request, { status })
        }),
      { parse: "none" },
    )
    .post(
      ROUTES.postKeyRevoke.path,
      ({ request, params }) =>
        enter.account.form(request, async (visitor, form) => {
          const key = await ownKey(changes, visitor, params.id)
          if (key.revokedAtMs === null && form.text("sure") !== "yes")
            return pages.page(await keyPage(needs, request, visitor, key.id, null, true), request, { status })
          const revocation = await revokeKey(changes, key.id, "owner")
          const deed = revocation.kind === "revoked" && !revocation.isNew ? "revoked-before" : "revoked"
          return pages.goTo(`${pathOfKey(key.id)}?done=${deed}`, request)
        }),
      { parse: "none" },
    )
}

/** The visitor's key of this id. Rejects with `not_found` for every other id, whoever's it is. */
async function ownKey({ store }: ChangeLog, { account }: Visitor, id: string): Promise<Key> {
  const key = await findKey(store, id)
  if (key?.accountId !== account.id) throw new Problem("not_found", "You have no such key.")
  return key
}

async function keyPage(
  { usageOf, changes }: KeysRoutesNeeds,
  request: Request,
  visitor: Visitor,
  id: string,
  name: { readonly typed: string; readonly fault: string } | null = null,
  isUnconfirmed = false,
) {
  await ownKey(changes, visitor, id)
  const { today } = await usageOf(visitor.account)
  const key = await ownKey(changes, visitor, id)
  return (
    <KeyPage
      visitor={visitor}
      shown={key}
      usedToday={today.by_key.find(used => used.id === id)?.used ?? 0}
      done={doneWords(request.url, KEY_DEEDS)}
      name={name ?? { typed: key.name, fault: null }}
      isUnconfirmed={isUnconfirmed}
    />
  )
}
