import { assert } from "../../../../base/errors.ts"
import {
  CANDIDATE_LISTED_MIN,
  LISTED_DOMAINS_MIN,
  LISTED_SHARE_MIN,
  OBSERVATION_DAYS_MAX,
} from "../../../../check/learned/learned-hosts.ts"
import { ROLL_UP_NAMES_MIN } from "../../../../check/lists/build/roll-up.ts"
import { CALLBACK_LIMITS } from "../../../../contract/callbacks.ts"
import { JOB_LIMITS } from "../../../../contract/jobs.ts"
import { LIMITS } from "../../../../contract/limits.ts"
import { DOUBTFUL_BELOW, POLICY_DEFAULT } from "../../../../contract/policies.ts"
import {
  DEGRADED,
  LEARNED_MAIL_HOST_CONFIDENCE,
  MISSING_NAME_CONFIDENCE,
  OPEN_SUFFIX_CONFIDENCE,
  PARKED_CONFIDENCE,
  REASONS,
  SINGLE_WITNESS_CONFIDENCE,
} from "../../../../contract/reasons.ts"
import { API_VERSION, ROUTES } from "../../../../contract/routes.ts"
import { OWNER_EMAIL } from "../../../../customers/keys/first-account.ts"
import { KEY_AUTHENTICATOR_BOUNDS } from "../../../../customers/keys/key-authenticator.ts"
import { NODE_SETTINGS } from "../../../../customers/nodes/equal-settings.ts"
import { PRE_MIGRATION_BACKUPS_MAX } from "../../../../customers/store/backup/backup.ts"
import { POLL_BOUNDS } from "../../../../customers/store/poll/database-poll.ts"
import { POOL_BOUNDS, processConnectionsMax } from "../../../../customers/store/postgres/clients.ts"
import { LOAD_LIMITS } from "../../../admission/load-shedder.ts"
import { formatBytes, formatCount, formatNumber } from "../../ui/format.ts"
import { callerTimeoutSeconds, KEY_VARIABLE } from "../examples.ts"
import { WHEEL_NAME } from "../python-wheel.ts"
import { factOf, type Insert, type PageFacts } from "./insert.ts"
import { linkTo } from "./markdown-text.ts"

