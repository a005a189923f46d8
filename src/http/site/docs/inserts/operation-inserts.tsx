/** @jsxImportSource preact */
import { assert } from "../../../../base/errors.ts"
import { BACKGROUND_FIELDS, LOG_EVENTS, type LogEvent } from "../../../../base/log-events.ts"
import { ROUTES } from "../../../../contract/routes.ts"
import { TIERS } from "../../../../contract/tiers.ts"
import { AUDIT_ACTS } from "../../../../customers/audit/audit.ts"
import { NOTICE_KINDS, NOTICES } from "../../../../customers/notices/notices.ts"
import { ACTORS, SOURCES } from "../../../../customers/store/change-log/actor.ts"
import { COOKIES } from "../../cookies.ts"
import { AskForMore, OperatorPrices } from "../../public/home-sections.tsx"
import { formatLimit } from "../../ui/format.ts"
import { Prose } from "../../ui/layout.tsx"
import { Table } from "../../ui/table.tsx"
import { foldedCode } from "./example-inserts.tsx"
import { type BlockInsert, factOf, type Insert, type PageBlock, type PageFacts } from "./insert.ts"
import { codeFence, codeSpan, linkTo, markdownTable, proseText } from "./markdown-text.ts"

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
    partsOf(settings, SETTING_PARTS, ({ name }) => name)
      .map(([title, rows]) => {
        const table = markdownTable(
          ["Name", "Meaning"],
          rows.map(({ name, says, default: fallback }) => [
            `${codeSpan(name)} {#${name}}`,
            `${proseText(says)} Default: ${proseText(fallback)}.`,
          ]),
        )
        return `### ${title} {#${title.toLowerCase().replaceAll(" ", "-")}}\n\n${table}`
      })
      .join("\n\n"),
  "log-background-fields": () => BACKGROUND_FIELDS.map(codeSpan).join(", "),
  "audit-actors": () =>
    markdownTable(
      ["Who", "Meaning"],
      Object.entries(ACTORS).map(([name, meaning]) => [codeSpan(name), proseText(meaning)]),
    ) +
    "\n\n" +
    markdownTable(
      ["By which way", "Meaning"],
      Object.entries(SOURCES).map(([name, meaning]) => [codeSpan(name), proseText(meaning)]),
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
  "doctor-checks": ({ examinations }) =>
    markdownTable(
      ["Name", "Checks that"],
      examinations.map(({ name, description }) => [codeSpan(name), proseText(description)]),
    ),
  mails: () =>
    markdownTable(
      ["Email", "When", "Can be switched off"],
      NOTICE_KINDS.map(kind => {
        const { title, description, isOptional } = NOTICES[kind]
        return [proseText(title), proseText(description), isOptional ? "yes" : "no"]
      }),
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
    codeFence(
      "sh",
      "Shell, on the balancer",
      `${socketLine(HAPROXY_COMMANDS.drain)}\n${socketLine(HAPROXY_COMMANDS.ready)}`,
    ),
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

/** As many events with one outcome are folded. */
const FOLDED_EVENTS_MIN = 3

/** The events of the log. */
export const LOG_EVENT_INSERTS = {
  /** Every event by its part, which is folded. */
  "log-events": () => {
    const events = eventsWithOneText(({ fields }) => !isBackground(fields))
    const parts = partsOf(events, LOG_PARTS, ({ first }) => first)
    const columns = ["Event", "Meaning"]
    return {
      markdown: parts
        .map(([title, rows]) => {
          const cells = rows.map(({ messages, levels, fields, meaning }) => [
            `${messages.map(codeSpan).join(", ")}, ${levels.join(", ")}`,
            [proseText(meaning), ...fields.map(codeSpan)].join(" "),
          ])
          return `**${title}**\n\n${markdownTable(columns, cells)}`
        })
        .join("\n\n"),
      html: (
        <>
          {parts.map(([title, rows]) => (
            <details key={title}>
              <summary>
                {title} <span class="type">{rows.length}</span>
              </summary>
              <Table caption={title} columns={columns}>
                {rows.map(({ first, messages, levels, fields, meaning }) => (
                  <tr key={first}>
                    <th scope="row">
                      <Prose text={messages.map(codeSpan).join(", ")} /> <p class="type">{levels.join(", ")}</p>
                    </th>
                    <td>
                      <Prose text={meaning} />
                      <p class="type">
                        <Prose text={fields.map(codeSpan).join(" ")} />
                      </p>
                    </td>
                  </tr>
                ))}
              </Table>
            </details>
          ))}
        </>
      ),
    }
  },
  /** Work that failed: what many events lead to is a fold with their names, and the others are a table. */
  "log-background-events": () => {
    const groups = eventsWithOneText(({ fields }) => isBackground(fields))
    const large = groups.filter(({ messages }) => messages.length >= FOLDED_EVENTS_MIN)
    const rest = groups
      .filter(({ messages }) => messages.length < FOLDED_EVENTS_MIN)
      .flatMap(({ messages, meaning }) => messages.map(message => ({ message, meaning })))
    const columns = ["Event", "What happens then"]
    const cells = rest.map(({ message, meaning }) => [codeSpan(message), proseText(meaning)])
    const lists = large.map(({ messages, meaning }) => `**${meaning}** ${messages.map(codeSpan).join(", ")}`)
    return {
      markdown: [...lists, markdownTable(columns, cells)].join("\n\n"),
      html: (
        <>
          {large.map(({ first, messages, meaning }) => (
            <details key={first}>
              <summary>
                {meaning} <span class="type">{messages.length}</span>
              </summary>
              <ul>
                {messages.map(message => (
                  <li key={message}>
                    <code>{message}</code>
                  </li>
                ))}
              </ul>
            </details>
          ))}
          <Table caption="Other work in the background that failed" columns={columns}>
            {rest.map(({ message, meaning }) => (
              <tr key={message}>
                <th scope="row">
                  <code>{message}</code>
                </th>
                <td>
                  <Prose text={meaning} />
                </td>
              </tr>
            ))}
          </Table>
        </>
      ),
    }
  },
} as const satisfies Readonly<Record<string, BlockInsert>>

/** The files that deploy a server, folded. */
export const DEPLOY_INSERTS = {
  /** `{{deploy-file unit}}` */
  "deploy-file": ({ operatorFiles }, name) => {
    const file = DEPLOY_FILES.find(own => own.name === name)
    assert(file !== undefined, `there is no deploy file named ${name}`)
    const { language, caption } = file
    return foldedCode(caption, language, caption, factOf(operatorFiles).deploy[file.name].trimEnd())
  },
  "haproxy-frontend": facts => haproxyHalf(facts, 0, "haproxy.cfg"),
  "haproxy-backend": facts => haproxyHalf(facts, 1, "haproxy.cfg, its other half"),
} as const satisfies Readonly<Record<string, BlockInsert>>

/** What the operator says about prices, or else whom to ask. */
export const PRICE_INSERTS = {
  pricing: ({ pricing, securityContacts }) => ({
    markdown: pricing?.trim() ?? ["Need more? Ask the operator of this server", ...securityContacts].join(": "),
    html:
      pricing === null ? (
        <p>
          <AskForMore contacts={securityContacts} />
        </p>
      ) : (
        <OperatorPrices pricing={pricing} />
      ),
  }),
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

const isBackground = (fields: readonly string[]): boolean => fields.join() === BACKGROUND_FIELDS.join()

/** The events that are chosen. Those that differ in their message alone are one: `messages` has all of them, from the first. */
function eventsWithOneText(
  isChosen: (event: LogEvent) => boolean,
): readonly (LogEvent & { readonly first: string; readonly messages: readonly string[] })[] {
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
] as const

/** The configuration of a load balancer, up to its backend or from there. */
function haproxyHalf({ operatorFiles }: PageFacts, half: 0 | 1, caption: string): PageBlock {
  const halves = factOf(operatorFiles).deploy.haproxy.split(/\n(?=backend )/)
  return foldedCode(caption, "haproxy", caption, halves[half]?.trim() ?? "")
}

const numbers = (head: string) => ({ head, cells: "number" }) as const

const DAY_S = 86_400

const durationText = (seconds: number): string =>
  seconds % DAY_S === 0 ? `${seconds / DAY_S} days` : `${seconds / 60} minutes`
