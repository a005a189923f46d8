import { type Static, type TObject, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { jsonIn } from "../../base/json.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { Letter, Piece } from "./letter.ts"

/** Where the links of a notice lead: the public base address, without a slash at its end. */
export type Place = { readonly baseUrl: string }

/** A key as a notice names it: never the key itself, nor what it could be guessed from. */
const KEY = Type.Object({
  kind: Type.Union([Type.Literal("secret"), Type.Literal("publishable")]),
  name: Type.String(),
  last4: Type.String({ maxLength: 4 }),
  atMs: Type.Integer(),
})

const TERMS = Type.Object({ version: Type.String(), url: Type.String(), endsAtMs: Type.Integer() })

const SIGN_IN = Type.Object({ link: Type.String(), code: Type.String(), minutes: Type.Integer() })

type NoticeSpec<P extends TObject> = {
  readonly says: string
  /** What the notice tells beside its kind; the outbox keeps it as JSON. */
  readonly particulars: P
  readonly letter: (particulars: Static<P>, place: Place) => Letter
}

const notice = <P extends TObject>(spec: NoticeSpec<P>): NoticeSpec<P> => spec

/** Every mail that we send. */
export const NOTICES = {
  key_created: notice({
    says: "A key was created for the account.",
    particulars: KEY,
    letter: (key, place) => ({
      subject: "A new key was created for your mailkind account",
      pieces: [
        prose("A new API key was created for your account. The key itself was shown once, and is in no mail."),
        keyFacts(key, "Created"),
        prose("If you did not do this, revoke the key at once:"),
        dashboard(place),
      ],
    }),
  }),
  key_revoked_by_owner: notice({
    says: "The account's owner revoked a key.",
    particulars: KEY,
    letter: (key, place) => ({
      subject: "A key of your mailkind account was revoked",
      pieces: [
        prose("An API key was revoked from within your account. Requests with it are refused from now on."),
        keyFacts(key, "Revoked"),
        prose("If you did not do this, look at the other keys and the sessions of your account:"),
        dashboard(place),
      ],
    }),
  }),
  key_revoked_by_admin: notice({
    says: "An admin revoked a key of the account.",
    particulars: KEY,
    letter: (key, place) => ({
      subject: "A key of your mailkind account was revoked by an administrator",
      pieces: [
        prose("An administrator of this service revoked an API key of your account. Requests with it are refused."),
        keyFacts(key, "Revoked"),
        prose("Ask whoever runs this service for the reason. A new key can be created here:"),
        dashboard(place),
      ],
    }),
  }),
  key_leaked: notice({
    says: "A secret key was found in public and revoked; the steps to replace it follow.",
    particulars: KEY,
    letter: (key, place) => ({
      subject: "A key of your mailkind account was found in public and revoked",
      pieces: [
        prose(
          "A secret API key of your account was reported as published at a code-hosting site. It was revoked at once, " +
            "automatically: requests with it are refused from now on.",
        ),
        keyFacts(key, "Revoked"),
        prose("To replace it:"),
        ROTATION,
        dashboard(place),
      ],
    }),
  }),
  terms_change: notice({
    says: `Terms change materially: ${LIMITS.termsNoticeDays} days' notice.`,
    particulars: TERMS,
    letter: ({ version, url, endsAtMs }, place) => ({
      subject: `The terms of mailkind change on ${dayIn(endsAtMs)}`,
      pieces: [
        prose(
          `We have published new terms, version ${version}. They need your acceptance before ${instant(endsAtMs)}; ` +
            "after that, requests with the keys of your account are refused until somebody accepts them.",
        ),
        { kind: "link", label: "Read the new terms", url },
        prose("Your keys work unchanged until then. To accept, sign in:"),
        dashboard(place),
      ],
    }),
  }),
  sign_in: notice({
    says: "Somebody asked to sign in with this address: a link and a code, good once and for a short time.",
    particulars: SIGN_IN,
    letter: ({ link, code, minutes }) => ({
      subject: "Sign in to mailkind",
      pieces: [
        prose(`Open this link to sign in. It works once, within ${minutes} minutes.`),
        { kind: "link", label: "Sign in", url: link },
        prose("Or type this code where you asked for it:"),
        { kind: "code", code },
        prose("If you did not ask for this, do nothing. Never give the code to anybody."),
      ],
    }),
  }),
} as const

/** What the mail is about. */
export type NoticeKind = keyof typeof NOTICES

/** What each notice tells beside its kind. */
export type Particulars = { readonly [K in NoticeKind]: Static<(typeof NOTICES)[K]["particulars"]> }

/** One notice: its kind and what it tells. */
export type Notice = {
  readonly [K in NoticeKind]: { readonly kind: K; readonly particulars: Particulars[K] }
}[NoticeKind]

/** A notice written as a letter. */
export function letterOf({ kind, particulars }: Notice, place: Place): Letter {
  const letter = writtenBy(NOTICES[kind], particulars, place)
  if (letter === null) throw new TypeError(`the particulars of ${kind} have another form`)
  return letter
}

/** A stored notice written as a letter; null when another version of the program wrote it, and this one cannot read it. */
export function storedLetter(kind: string, particulars: string, place: Place): Letter | null {
  return isNoticeKind(kind) ? writtenBy(NOTICES[kind], jsonIn(particulars), place) : null
}

function isNoticeKind(kind: string): kind is NoticeKind {
  return Object.hasOwn(NOTICES, kind)
}

/** Asked of any row, which knows the form of its own particulars only when it has seen them. */
function writtenBy(row: { readonly particulars: TObject }, particulars: unknown, place: Place): Letter | null {
  const { letter } = row as NoticeSpec<TObject> // its schema is checked in the same breath
  return Value.Check(row.particulars, particulars) ? letter(particulars, place) : null
}

const prose = (text: string): Piece => ({ kind: "prose", text })

const dashboard = ({ baseUrl }: Place): Piece => ({
  kind: "link",
  label: "Open the dashboard",
  url: `${baseUrl}/dashboard`,
})

const KEY_WORDS = { secret: "secret key", publishable: "publishable key" } as const

function keyFacts({ kind, name, last4, atMs }: Static<typeof KEY>, happened: string): Piece {
  return {
    kind: "facts",
    facts: [
      ["Name", name],
      ["Kind", KEY_WORDS[kind]],
      ["Ends in", last4],
      [happened, instant(atMs)],
    ],
  }
}

const ROTATION: Piece = {
  kind: "steps",
  steps: [
    "Create a new key in the dashboard.",
    "Put it where the old one was: into the environment or a secret store, not into the code.",
    "Deploy, and see in the dashboard's usage that requests arrive with the new key.",
    "Take the old key out of the code and its history. It is dead, and tells others where to look.",
    "Look at the usage of the last days for requests that were not yours.",
  ],
}

const dayIn = (atMs: number): string =>
  new Date(atMs).toLocaleDateString("en-GB", { timeZone: "UTC", day: "numeric", month: "long", year: "numeric" })

const instant = (atMs: number): string => `${dayIn(atMs)}, ${new Date(atMs).toISOString().slice(11, 16)} UTC`
