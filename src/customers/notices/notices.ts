import { type Static, type TObject, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { parseJson } from "../../base/text.ts"
import { DAY_MS, formatDate, formatInstant } from "../../base/time.ts"
import { JOB_REASON_NAMES, JOB_REASONS } from "../../contract/jobs.ts"
import { LIMITS } from "../../contract/limits.ts"
import { RECOMMENDATIONS } from "../../contract/policies.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { MailBlock, MailContent } from "./mail-content.tsx"
import {
  dashboardLink,
  formatCount,
  KEY_PARAMS,
  keyFacts,
  type LinkContext,
  listLink,
  prose,
  ROTATION_STEPS,
  STOPS_WORKING,
  usageLink,
} from "./notice-blocks.ts"

const TERMS_PARAMS = Type.Object({ version: Type.String(), url: Type.String(), endsAtMs: Type.Integer() })

const SIGN_IN_PARAMS = Type.Object({ link: Type.String(), code: Type.String(), minutes: Type.Integer() })

const INVITATION_PARAMS = Type.Object({ link: Type.String() })

/** The units of an account's day. `day` counts from 1 January 1970 UTC. */
const UNITS_PARAMS = Type.Object({ used: Type.Integer(), limit: Type.Integer(), day: Type.Integer() })

/** `reason` is what an administrator wrote to the owner; empty: nothing. */
const SUSPENSION_PARAMS = Type.Object({ atMs: Type.Integer(), reason: Type.String() })

const RESUMPTION_PARAMS = Type.Object({ atMs: Type.Integer() })

const ROWS = Type.Object({ allow: Type.Integer(), review: Type.Integer(), block: Type.Integer() })

/** Nothing of the list but counts, not even its name, which may be that of a person. Earlier versions store no counts. */
const LIST_PARAMS = Type.Object({
  jobId: Type.String(),
  rows: Type.Optional(ROWS),
  deletedAtMs: Type.Optional(Type.Integer()),
})

/** Rows by what is recommended for them: `1,588 allow, 1,748 review, 2,664 block`. */
const rowsText = (rows: Static<typeof ROWS>): string =>
  RECOMMENDATIONS.map(name => `${formatCount(rows[name])} ${name}`).join(", ")

const STOPPED_LIST_PARAMS = Type.Object({
  jobId: Type.String(),
  reason: Type.Union(JOB_REASON_NAMES.map(name => Type.Literal(name))),
})

const REPORT_PARAMS = Type.Object({
  domain: Type.String(),
  reportedCategory: Type.String(),
  isAccepted: Type.Boolean(),
})

type NoticeSpec<P extends TObject> = {
  /** The name of the mail in lists of mails. */
  readonly title: string
  readonly description: string
  /** Whether an account can switch it off. Mails that protect the account, and those about its terms, always go out. */
  readonly isOptional: boolean
  /** The parameters of the notice, stored in the outbox as JSON. */
  readonly params: P
  readonly content: (params: Static<P>, place: LinkContext) => MailContent
}

const notice = <P extends TObject>(spec: NoticeSpec<P>): NoticeSpec<P> => spec

/** Every mail that we send. */
export const NOTICES = {
  sign_in: notice({
    title: "Sign-in code",
    description: "Someone asked to sign in with this address. The email has a link and a code.",
    isOptional: false,
    params: SIGN_IN_PARAMS,
    content: ({ link, code, minutes }) => ({
      subject: `${code} is your mailkind code`,
      blocks: [
        prose("Enter this code to sign in to mailkind:"),
        { kind: "code", code },
        prose(`Or open this link. Both work once, within ${minutes === 1 ? "one minute" : `${minutes} minutes`}.`),
        { kind: "link", label: "Sign in", url: link },
        prose("If you did not ask to sign in, ignore this email. Never share the code."),
      ],
    }),
  }),
  invitation: notice({
    title: "Invitation",
    description: "An administrator invites this address to an account. The email has a link.",
    isOptional: false,
    params: INVITATION_PARAMS,
    content: ({ link }) => ({
      subject: "You're invited to mailkind",
      blocks: [
        prose("An administrator has invited you to mailkind. Accept to get an account and an API key:"),
        { kind: "link", label: "Accept the invitation", url: link },
        prose(
          `The link works once, within ${LIMITS.invitationDays} days. If you did not expect it, ignore this email.`,
        ),
      ],
    }),
  }),
  key_created: notice({
    title: "Key created",
    description: "A key was created for your account.",
    isOptional: false,
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "New API key in your mailkind account",
      blocks: [
        prose("An API key was created in your account. We never send keys by email."),
        keyFacts(key, "Created"),
        prose("If this was not you, revoke the key now:"),
        dashboardLink(place),
      ],
    }),
  }),
  key_revoked_by_owner: notice({
    title: "Key revoked",
    description: "A key was revoked from within your account.",
    isOptional: false,
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "An API key in your mailkind account was revoked",
      blocks: [
        prose(`An API key in your account was revoked. ${STOPS_WORKING}`),
        keyFacts(key, "Revoked"),
        prose("If this was not you, check your other keys. Then end every session that you do not recognise:"),
        dashboardLink(place),
      ],
    }),
  }),
  key_revoked_by_admin: notice({
    title: "Key revoked by an administrator",
    description: "An administrator of the service revoked a key of your account.",
    isOptional: false,
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "An administrator revoked one of your mailkind keys",
      blocks: [
        prose(`An administrator revoked one of your API keys. ${STOPS_WORKING}`),
        keyFacts(key, "Revoked"),
        prose("Ask the administrator for the reason. You can create a new key here:"),
        dashboardLink(place),
      ],
    }),
  }),
  key_leaked: notice({
    title: "Key leaked",
    description: "A secret key of your account was found in public and revoked. The email has the steps to replace it.",
    isOptional: false,
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "We revoked a mailkind key that was found in public",
      blocks: [
        prose(
          `A code-hosting site reported that one of your secret API keys is public. We revoked it at once. ${STOPS_WORKING}`,
        ),
        keyFacts(key, "Revoked"),
        prose("To replace the key:"),
        ROTATION_STEPS,
        dashboardLink(place),
      ],
    }),
  }),
  key_expiring: notice({
    title: "Key expires soon",
    isOptional: true,
    description: `A key expires within ${LIMITS.keyExpiryNoticeDays} days.`,
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: `One of your mailkind keys expires on ${formatDate(key.atMs - 1)}`,
      blocks: [
        prose("One of your API keys expires soon. After that, requests with it are refused."),
        keyFacts(key, "Expires"),
        prose("If you still need it, choose a later day, or replace it with a new key."),
        dashboardLink(place),
      ],
    }),
  }),
  key_new_network: notice({
    title: "Key used from a new network",
    isOptional: true,
    description: "A secret key was used from a new network.",
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "One of your mailkind keys was used from a new network",
      blocks: [
        prose("One of your secret API keys was used from a network that we have not seen it on before."),
        keyFacts(key, "First used there"),
        prose(
          "If you moved or added a server, there is nothing to do. Otherwise, create a new key and revoke this one.",
        ),
        prose("You can also restrict the key to the networks of your servers."),
        dashboardLink(place),
      ],
    }),
  }),
  terms_change: notice({
    title: "New terms",
    description: `The terms have an important change. You have ${LIMITS.termsNoticeDays} days to accept them.`,
    isOptional: false,
    params: TERMS_PARAMS,
    content: ({ version, url, endsAtMs }, place) => ({
      subject: `mailkind's terms change on ${formatDate(endsAtMs)}`,
      blocks: [
        prose(`We have published version ${version} of our terms. Please accept it before ${formatInstant(endsAtMs)}.`),
        { kind: "link", label: "Read the new terms", url },
        prose("Your keys work until then. After that, requests with them are refused until you accept."),
        prose("To accept the terms, sign in:"),
        dashboardLink(place),
      ],
    }),
  }),
  account_suspended: notice({
    title: "Account suspended",
    description: "An administrator of the service suspended your account. The email has the reason, if there is one.",
    isOptional: false,
    params: SUSPENSION_PARAMS,
    content: ({ atMs, reason }, place) => ({
      subject: "Your mailkind account is suspended",
      blocks: [
        prose(`An administrator suspended your account on ${formatInstant(atMs)}.`),
        prose(
          "Requests with your keys are refused until the account is resumed. You can still sign in and see your data.",
        ),
        ...(reason === "" ? [] : [{ kind: "facts", facts: [["Reason", reason]] } as const]),
        prose("If you think this is a mistake, contact the administrator."),
        dashboardLink(place),
      ],
    }),
  }),
  account_resumed: notice({
    title: "Account resumed",
    description: "An administrator of the service ended the suspension of your account.",
    isOptional: false,
    params: RESUMPTION_PARAMS,
    content: ({ atMs }, place) => ({
      subject: "Your mailkind account is active again",
      blocks: [
        prose(`An administrator resumed your account on ${formatInstant(atMs)}.`),
        prose("Your keys work again. There is nothing to do."),
        dashboardLink(place),
      ],
    }),
  }),
  units_80: notice({
    title: "80% of today's units used",
    description: "Your secret keys have used 80% of your units for a day.",
    isOptional: true,
    params: UNITS_PARAMS,
    content: ({ used, limit, day }, place) => ({
      subject: "80% of today's mailkind units used",
      blocks: [
        prose(
          `Your account has used ${formatCount(used)} of its ${formatCount(limit)} units for ${formatDate(day * DAY_MS)}.`,
        ),
        prose("When they run out, requests with your secret keys are refused until 00:00 UTC."),
        usageLink(place),
      ],
    }),
  }),
  units_100: notice({
    title: "All of today's units used",
    description: "Your secret keys have used all of your units for a day.",
    isOptional: true,
    params: UNITS_PARAMS,
    content: ({ limit, day }, place) => ({
      subject: "All of today's mailkind units used",
      blocks: [
        prose(`Your account has used all of its ${formatCount(limit)} units for ${formatDate(day * DAY_MS)}.`),
        prose("Requests with your secret keys are refused until 00:00 UTC. Then you have new units."),
        usageLink(place),
      ],
    }),
  }),
  list_done: notice({
    title: "List ready",
    description: "All rows of a list that you uploaded are checked.",
    isOptional: true,
    params: LIST_PARAMS,
    content: ({ jobId, rows, deletedAtMs }, place) => ({
      subject: `Your list is ready${rows === undefined ? "" : `: ${rowsText(rows)}`}`,
      blocks: [
        prose("All rows of your list are checked, and the results are ready to download."),
        ...(deletedAtMs === undefined
          ? []
          : [prose(`They are deleted automatically on ${formatInstant(deletedAtMs)}.`)]),
        listLink(jobId, place),
      ],
    }),
  }),
  list_stopped: notice({
    title: "List check stopped",
    description: "The check of a list that you uploaded is paused, or stopped early. The email says why.",
    isOptional: true,
    params: STOPPED_LIST_PARAMS,
    content: ({ jobId, reason }, place) => {
      const { state, description } = JOB_REASONS[reason]
      return {
        subject: state === "stopped" ? "Your list check is paused" : "Your list check stopped early",
        blocks: [prose(description), prose("You can download the results so far."), listLink(jobId, place)],
      }
    },
  }),
  report_decided: notice({
    title: "Report decided",
    description: "A verdict that you reported as wrong was reviewed.",
    isOptional: true,
    params: REPORT_PARAMS,
    content: ({ domain, reportedCategory, isAccepted }, { baseUrl }) => ({
      subject: isAccepted ? "We corrected the verdict you reported" : "We kept the verdict you reported",
      blocks: [
        prose(
          isAccepted
            ? "Thank you for your report. We reviewed it and corrected the verdict. New checks use it."
            : "Thank you for your report. We reviewed it and did not change the verdict.",
        ),
        {
          kind: "facts",
          facts: [
            ["Domain", domain],
            ["You reported", reportedCategory],
            ["Decision", isAccepted ? "accepted" : "rejected"],
          ],
        },
        { kind: "link", label: "See your reports", url: `${baseUrl}${ROUTES.feedback.path}` },
      ],
    }),
  }),
} as const

