import { expect, test } from "bun:test"
import { DAY_MS, HOUR_MS } from "../../src/base/time.ts"
import { CLOCK_SKEW_MS_MAX } from "../../src/base/trusted-clock.ts"
import { AGE_PROBE_BOUNDS } from "../../src/check/age/age-probe.ts"
import { BOOTSTRAP_CHARS_MAX } from "../../src/check/age/rdap-bootstrap.ts"
import { FAILED_PROBES_MIN, PROBE_INTERVAL_MS, SUSPICION_MS } from "../../src/check/dns/resolver/circuit-breaker.ts"
import {
  DNS_CACHE_BOUNDS,
  FAILURE_TTL_MS,
  STALE_TTL_MS,
  STALE_WINDOW_S,
  TTL_MAX_S,
  TTL_MIN_S,
} from "../../src/check/dns/resolver/dns-cache.ts"
import { CNAME_QUERIES_MAX } from "../../src/check/dns/resolver/resolution.ts"
import { SILENT_MS } from "../../src/check/dns/resolver/silent-domains.ts"
import { UDP_PAYLOAD_BYTES_MAX } from "../../src/check/dns/wire/packet.ts"
import { CNAME_LINKS_MAX } from "../../src/check/dns/wire/records.ts"
import { PORT_LIFE_MS, PORT_QUERIES_MAX, PORTS_MAX } from "../../src/check/dns/wire/udp-exchange.ts"
import { DOWNLOAD_BOUNDS } from "../../src/check/fetch/download.ts"
import { GUARDED_FETCH_BOUNDS } from "../../src/check/fetch/guarded-fetch.ts"
import { LEARNED_BOUNDS, OBSERVATION_DAYS_MAX } from "../../src/check/learned/learned-hosts.ts"
import { ADDRESSES_PER_HOST_MAX } from "../../src/check/mail/host-addresses.ts"
import { MAIL_HOSTS_MAX } from "../../src/check/mail/mail-hosts.ts"
import { SPF_CHARS_MAX } from "../../src/check/mail/spf.ts"
import { ENTRIES_MAX } from "../../src/check/refresh/source-validation.ts"
import { TENANT_PROBE_BOUNDS } from "../../src/check/tenant/tenant-probe.ts"
import { ANSWER_BYTES_MAX, BACKOFF_MAX_MS } from "../../src/client/options.ts"
import { CALLBACK_LIMITS } from "../../src/contract/callbacks.ts"
import { JOB_LIMITS } from "../../src/contract/jobs.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { DOMAIN_FACT_BOUNDS } from "../../src/customers/evidence/domain-facts.ts"
import { CORRECTIONS_MAX } from "../../src/customers/feedback/correction-cache.ts"
import { JOB_LEASE_BOUNDS } from "../../src/customers/jobs/job-leases.ts"
import { KEY_AUTHENTICATOR_BOUNDS } from "../../src/customers/keys/key-authenticator.ts"
import { ORIGINS_PER_KEY_MAX } from "../../src/customers/keys/origins.ts"
import { MAIL_SENDER_BOUNDS } from "../../src/customers/notices/mail-sender.ts"
import { SMTP_BOUNDS } from "../../src/customers/notices/smtp-mailer.ts"
import { OWN_LIST_CACHE_BOUNDS } from "../../src/customers/own-lists/own-list-cache.ts"
import { UNIT_QUOTA_BOUNDS } from "../../src/customers/quota/units/unit-quota.ts"
import { REQUEST_LOG_BOUNDS } from "../../src/customers/request-log/request-log.ts"
import { SIGN_IN_MAIL_BOUNDS } from "../../src/customers/sign-in/sign-in-mails.ts"
import { FORGOTTEN_KEY_DAYS } from "../../src/customers/store/backup/restore.ts"
import { CHANGES_PER_READ_MAX, CHANGES_STORED_MAX } from "../../src/customers/store/change-log/change-log.ts"
import { POOL_BOUNDS } from "../../src/customers/store/postgres/clients.ts"
import { USAGE_METER_BOUNDS } from "../../src/customers/usage/usage-meter.ts"
import { LONG_BODY_BYTES_MIN } from "../../src/http/admission/load-shedder.ts"
import { KEYS_TTL_MS } from "../../src/http/hooks/reporter-keys.ts"
import { FORM_PARTS_MAX } from "../../src/http/request/multipart.ts"
import { PATH_SEGMENTS_MAX } from "../../src/http/request/path-guard.ts"
import { BATCH_MAX } from "../../src/http/request/request-batcher.ts"
import { COMMIT_BOUNDS } from "../../src/jobs/jobs-part.ts"
import { DRAIN_TIMEOUT_MS } from "../../src/process/http-listener.ts"
import { LINE_BYTES_MAX } from "../../src/rows/line-splitter.ts"
import { IN_FLIGHT_MAX, QUEUE_LENGTH_MAX, QUEUE_MAX } from "../../src/rows/ordered-queue.ts"
import { MESSAGE_BYTES_MAX, MESSAGES_MAX } from "../../src/system/control-socket.ts"

