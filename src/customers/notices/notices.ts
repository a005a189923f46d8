import { type Static, type TObject, Type } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { parseJson } from "../../base/text.ts"
import { DAY_MS } from "../../base/time.ts"
import { JOB_REASON_NAMES, JOB_REASONS } from "../../contract/jobs.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { MailBlock, MailContent } from "./mail-content.tsx"
import {
  dashboardLink,
  formatCount,
  formatDay,
  formatInstant,
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

/** Nothing of the list, not even its name, which may be that of a person. */
const LIST_PARAMS = Type.Object({ jobId: Type.String() })

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
    description: "Someone asked to sign in with this address. The mail has a link and a code.",
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
    description: "An administrator invites this address to an account. The mail has a link.",
    isOptional: false,
    params: INVITATION_PARAMS,
    content: ({ link }) => ({
      subject: "You are invited to mailkind",
      blocks: [
        prose("An administrator of a mailkind server invites you to an account. You get it, with a key, by this link:"),
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
      subject: "A new key was created for your mailkind account",
      blocks: [
        prose("Your account has a new API key. We never send keys by email."),
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
      subject: "A key of your mailkind account was revoked",
      blocks: [
        prose(`An API key of your account was revoked. ${STOPS_WORKING}`),
        keyFacts(key, "Revoked"),
        prose("If this was not you, check your other keys. Then sign out every browser that you do not know:"),
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
      subject: "A key of your mailkind account was revoked by an administrator",
      blocks: [
        prose(`An administrator of this service revoked one of your API keys. ${STOPS_WORKING}`),
        keyFacts(key, "Revoked"),
        prose("Ask the administrator for the reason. You can create a new key here:"),
        dashboardLink(place),
      ],
    }),
  }),
  key_leaked: notice({
    title: "Key leaked",
    description: "A secret key of your account was found in public and revoked. The mail has the steps to replace it.",
    isOptional: false,
    params: KEY_PARAMS,
    content: (key, place) => ({
      subject: "A key of your mailkind account was found in public and revoked",
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
      subject: `A key of your mailkind account expires on ${formatDay(key.atMs - 1)}`,
      blocks: [
        prose("One of your API keys expires soon. After that its requests are refused."),
        keyFacts(key, "Expires"),
        prose("If you still need the key, choose a later day. Or create a new key and use it instead."),
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
      subject: "A key of your mailkind account was used from a new network",
      blocks: [
        prose("A secret API key of your account was used from a network that has not used it before."),
        keyFacts(key, "First used there"),
        prose(
          "If you moved or added a server, you have nothing to do. Otherwise, create a new key and revoke this one.",
        ),
        prose("You can also limit the key to the networks of your servers."),
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
      subject: `The terms of mailkind change on ${formatDay(endsAtMs)}`,
      blocks: [
        prose(`We have published new terms, version ${version}. Please accept them before ${formatInstant(endsAtMs)}.`),
        { kind: "link", label: "Read the new terms", url },
        prose("Your keys keep working until then. After that, we refuse their requests until you accept."),
        prose("To accept the terms, sign in:"),
        dashboardLink(place),
      ],
    }),
  }),
  account_suspended: notice({
    title: "Account suspended",
    description: "An administrator of the service suspended your account. The mail has the reason, if there is one.",
    isOptional: false,
    params: SUSPENSION_PARAMS,
    content: ({ atMs, reason }, place) => ({
      subject: "Your mailkind account is suspended",
      blocks: [
        prose(`An administrator of this service suspended your account on ${formatInstant(atMs)}.`),
        prose("We refuse all requests with your keys until the account is resumed. You can still sign in and read."),
        ...(reason === "" ? [] : [{ kind: "facts", facts: [["Reason", reason]] } as const]),
        prose("Ask the administrator if you think that this is a mistake."),
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
        prose(`An administrator of this service resumed your account on ${formatInstant(atMs)}.`),
        prose("Your keys work again. You do not have to change anything."),
        dashboardLink(place),
      ],
    }),
  }),
  units_80: notice({
    title: "80 % of the day's units used",
    description: "Your secret keys have used 80 % of the units of a day.",
    isOptional: true,
    params: UNITS_PARAMS,
    content: ({ used, limit, day }, place) => ({
      subject: "You have used 80 % of your mailkind units for today",
      blocks: [
        prose(
          `Your account has used ${formatCount(used)} of its ${formatCount(limit)} units for ${formatDay(day * DAY_MS)}.`,
        ),
        prose("When all units are used, we refuse requests with your secret keys. You get new units at 00:00 UTC."),
        usageLink(place),
      ],
    }),
  }),
  units_100: notice({
    title: "All units of the day used",
    description: "Your secret keys have used all units of a day.",
    isOptional: true,
    params: UNITS_PARAMS,
    content: ({ limit, day }, place) => ({
      subject: "Your mailkind units for today are used up",
      blocks: [
        prose(`Your account has used all of its ${formatCount(limit)} units for ${formatDay(day * DAY_MS)}.`),
        prose("We refuse requests with your secret keys until 00:00 UTC. Then you get new units."),
        usageLink(place),
      ],
    }),
  }),
  list_done: notice({
    title: "List checked",
    description: "All rows of a list that you uploaded were checked.",
    isOptional: true,
    params: LIST_PARAMS,
    content: ({ jobId }, place) => ({
      subject: "Your list is checked",
      blocks: [
        prose(
          "All rows of a list that you uploaded to mailkind have their results. You can download them for a while.",
        ),
        listLink(jobId, place),
      ],
    }),
  }),
  list_stopped: notice({
    title: "List not checked to its end",
    description: "The check of a list that you uploaded waits, or ended early. The mail says why.",
    isOptional: true,
    params: STOPPED_LIST_PARAMS,
    content: ({ jobId, reason }, place) => {
      const { state, description } = JOB_REASONS[reason]
      return {
        subject: state === "stopped" ? "The check of your list waits" : "The check of your list ended early",
        blocks: [
          prose(`A list that you uploaded to mailkind is not checked to its end. ${description}`),
          prose("The results so far can be downloaded."),
          listLink(jobId, place),
        ],
      }
    },
  }),
  report_decided: notice({
    title: "Report decided",
    description: "A verdict that you reported as wrong was reviewed.",
    isOptional: true,
    params: REPORT_PARAMS,
    content: ({ domain, reportedCategory, isAccepted }, { baseUrl }) => ({
      subject: isAccepted ? "We corrected the verdict that you reported" : "We kept the verdict that you reported",
      blocks: [
        prose(
          isAccepted
            ? "Thank you for your report. We reviewed it and changed the verdict. New checks use the change."
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
