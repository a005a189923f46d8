/** @jsxImportSource preact */
import { assert } from "../../../../base/errors.ts"
import { BACKGROUND_FIELDS, COMMON_FIELDS, LOG_EVENTS, type LogEvent } from "../../../../base/log-events.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { TIERS } from "../../../../contract/tiers.ts"
import { AUDIT_ACTS } from "../../../../customers/audit/audit.ts"
import { NOTICE_KINDS, NOTICES } from "../../../../customers/notices/notices.ts"
import { ACTORS, SOURCES } from "../../../../customers/store/change-log/actor.ts"
import { COOKIES } from "../../cookies.ts"
import { AskForMore, askForMore, OperatorPrices } from "../../public/home-sections.tsx"
import { formatBytes, formatLimit } from "../../ui/format.ts"
import { foldedCode } from "./example-inserts.tsx"
import { type BlockInsert, factOf, type Insert } from "./insert.ts"
import { codeFence, codeSpan, linkTo, markdownTable, nameTable, proseText } from "./markdown-text.ts"

/** The commands of the balancer's socket that take the first node out, so that it gets no new requests, and back in. */
export const HAPROXY_COMMANDS = {
  drain: "set server nodes/a state drain",
  ready: "set server nodes/a state ready",
} as const

const socketLine = (command: string): string => `echo "${command}" | socat - /run/haproxy/admin.sock`

/** Tables about this server: limits in force, settings, checks of `doctor` and cookies. */
export const OPERATION_INSERTS = {
  tiers: ({ tiers }) =>
    markdownTable(
      ["Tier", numbers("Requests per second"), numbers("Requests at once"), numbers("Units per day")],
      tiers.map((limits, tier) => [
        TIERS[tier]?.name ?? String(tier),
        formatLimit(limits.requestsPerSecond),
        formatLimit(limits.inFlight),
        formatLimit(limits.unitsPerDay),
      ]),
    ),
  settings: ({ settings }) =>
    markdownTable(
      ["Name", "Meaning", "Default"],
      partsOf(settings, SETTING_PARTS, ({ name }) => name).flatMap(([title, rows]) => [
        [`**${title}** {#${title.toLowerCase().replaceAll(" ", "-")}}`, "", ""],
        ...rows.map(({ name, says, default: fallback }) => [
          `${codeSpan(name)} {#${name}}`,
          proseText(says),
          proseText(name.endsWith("_BYTES_MAX") ? `${formatBytes(Number(fallback))} (${fallback})` : fallback),
        ]),
      ]),
    ),
  "log-events": () =>
    foldedEvents(
      "Meaning",
      partsOf(
        eventsWithOneText(({ fields }) => !isBackground(fields)),
        LOG_PARTS,
        ({ first }) => first,
      ),
    ),
  /** Work that failed: a part for each meaning that many events have, and one for the others. All have one level and the same fields. */
  "log-background-events": () => {
    const groups = eventsWithOneText(({ fields }) => isBackground(fields)).map(({ messages, meaning }) =>
      messages.map(first => ({ ...{ first, meaning, messages: [first] }, levels: [], fields: [] })),
    )
    const large = groups.filter(rows => rows.length >= LARGE_PART_MIN)
    const parts = large.map(rows => [(rows[0]?.meaning ?? "").replace(/\.$/, ""), rows] as const)
    return foldedEvents("What happens then", [
      ...parts,
      ["Other work", groups.filter(rows => !large.includes(rows)).flat()],
    ])
  },
  "log-common-fields": () =>
    nameTable(
      ["Field", "Meaning"],
      Object.entries(COMMON_FIELDS).map(([name, description]) => ({ name, description })),
    ),
  "audit-actors": () =>
    markdownTable(
      ["Value", "Meaning"],
      [
        ...[["**Who:** `actor`", ""], ...Object.entries(ACTORS)],
        ...[["**By which way:** `source`", ""], ...Object.entries(SOURCES)],
      ].map(([name = "", meaning = ""]) => [meaning === "" ? name : codeSpan(name), proseText(meaning)]),
    ),
  /** A kind whose name says what it means needs no words besides. */
  "audit-acts": () =>
    markdownTable(
      ["Kind", "Details"],
      Object.entries(AUDIT_ACTS).map(([name, { label, details }]) => {
        const meaning = label.toLowerCase() === name.replaceAll("_", " ") ? "" : label
        return [codeSpan(name), proseText([meaning, details].filter(part => part !== "").join(": ")) || "–"]
      }),
    ),
  "doctor-checks": ({ examinations }) => nameTable(["Name", "Checks that"], examinations),
  /** `{{mails optional}}`: those that can be switched off, or else those that cannot. */
  mails: (_, choice) =>
    markdownTable(
      ["Email", "When"],
      NOTICE_KINDS.map(kind => NOTICES[kind])
        .filter(({ isOptional }) => isOptional === (choice === "optional"))
        .map(({ title, description }) => [proseText(title), proseText(description)]),
    ),
  cookies: () =>
    markdownTable(
      ["Cookie", "For", "Kept"],
      Object.entries(COOKIES).map(([name, { description, maxAgeS }]) => [
        codeSpan(`mailkind_${name}`),
        proseText(description),
        durationText(maxAgeS),
      ]),
    ),
  "take-out": () =>
    codeFence("sh", "On the balancer", `${socketLine(HAPROXY_COMMANDS.drain)}\n${socketLine(HAPROXY_COMMANDS.ready)}`),
} as const satisfies Readonly<Record<string, Insert>>