/** Each bound beside its number. Other tests take a bound from its module, so that a number that is wrong is seen here alone. */
const MEMORY: Readonly<Record<string, readonly [bound: number, literal: number]>> = {
  "body of a homepage": [GUARDED_FETCH_BOUNDS.bodyBytesMax, 262_144],
  "head of a homepage": [GUARDED_FETCH_BOUNDS.headBytesMax, 32_768],
  "bytes of one connection to a homepage": [GUARDED_FETCH_BOUNDS.wireBytesMax, 1_048_576],
  "redirects of a homepage": [GUARDED_FETCH_BOUNDS.redirectsMax, 3],
  "addresses of a homepage": [GUARDED_FETCH_BOUNDS.addressesMax, 2],
  "downloaded list": [DOWNLOAD_BOUNDS.bytesMax, 16_777_216],
  "entries of a downloaded list": [ENTRIES_MAX, 500_000],
  "registry bootstrap": [BOOTSTRAP_CHARS_MAX, 262_144],
  "ages of domains": [AGE_PROBE_BOUNDS.cache.entriesMax, 20_000],
  "lookups of ages": [AGE_PROBE_BOUNDS.inFlightMax, 2000],
  "lookups of ages that wait for one registry": [AGE_PROBE_BOUNDS.server.waitingMax, 100],
  "lookups of ages at one registry": [AGE_PROBE_BOUNDS.server.inFlightMax, 4],
  "tenants of domains": [TENANT_PROBE_BOUNDS.cache.entriesMax, 20_000],
  "lookups of tenants": [TENANT_PROBE_BOUNDS.inFlightMax, 64],
  "probes that fail wholly before the breaker opens on servers that reply": [FAILED_PROBES_MIN, 2],
  "DNS answers": [DNS_CACHE_BOUNDS.entriesMax, 20_000],
  "bytes of DNS answers": [DNS_CACHE_BOUNDS.bytesMax, 12_582_912],
  "bytes of one DNS answer": [DNS_CACHE_BOUNDS.answerBytesMax, 131_072],
  "payload of a DNS packet": [UDP_PAYLOAD_BYTES_MAX, 1232],
  "CNAME links of an answer": [CNAME_LINKS_MAX, 8],
  "questions along CNAMEs": [CNAME_QUERIES_MAX, 8],
  "source ports": [PORTS_MAX, 64],
  "questions of a source port": [PORT_QUERIES_MAX, 128],
  "DNS questions of a check": [LIMITS.dnsQuestionsPerCheckMax, 12],
  "hosts of an MX answer": [MAIL_HOSTS_MAX, 20],
  "addresses of a mail host": [ADDRESSES_PER_HOST_MAX, 64],
  "SPF record": [SPF_CHARS_MAX, 2048],
  "places of mail hosts": [LEARNED_BOUNDS.placesMax, 40_000],
  "body of a check": [LIMITS.bodyBytesMax, 65_536],
  "body of a batch": [LIMITS.batchBodyBytesMax, 262_144],
  "body that reserves memory": [LONG_BODY_BYTES_MIN, 8192],
  "bodies of a client without a key": [LIMITS.keylessBodiesPerClientMax, 16],
  "items of a batch": [LIMITS.batchItemsMax, 100],
  "requests of one batch of work": [BATCH_MAX, 256],
  "parts of a form": [FORM_PARTS_MAX, 128],
  "segments of a path": [PATH_SEGMENTS_MAX, 8],
  "line of a list": [LINE_BYTES_MAX, 65_536],
  "rows in flight": [IN_FLIGHT_MAX, 256],
  "rows that wait": [QUEUE_MAX, 4096],
  "characters of rows that wait": [QUEUE_LENGTH_MAX, 16_777_216],
  "rows between commits": [COMMIT_BOUNDS.rows, 8000],
  "bytes of an account's lists": [JOB_LIMITS.bytesPerAccountMax, 1_073_741_824],
  "cells of a list": [JOB_LIMITS.cellsMax, 50_000_000],
  "columns of a list": [JOB_LIMITS.columnsMax, 1000],
  "lists of an account": [JOB_LIMITS.jobsPerAccountMax, 20],
  "keys in memory": [KEY_AUTHENTICATOR_BOUNDS.keysMax, 20_000],
  "unknown keys in memory": [KEY_AUTHENTICATOR_BOUNDS.unknownMax, 10_000],
  "origins of a key": [ORIGINS_PER_KEY_MAX, 20],
  "entries of own lists": [LIMITS.ownListEntriesMax, 10_000],
  "entries of own lists in memory": [OWN_LIST_CACHE_BOUNDS.entriesMax, 250_000],
  "corrections in memory": [CORRECTIONS_MAX, 100_000],
  "subjects of units": [UNIT_QUOTA_BOUNDS.subjectsMax, 100_000],
  "counters of usage": [USAGE_METER_BOUNDS.countersMax, 50_000],
  "logged requests in memory": [REQUEST_LOG_BOUNDS.totalMax, 2000],
  "sign-in mails that wait": [SIGN_IN_MAIL_BOUNDS.pendingMax, 1000],
  "connections to the mail server": [SMTP_BOUNDS.connectionsMax, 4],
  "statements that wait": [POOL_BOUNDS.waitingMax, 10_000],
  "stored changes": [CHANGES_STORED_MAX, 10_000],
  "changes of one read": [CHANGES_PER_READ_MAX, 1000],
  "stored facts of domains": [DOMAIN_FACT_BOUNDS.rowsMax, 500_000],
  "answer that the client reads": [ANSWER_BYTES_MAX, 4_194_304],
  "messages of the control socket": [MESSAGES_MAX, 10],
  "message of the control socket": [MESSAGE_BYTES_MAX, 100],
}

