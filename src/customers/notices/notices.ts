import { type Static, type TObject, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { parseJson } from "../../base/text.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { MailBlock, MailContent } from "./mail-content.tsx"

/** The public base address for links in notices, without a trailing slash. */
export type LinkContext = { readonly baseUrl: string }

/** A key as a notice names it: never the key itself, nor anything that helps to guess it. */
const KEY_PARAMS = Type.Object({
  kind: Type.Union([Type.Literal("secret"), Type.Literal("publishable")]),
  name: Type.String(),
  last4: Type.String({ maxLength: 4 }),
  atMs: Type.Integer(),
})

const TERMS_PARAMS = Type.Object({ version: Type.String(), url: Type.String(), endsAtMs: Type.Integer() })

const SIGN_IN_PARAMS = Type.Object({ link: Type.String(), code: Type.String(), minutes: Type.Integer() })

type NoticeSpec<P extends TObject> = {
  readonly description: string
  /** The parameters of the notice, stored in the outbox as JSON. */
  readonly params: P
  readonly content: (particulars: Static<P>, place: LinkContext) => MailContent
}

const notice = <P extends TObject>(spec: NoticeSpec<P>): NoticeSpec<P> => spec

/** Every mail that we send. */
export const NOTICES = {
  key_created: notice({
    description: "A key was created for the account.",
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "A new key was created for your mailkind account",
      blocks: [
        prose("A new API key was created for your account. The key itself was shown once, and is in no mail."),
        keyFacts(key, "Created"),
        prose("If you did not do this, revoke the key at once:"),
        dashboardLink(place),
      ],
    }),
  }),
  key_revoked_by_owner: notice({
    description: "The account's owner revoked a key.",
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "A key of your mailkind account was revoked",
      blocks: [
        prose("An API key was revoked from within your account. Requests with it are refused from now on."),
        keyFacts(key, "Revoked"),
        prose("If you did not do this, look at the other keys and the sessions of your account:"),
        dashboardLink(place),
      ],
    }),
  }),
  key_revoked_by_admin: notice({
    description: "An admin revoked a key of the account.",
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "A key of your mailkind account was revoked by an administrator",
      blocks: [
        prose("An administrator of this service revoked an API key of your account. Requests with it are refused."),
        keyFacts(key, "Revoked"),
        prose("Ask whoever runs this service for the reason. A new key can be created here:"),
        dashboardLink(place),
      ],
    }),
  }),
  key_leaked: notice({
    description: "A secret key was found in public and revoked; the steps to replace it follow.",
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "A key of your mailkind account was found in public and revoked",
      blocks: [
        prose(
          "A secret API key of your account was reported as published at a code-hosting site. It was revoked at once, " +
            "automatically: requests with it are refused from now on.",
        ),
        keyFacts(key, "Revoked"),
        prose("To replace it:"),
        ROTATION_STEPS,
        dashboardLink(place),
      ],
    }),
  }),
  key_expiring: notice({
    description: `A key expires within ${LIMITS.keyExpiryNoticeDays} days.`,
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: `A key of your mailkind account expires on ${formatDay(key.atMs - 1)}`,
      blocks: [
        prose("One of your API keys expires soon. After that its requests are refused."),
        keyFacts(key, "Expires"),
        prose("If you still need the key, choose a later day. Or create a new key and put it in place of this one."),
        dashboardLink(place),
      ],
    }),
  }),
  key_new_network: notice({
    description: "A secret key was used from a network from which it was not used before.",
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "A key of your mailkind account was used from a new network",
      blocks: [
        prose("A secret API key of your account was used from a network that has not used it before."),
        keyFacts(key, "First used there"),
        prose("If you moved or added a server, all is well. If you did not, create a new key and revoke this one."),
        prose("You can also limit the key to the networks of your servers."),
        dashboardLink(place),
      ],
    }),
  }),
  terms_change: notice({
    description: `Terms change materially: ${LIMITS.termsNoticeDays} days' notice.`,
    params: TERMS_PARAMS,
    content: ({ version, url, endsAtMs }, place) => ({
      subject: `The terms of mailkind change on ${formatDay(endsAtMs)}`,
      blocks: [
        prose(
          `We have published new terms, version ${version}. They need your acceptance before ${formatInstant(endsAtMs)}; ` +
            "after that, requests with the keys of your account are refused until somebody accepts them.",
        ),
        { kind: "link", label: "Read the new terms", url },
        prose("Your keys work unchanged until then. To accept, sign in:"),
        dashboardLink(place),
      ],
    }),
  }),
  sign_in: notice({
    description: "Somebody asked to sign in with this address: a link and a code, good once and for a short time.",
    params: SIGN_IN_PARAMS,
    content: ({ link, code, minutes }) => ({
      subject: "Sign in to mailkind",
      blocks: [
        prose(`Open this link to sign in. It works once, within ${minutes} minutes.`),
        { kind: "link", label: "Sign in", url: link },
        prose("Or type this code where you asked for it:"),
        { kind: "code", code },
        prose("If you did not ask for this, do nothing. Never give the code to anybody."),
      ],
    }),
  }),
} as const