/** The parts of the settings, and the setting that begins each. */
const SETTING_PARTS: Readonly<Record<string, string>> = {
  MAILKIND_CONFIG: "Address and data",
  MAILKIND_TEST_DOMAIN: "Checks",
  MAILKIND_LISTS_REFRESH_HOURS: "Data sources",
  MAILKIND_SMTP_URL: "Emails and accounts",
  MAILKIND_PUBLIC_CHECKER: "Visitors",
  MAILKIND_JOB_BYTES_MAX: "Lists that are uploaded",
  MAILKIND_LOG: "Log and metrics",
  MAILKIND_BACKUP_KEEP: "More",
}

/** The parts of the log, and the event that begins each. */
const LOG_PARTS: Readonly<Record<string, string>> = {
  "a request failed": "Requests",
  "requests fail": "Faults",
  "the start waits for the database": "Start and end",
  "a worker listens": "Workers and takeovers",
  "the lists were refreshed": "Data sources",
  "a mail was sent": "Emails",
}

/** Rows in the parts that they stand in: each begins with the row of its name. */
function partsOf<R>(rows: readonly R[], titles: Readonly<Record<string, string>>, nameOf: (row: R) => string) {
  const parts: [title: string, rows: R[]][] = []
  for (const row of rows) {
    const title = titles[nameOf(row)]
    if (title === undefined) parts.at(-1)?.[1].push(row)
    else parts.push([title, [row]])
  }
  return parts
}

/** As many events with one meaning are a part of their own. */
const LARGE_PART_MIN = 3

/** The files that deploy a server, folded. */
export const DEPLOY_INSERTS = {
  /** `{{deploy-file unit}}` */
  "deploy-file": ({ operatorFiles }, name) => {
    const file = DEPLOY_FILES.find(own => own.name === name)
    assert(file !== undefined, `there is no deploy file named ${name}`)
    const { language, caption } = file
    return foldedCode(caption, language, caption, factOf(operatorFiles).deploy[file.name].trimEnd())
  },
} as const satisfies Readonly<Record<string, BlockInsert>>