const TIME: typeof MEMORY = {
  "homepage, ms": [GUARDED_FETCH_BOUNDS.timeoutMs, 5000],
  "connection to a homepage, ms": [GUARDED_FETCH_BOUNDS.connectMs, 2000],
  "download of a list, ms": [DOWNLOAD_BOUNDS.timeoutMs, 60_000],
  "age of a domain, ms": [AGE_PROBE_BOUNDS.cache.knownTtlMs, 30 * 86_400_000],
  "failed age, ms": [AGE_PROBE_BOUNDS.cache.failureTtlMs, 30_000],
  "tenant, ms": [TENANT_PROBE_BOUNDS.cache.answerTtlMs, 86_400_000],
  "least DNS TTL, s": [TTL_MIN_S, 30],
  "greatest DNS TTL, s": [TTL_MAX_S, 3600],
  "stale DNS answer, s": [STALE_WINDOW_S, 86_400],
  "stale DNS answer again, ms": [STALE_TTL_MS, 5000],
  "failed DNS question, ms": [FAILURE_TTL_MS, 1000],
  "silent domain, ms": [SILENT_MS, 30_000],
  "suspicion of the breaker, ms": [SUSPICION_MS, 500],
  "probe of the breaker, ms": [PROBE_INTERVAL_MS, 2000],
  "life of a source port, ms": [PORT_LIFE_MS, 2000],
  "hosts of a mail server, ms": [LIMITS.dnsHostsTimeoutMs, 1000],
  "idle connection, s": [LIMITS.connectionIdleSeconds, 20],
  "body without a key, s": [LIMITS.keylessBodySeconds, 5],
  "drain, ms": [DRAIN_TIMEOUT_MS, 10_000],
  "work between commits, ms": [COMMIT_BOUNDS.ms, 1000],
  "idle upload, s": [JOB_LIMITS.uploadIdleSeconds, 20],
  "silent holder of a job, ms": [JOB_LEASE_BOUNDS.deadAfterMs, 12_000],
  "receiver of a callback, s": [CALLBACK_LIMITS.timeoutSeconds, 15],
  "key in memory, ms": [KEY_AUTHENTICATOR_BOUNDS.keyTtlMs, 50_000],
  "unknown key in memory, ms": [KEY_AUTHENTICATOR_BOUNDS.unknownTtlMs, 5000],
  "revoked key, s": [LIMITS.revocationSecondsMax, 60],
  "keys of a reporter of leaks, ms": [KEYS_TTL_MS, 3_600_000],
  "statement, ms": [POOL_BOUNDS.statementTimeoutMs, 2000],
  "wait for a connection, ms": [POOL_BOUNDS.waitTimeoutMs, 2600],
  "mail that is tried, ms": [MAIL_SENDER_BOUNDS.givenUpAfterMs, 5 * 86_400_000],
  "skew of clocks, ms": [CLOCK_SKEW_MS_MAX, 60_000],
  "pause of the client, ms": [BACKOFF_MAX_MS, 16_000],
  "a day, ms": [DAY_MS, 86_400_000],
  "an hour, ms": [HOUR_MS, 3_600_000],
}