/** Single values: a page names the constant, so that no number is written twice. */
export const VALUE_INSERTS = {
  /** `{{limit usageDays}}`: a row of the table of limits. */
  limit: (_, name) => formatNumber(limitNamed(LIMITS, name)),
  /** `{{bytes bodyBytesMax}}`: the same in KiB or MiB. */
  bytes: (_, name) => inKibOrMib(limitNamed(LIMITS, name)),
  /** `{{size MAILKIND_JOB_BYTES_MAX}}`: a limit of jobs or the default of a setting, in the largest unit that it fills. */
  size: ({ settings }, name) =>
    formatBytes(name.startsWith("MAILKIND_") ? defaultOf(settings, name) : limitNamed(JOB_LIMITS, name)),
  /** `{{default MAILKIND_JOB_KEEP_HOURS}}`: the default of a setting that is a number. */
  default: ({ settings }, name) => formatNumber(defaultOf(settings, name)),
  /** `{{minutes signInPerAddressSeconds}}`: a limit in seconds, as minutes. */
  minutes: (_, name) => formatNumber(limitNamed(LIMITS, name) / 60),
  /** `{{job-limit jobsPerAccountMax}}`: a row of the table of limits of jobs. */
  "job-limit": (_, name) => formatNumber(limitNamed(JOB_LIMITS, name)),
  /** `{{callback-limit timeoutSeconds}}`: a number of the table of limits of callbacks. */
  "callback-limit": (_, name) => formatNumber(limitNamed(CALLBACK_LIMITS, name)),
  /** The settings that may differ between the nodes of a database. */
  "node-settings": () => NODE_SETTINGS.map(name => `\`${name}\``).join(", "),
  /** The pauses between the attempts of a callback. */
  "callback-retries": () => CALLBACK_LIMITS.retrySeconds.map(formatPause).join(", "),
  /** Where the contact of this server is, if it names one. */
  "security-contact": ({ securityContacts }) =>
    securityContacts.length > 0
      ? `: the contact is in ${linkTo(ROUTES.securityTxt.path, ROUTES.securityTxt.path)}`
      : "",
  "base-url": ({ baseUrl }) => baseUrl,
  "python-wheel": () => WHEEL_NAME,
  "test-domain": ({ testDomain }) => testDomain,
  "check-timeout-ms": ({ checkTimeoutMs }) => formatNumber(checkTimeoutMs),
  "caller-timeout-seconds": ({ checkTimeoutMs }) => String(callerTimeoutSeconds(checkTimeoutMs)),
  "default-policy": () => POLICY_DEFAULT,
  "doubtful-below": () => String(DOUBTFUL_BELOW),
  "degraded-factor": () => String(DEGRADED.factor),
  "degraded-known-organisation": () => String(DEGRADED.known_organisation),
  "degraded-no-evidence": () => String(DEGRADED.no_evidence),
  "learned-host-confidence": () => String(LEARNED_MAIL_HOST_CONFIDENCE),
  "roll-up-names": () => String(ROLL_UP_NAMES_MIN),
  "disposable-confidence": () => String(REASONS.disposable_domain.confidence),
  "weak-listing-confidence": () => String(REASONS.weak_listing.confidence),
  "single-witness-confidence": () => String(SINGLE_WITNESS_CONFIDENCE),
  "open-suffix-confidence": () => String(OPEN_SUFFIX_CONFIDENCE),
  "missing-name-confidence": () => String(MISSING_NAME_CONFIDENCE),
  "parked-confidence": () => String(PARKED_CONFIDENCE),
  "learned-host-days": () => String(OBSERVATION_DAYS_MAX),
  "learned-host-domains": () => String(LISTED_DOMAINS_MIN),
  "learned-host-share": () => String(LISTED_SHARE_MIN),
  "candidate-host-domains": () => String(CANDIDATE_LISTED_MIN),
  "key-variable": () => KEY_VARIABLE,
  "first-account": () => OWNER_EMAIL,
  "api-version": () => API_VERSION,
  "pre-migration-backups": () => String(PRE_MIGRATION_BACKUPS_MAX),
  "cached-key-seconds": () => String(KEY_AUTHENTICATOR_BOUNDS.keyTtlMs / 1000),
  /** `{{connections 12}}`: how many PostgreSQL connections so many processes open. */
  connections: (_, processes) => String(Number(processes) * processConnectionsMax(true)),
  "requests-in-flight": () => formatNumber(LOAD_LIMITS.inFlightMax),
  "poll-milliseconds": () => String(POLL_BOUNDS.everyMs + POLL_BOUNDS.lookMs),
  "connections-of-pool": () => String(POOL_BOUNDS.connectionsMax),
  "connections-of-process": () => String(processConnectionsMax(true)),
  /** Links whose title is the name that the file is saved under. */
  "grafana-dashboard": ({ operatorFiles }) =>
    linkTo("a dashboard for Grafana", `${factOf(operatorFiles).dashboardPath} "mailkind.json"`),
  "prometheus-alerts": ({ operatorFiles }) =>
    linkTo("alert rules for Prometheus", `${factOf(operatorFiles).alertsPath} "alerts.yml"`),
} as const satisfies Readonly<Record<string, Insert>>

function defaultOf(settings: PageFacts["settings"], name: string): number {
  const found = settings.find(own => own.name === name)
  assert(found !== undefined, `there is a setting named ${name}`)
  return Number(found.default)
}

function limitNamed(limits: Readonly<Record<string, unknown>>, name: string): number {
  const found = Object.entries(limits).find(([own]) => own === name)?.[1]
  assert(typeof found === "number", `there is a limit named ${name}`)
  return found
}

const inKibOrMib = (bytes: number): string =>
  bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MiB` : `${bytes / 1024} KiB`

function formatPause(seconds: number): string {
  if (seconds < 60) return formatCount(seconds, "second")
  return seconds < 3600 ? formatCount(seconds / 60, "minute") : formatCount(seconds / 3600, "hour")
}