/** What the operator says about prices, or else whom to ask. */
export const PRICE_INSERTS = {
  pricing({ pricing, securityContacts }) {
    if (pricing !== null) return { markdown: pricing.trim(), html: <OperatorPrices pricing={pricing} /> }
    const { sentence, contact } = askForMore(securityContacts)
    return {
      markdown: `${sentence}${contact === null ? "" : linkTo(contact.name, contact.uri)}.`,
      html: (
        <p>
          <AskForMore contacts={securityContacts} />
        </p>
      ),
    }
  },
} as const satisfies Readonly<Record<string, BlockInsert>>

/** Every setting, folded: each has its anchor here, and leads to its row. */
export const SETTING_INDEX_INSERTS = {
  "setting-index": ({ settings }) => {
    const links = settings.map(({ name }) => ({ name, path: `${ROUTES.docsSettings.path}#${name}` }))
    return {
      markdown: links.map(({ name, path }) => linkTo(codeSpan(name), path)).join(", "),
      html: (
        <details>
          <summary>All settings by name</summary>
          <ul class="index">
            {links.map(({ name, path }) => (
              <li key={name} id={name}>
                <a href={path}>
                  <code>{name}</code>
                </a>
              </li>
            ))}
          </ul>
        </details>
      ),
    }
  },
} as const satisfies Readonly<Record<string, BlockInsert>>

/** Whether the row of an event tells of a field. What many lines have is told once. */
const isOfOne = (field: string): boolean => !Object.hasOwn(COMMON_FIELDS, field)

const isBackground = (fields: readonly string[]): boolean => fields.join() === BACKGROUND_FIELDS.join()

/** Tables of events, each below the name of its part. What all events of a part mean is in its name alone. */
const foldedEvents = (
  meaningHead: string,
  parts: readonly (readonly [title: string, rows: readonly Event[]])[],
): string =>
  parts
    .map(([title, rows]) => {
      const columns = new Set(rows.map(({ meaning }) => meaning)).size === 1 ? ["Event"] : ["Event", meaningHead]
      const cells = rows.map(({ messages, levels, fields, meaning }) => [
        [messages.map(codeSpan).join(", "), emphasis(levels.join(", "))].join(" ").trim(),
        [proseText(meaning), emphasis(fields.filter(isOfOne).map(codeSpan).join(" "))].join(" ").trim(),
      ])
      return `**${title}**\n\n${markdownTable(
        columns,
        cells.map(row => row.slice(0, columns.length)),
      )}`
    })
    .join("\n\n")

const emphasis = (text: string): string => (text === "" ? "" : `*${text}*`)

/** Events that differ in their message alone: `messages` has all of them, from the first. */
type Event = LogEvent & { readonly first: string; readonly messages: readonly string[] }

/** The events that are chosen. */
function eventsWithOneText(isChosen: (event: LogEvent) => boolean): readonly Event[] {
  const events = Object.entries<LogEvent>(LOG_EVENTS).filter(([, event]) => isChosen(event))
  const alike = Map.groupBy(events, ([, { levels, fields, meaning }]) => [levels, fields, meaning].join("\n"))
  return [...alike.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const [message, event] = first
    return [{ ...event, first: message, messages: [message, ...others.map(([other]) => other)] }]
  })
}

const DEPLOY_FILES = [
  { name: "unit", language: "ini", caption: "mailkind@.service" },
  { name: "environment", language: "sh", caption: "mailkind.env" },
  { name: "dockerfile", language: "dockerfile", caption: "Dockerfile" },
  { name: "nginx", language: "nginx", caption: "nginx.conf" },
  { name: "caddy", language: "caddy", caption: "Caddyfile" },
  { name: "haproxy", language: "haproxy", caption: "haproxy.cfg" },
  { name: "pgbouncer", language: "ini", caption: "pgbouncer.ini" },
  { name: "alerts", language: "yaml", caption: "alerts.yml" },
] as const

const numbers = (head: string) => ({ head, cells: "number" }) as const

const DAY_S = 86_400

const durationText = (seconds: number): string =>
  seconds % DAY_S === 0 ? `${seconds / DAY_S} days` : `${seconds / 60} minutes`