const PRIVACY: typeof MEMORY = {
  "days of the request log": [LIMITS.requestLogDays, 7],
  "rows of the request log": [LIMITS.requestLogRowsMax, 10_000],
  "days of usage": [LIMITS.usageDaysKept, 90],
  "days of a report": [LIMITS.feedbackDays, 400],
  "days of a key after its end": [LIMITS.endedKeyDays, 400],
  "days of a key after its end, as a restore knows them": [FORGOTTEN_KEY_DAYS, LIMITS.endedKeyDays],
  "days of the audit trail": [LIMITS.auditDays, 400],
  "days of networks of a key": [LIMITS.seenNetworkDays, 90],
  "days of a suspension after its account": [LIMITS.formerSuspensionDays, 365],
  "days of observations of mail hosts": [OBSERVATION_DAYS_MAX, 90],
  "days of facts of domains, ms": [DOMAIN_FACT_BOUNDS.retentionMs, 30 * 86_400_000],
  "days of a session": [LIMITS.sessionDays, 30],
  "sessions of an account": [LIMITS.sessionsPerAccountMax, 20],
  "minutes of a sign-in": [LIMITS.signInMinutes, 15],
  "digits of a code": [LIMITS.signInCodeDigits, 6],
  "tries of a code": [LIMITS.signInTriesMax, 5],
  "wrong codes of an address and day": [LIMITS.wrongCodesPerAddressAndDay, 10],
  "requests a second without a key": [LIMITS.keylessPerSecond, 5],
  "reasons that a page is told": [LIMITS.publishableReasonsMax, 3],
  "hours of a former callback secret": [CALLBACK_LIMITS.formerSecretHours, 24],
  "bytes of a callback secret": [CALLBACK_LIMITS.secretBytes, 32],
}

test.each(Object.entries({ memory: MEMORY, time: TIME, privacy: PRIVACY }))(
  "the bounds of %s are these numbers",
  (_, bounds) => {
    const column = (at: 0 | 1) => Object.fromEntries(Object.entries(bounds).map(([name, pair]) => [name, pair[at]]))
    expect(column(0)).toEqual(column(1))
  },
)