/** The kinds of notice. */
export type NoticeKind = keyof typeof NOTICES

/** The parameters of each kind. */
export type NoticeParams = { readonly [K in NoticeKind]: Static<(typeof NOTICES)[K]["params"]> }

/** One notice: its kind and its parameters. */
export type Notice = {
  readonly [K in NoticeKind]: { readonly kind: K; readonly params: NoticeParams[K] }
}[NoticeKind]

/** Renders a notice as a mail. */
export function noticeContent({ kind, params }: Notice, place: LinkContext): MailContent {
  const letter = renderNotice(NOTICES[kind], params, place)
  if (letter === null) throw new TypeError(`the particulars of ${kind} have another form`)
  return letter
}

/** Renders a stored notice as a mail; null when another version wrote it in a form that this one cannot read. */
export function storedNoticeContent(kind: string, particulars: string, place: LinkContext): MailContent | null {
  return isNoticeKind(kind) ? renderNotice(NOTICES[kind], parseJson(particulars), place) : null
}

function isNoticeKind(kind: string): kind is NoticeKind {
  return Object.hasOwn(NOTICES, kind)
}

/** The row of a kind, with the type of its parameters erased; its schema checks them at run time. */
function renderNotice(row: { readonly params: TObject }, particulars: unknown, place: LinkContext): MailContent | null {
  const { content } = row as NoticeSpec<TObject> // its schema is checked in the same breath
  return Value.Check(row.params, particulars) ? content(particulars, place) : null
}

const prose = (text: string): MailBlock => ({ kind: "prose", text })

const dashboardLink = ({ baseUrl }: LinkContext): MailBlock => ({
  kind: "link",
  label: "Open the dashboard",
  url: `${baseUrl}/dashboard`,
})

const KEY_KIND_LABELS = { secret: "secret key", publishable: "publishable key" } as const

function keyFacts({ kind, name, last4, atMs }: Static<typeof KEY_PARAMS>, happened: string): MailBlock {
  return {
    kind: "facts",
    facts: [
      ["Name", name],
      ["Kind", KEY_KIND_LABELS[kind]],
      ["Ends in", last4],
      [happened, formatInstant(atMs)],
    ],
  }
}

const ROTATION_STEPS: MailBlock = {
  kind: "steps",
  steps: [
    "Create a new key in the dashboard.",
    "Put it where the old one was: into the environment or a secret store, not into the code.",
    "Deploy, and see in the dashboard's usage that requests arrive with the new key.",
    "Take the old key out of the code and its history. It is dead, and tells others where to look.",
    "Look at the usage of the last days for requests that were not yours.",
  ],
}

const formatDay = (atMs: number): string =>
  new Date(atMs).toLocaleDateString("en-GB", { timeZone: "UTC", day: "numeric", month: "long", year: "numeric" })

const formatInstant = (atMs: number): string => `${formatDay(atMs)}, ${new Date(atMs).toISOString().slice(11, 16)} UTC`