/** The kinds of notice. */
export type NoticeKind = keyof typeof NOTICES

/** The kinds in the order of the table. */
export const NOTICE_KINDS = Object.keys(NOTICES) as NoticeKind[] // the table's own

/** The kinds that an account can switch off. */
export const OPTIONAL_NOTICES: readonly NoticeKind[] = NOTICE_KINDS.filter(kind => NOTICES[kind].isOptional)

/** The parameters of each kind. */
export type NoticeParams = { readonly [K in NoticeKind]: Static<(typeof NOTICES)[K]["params"]> }

/** One notice: its kind and its parameters. */
export type Notice = {
  readonly [K in NoticeKind]: { readonly kind: K; readonly params: NoticeParams[K] }
}[NoticeKind]

/** Renders a notice as a mail. */
export function noticeContent({ kind, params }: Notice, place: LinkContext): MailContent {
  const rendered = renderNotice(NOTICES[kind], params, place)
  if (rendered === null) throw new TypeError(`the parameters of ${kind} have another form`)
  return rendered
}

/** Renders a stored notice as a mail; null when another version wrote it in a form that this one cannot read. */
export function storedNoticeContent(kind: string, params: string, place: LinkContext): MailContent | null {
  return isNoticeKind(kind) ? renderNotice(NOTICES[kind], parseJson(params), place) : null
}

function isNoticeKind(kind: string): kind is NoticeKind {
  return Object.hasOwn(NOTICES, kind)
}

/** The row of a kind, with the type of its parameters erased; its schema checks them at run time. */
function renderNotice(row: { readonly params: TObject }, params: unknown, place: LinkContext): MailContent | null {
  const { content, isOptional } = row as NoticeSpec<TObject> // its schema is checked in the same breath
  if (!Value.Check(row.params, params)) return null
  const { subject, blocks } = content(params, place)
  return { subject, blocks: isOptional ? [...blocks, switchFooter(place)] : blocks }
}

/** How to get no more mails of an optional kind. */
const switchFooter = ({ baseUrl }: LinkContext): MailBlock => ({
  kind: "footer",
  text: "You can switch off emails like this one on your account page.",
  label: "Choose your emails",
  url: `${baseUrl}${ROUTES.account.path}#${MAIL_SWITCHES_ANCHOR}`,
})

/** The part of the account page that switches mails. */
export const MAIL_SWITCHES_ANCHOR = "emails"
