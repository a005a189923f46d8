import { expect, test } from "bun:test"
import { LISTS_AGE_DAYS_MAX } from "../../src/doctor/lists.ts"
import {
  type AlertCase,
  differingAlerts,
  RULES_FILE,
  readAlertRules,
  runPromtool,
  testRules,
} from "../support/promtool.ts"

/** What was scraped of a server, without the labels that Prometheus adds, and when the rules are looked at. */
type Moment = { readonly at: string; readonly every?: "1m" | "1h"; readonly series: Readonly<Record<string, string>> }

/** A moment in which an alert fires and no other does, and one that is near it in which none does. */
type Cases = { readonly fires: Moment; readonly quiet: Moment }

const LATENCY = "mailkind_http_request_duration_seconds"
const DATABASE = "mailkind_database_operation_duration_seconds"
const CHECK = 'route="POST /v1/check"'
const GIB = 1024 ** 3
const MIB = 1024 ** 2

const moment = (at: string, series: Moment["series"]): Moment => ({ at, series })
const daysLater = (at: string, series: Moment["series"]): Moment => ({ at, series, every: "1h" })

/** Cumulative buckets of a histogram to which so many observations a minute come: those up to `le`, and all. */
const observed = (name: string, labels: string, le: string, within: number, all: number): Moment["series"] => {
  const joined = (...pairs: readonly string[]): string => pairs.filter(pair => pair !== "").join(",")
  return {
    [`${name}_bucket{${joined(labels, `le="${le}"`)}}`]: `0+${within}x60`,
    [`${name}_bucket{${joined(labels, 'le="5"')}}`]: `0+${all}x60`,
    [`${name}_bucket{${joined(labels, 'le="+Inf"')}}`]: `0+${all}x60`,
    [`${name}_count${labels === "" ? "" : `{${labels}}`}`]: `0+${all}x60`,
  }
}

const disk = (free: string, size: number): Moment["series"] => ({
  'mailkind_disk_free_bytes{directory="data"}': free,
  'mailkind_disk_size_bytes{directory="data"}': `${size}x900`,
})

const CASES: Readonly<Record<string, Cases>> = {
  MailkindDown: {
    fires: moment("13m", { up: "1x9 0x9", mailkind_build_info: "1x9 _x9" }),
    // A restart, and what else Prometheus watches.
    quiet: moment("12m", {
      up: "1x9 0 1x9",
      mailkind_build_info: "1x9 _ 1x9",
      'up{job="another",instance="b"}': "0x20",
    }),
  },
  MailkindWorkersMissing: {
    fires: moment("10m", { mailkind_workers_missing: "0x3 1x20" }),
    quiet: moment("10m", { mailkind_workers_missing: "0x3 2x3 0x20" }),
  },
  MailkindRestartsOften: {
    fires: moment("12m", { 'mailkind_process_start_time_seconds{worker="0"}': "1 60 120x2 _ 240 300x20" }),
    quiet: moment("12m", {
      'mailkind_process_start_time_seconds{worker="0"}': "1x5 300x20",
      'mailkind_process_start_time_seconds{worker="1"}': "1x6 360x20",
    }),
  },
  MailkindWorkerEnded: {
    fires: moment("12m", { mailkind_workers_ended_total: "0x5 1x20" }),
    quiet: moment("12m", { mailkind_workers_ended_total: "4x5 0x20" }),
  },
  MailkindDescriptorsRunOut: {
    fires: moment("5m", {
      'mailkind_process_open_descriptors{worker="0"}': "10x9",
      'mailkind_process_open_descriptors{worker="1"}': "950x9",
      'mailkind_process_descriptors_max{worker="0"}': "1000x9",
      'mailkind_process_descriptors_max{worker="1"}': "1000x9",
    }),
    quiet: moment("5m", {
      'mailkind_process_open_descriptors{worker="0"}': "890x9",
      'mailkind_process_open_descriptors{worker="1"}': "950x9",
      'mailkind_process_descriptors_max{worker="0"}': "1000x9",
      'mailkind_process_descriptors_max{worker="1"}': "0x9",
    }),
  },
  MailkindFailing: {
    fires: moment("20m", {
      'mailkind_problems_total{problem="internal_error"}': "0+2x30",
      'mailkind_http_requests_total{route="POST /v1/check",code="200"}': "0+90x30",
      'mailkind_http_requests_total{route="POST /v1/check",code="500"}': "0+2x30",
    }),
    quiet: moment("20m", {
      'mailkind_problems_total{problem="internal_error"}': "0x8 1x30",
      'mailkind_http_requests_total{route="POST /v1/check",code="200"}': "0+1x30",
    }),
  },
  MailkindSlow: {
    fires: moment("25m", observed(LATENCY, CHECK, "2.5", 90, 100)),
    // One that nobody else asks at the time.
    quiet: moment("25m", observed(LATENCY, CHECK, "2.5", 0, 1)),
  },
  MailkindOverloaded: {
    fires: moment("12m", {
      'mailkind_shed_total{strain="lag"}': "0+50x20",
      'mailkind_shed_total{strain="in_flight"}': "0+50x20",
    }),
    quiet: moment("12m", { 'mailkind_shed_total{strain="lag"}': "0+50x20" }),
  },
  MailkindEventLoopLate: {
    fires: moment("8m", {
      'mailkind_event_loop_lag_seconds{worker="0"}': "0x9",
      'mailkind_event_loop_lag_seconds{worker="1"}': "0.3x9",
    }),
    quiet: moment("8m", { 'mailkind_event_loop_lag_seconds{worker="0"}': "0.3x2 0.2 0.3x9" }),
  },
  MailkindDnsAway: {
    fires: moment("12m", { mailkind_dns_up: "1x3 0x20" }),
    quiet: moment("8m", { mailkind_dns_up: "1x3 0x3 1x20" }),
  },
  MailkindEvidenceDefects: {
    fires: moment("12m", { 'mailkind_evidence_defects_total{evidence="dns"}': "0x3 1x20" }),
    quiet: moment("12m", { 'mailkind_evidence_defects_total{evidence="dns"}': "7x3 0x20" }),
  },
  MailkindDatabaseAway: {
    fires: moment("8m", { mailkind_database_up: "1x3 0x9" }),
    quiet: moment("4m", { mailkind_database_up: "1x3 0 1x9" }),
  },
  MailkindDatabaseSlow: {
    fires: moment("25m", observed(DATABASE, "", "0.5", 95, 100)),
    quiet: moment("25m", observed(DATABASE, "", "0.5", 100, 100)),
  },
  MailkindQuotaStoreFails: {
    fires: moment("20m", { mailkind_quota_store_failures_total: "0x3 0+1x30" }),
    quiet: moment("20m", { mailkind_quota_store_failures_total: "0x12 3x30" }),
  },
  MailkindUsageNotWritten: {
    fires: moment("12m", { mailkind_usage_flush_lag_seconds: "0x3 60+60x20" }),
    quiet: moment("12m", { mailkind_usage_flush_lag_seconds: "50x20" }),
  },
  MailkindDiskFull: {
    fires: moment("5m", disk(`${60 * MIB}x20`, GIB)),
    quiet: moment("5m", disk("0x20", 0)),
  },
  MailkindDiskFillsUp: {
    // 4 GiB of 20, of which 200 MiB go in an hour.
    fires: daysLater("8h", disk(`${4 * GIB}-${200 * MIB}x9`, 20 * GIB)),
    // A backup was written, on a disk that is nearly full for years.
    quiet: daysLater("8h", disk(`${4 * GIB}x5 ${4 * GIB - 200 * MIB}x9`, 20 * GIB)),
  },
  MailkindRequestLogDrops: {
    fires: moment("35m", { mailkind_request_log_dropped_total: "0x3 0+100x60" }),
    quiet: moment("35m", { mailkind_request_log_dropped_total: "0x3 100x60" }),
  },
  MailkindLogLinesLost: {
    fires: moment("12m", { mailkind_log_lines_lost_total: "0x3 20x20" }),
    quiet: moment("12m", { mailkind_log_lines_lost_total: "20x20" }),
  },
  MailkindJobsWait: {
    fires: moment("20m", {
      'mailkind_jobs{job_state="queued"}': "1x30",
      'mailkind_jobs{job_state="running"}': "0x30",
    }),
    // They wait for others of their accounts.
    quiet: moment("20m", {
      'mailkind_jobs{job_state="queued"}': "30x30",
      'mailkind_jobs{job_state="running"}': "1x30",
    }),
  },
  MailkindJobsQueue: {
    fires: daysLater("8h", {
      'mailkind_jobs{job_state="queued"}': "21x9",
      'mailkind_jobs{job_state="running"}': "2x9",
    }),
    quiet: daysLater("8h", {
      'mailkind_jobs{job_state="queued"}': "90x4 3 90x9",
      'mailkind_jobs{job_state="running"}': "2x9",
    }),
  },
  MailkindMailsWait: {
    fires: moment("20m", { mailkind_outbox_oldest_waiting_seconds: "3700x30" }),
    quiet: moment("20m", { mailkind_outbox_oldest_waiting_seconds: "3500x30" }),
  },
  MailkindMailAway: {
    fires: moment("12m", { mailkind_mail_up: "1x3 0x20" }),
    quiet: moment("12m", { mailkind_mail_up: "1x3 0x3 1x20" }),
  },
  MailkindListsDamaged: {
    fires: moment("5m", { mailkind_lists_damaged: "1x9", mailkind_lists_damage_timestamp_seconds: "0x9" }),
    // They were replaced two days ago.
    quiet: daysLater("50h", { mailkind_lists_damaged: "0x60", mailkind_lists_damage_timestamp_seconds: "3600x60" }),
  },
  MailkindListsBehind: {
    fires: moment("12m", { 'mailkind_lists_behind{worker="0"}': "0x3 1x20" }),
    quiet: moment("12m", { 'mailkind_lists_behind{worker="0"}': "0x3 1x3 0x20" }),
  },
  MailkindListsPinned: {
    fires: daysLater("76h", { mailkind_lists_pinned: "1x99" }),
    quiet: daysLater("76h", { mailkind_lists_pinned: "0x24 1x99" }),
  },
  MailkindListsOld: {
    fires: daysLater("3h", { mailkind_lists_built_timestamp_seconds: `-${14 * 86_400}x9` }),
    quiet: daysLater("3h", { mailkind_lists_built_timestamp_seconds: `-${13 * 86_400}x9` }),
  },
  MailkindRefreshFailing: {
    fires: daysLater("60h", {
      mailkind_lists_asked_timestamp_seconds: "0+3600x99",
      mailkind_lists_refreshed_timestamp_seconds: "0x99",
    }),
    quiet: daysLater("60h", {
      mailkind_lists_asked_timestamp_seconds: "0+3600x99",
      mailkind_lists_refreshed_timestamp_seconds: "0x30 108000+3600x69",
    }),
  },
  MailkindListsNotRefreshed: {
    fires: daysLater("80h", {
      'mailkind_lists_sources{source_outcome="refused"}': "0x40 1x60",
      'mailkind_lists_sources{source_outcome="failed"}': "1x40 0x60",
    }),
    quiet: daysLater("80h", { 'mailkind_lists_sources{source_outcome="failed"}': "1x40 0 1x60" }),
  },
  MailkindClockWrong: {
    fires: moment("12m", { mailkind_clock_timestamp_seconds: "-90+60x30" }),
    // A value is a second old at most, and scrapes are not all alike.
    quiet: moment("12m", { mailkind_clock_timestamp_seconds: "-30+60x30" }),
  },
  MailkindClockJumped: {
    fires: moment("12m", { mailkind_clock_jumps_total: "0x5 1x30" }),
    quiet: moment("12m", { mailkind_clock_jumps_total: "1x5 0x30" }),
  },
  MailkindClockInDoubt: {
    fires: daysLater("30h", { mailkind_clock_trusted: "0x50" }),
    // After a long stop, with SQLite.
    quiet: daysLater("24h", { mailkind_clock_trusted: "0x24 1x50" }),
  },
  MailkindBackupOld: {
    fires: moment("20m", { mailkind_backup_interval_seconds: "86400x30", mailkind_backup_age_seconds: "180000+60x30" }),
    // There are none.
    quiet: moment("20m", { mailkind_backup_interval_seconds: "0x30", mailkind_backup_age_seconds: "0x30" }),
  },
  MailkindQuotaRefusals: {
    fires: moment("35m", {
      'mailkind_limited_total{tier="0",limit="units"}': "0+90x60",
      'mailkind_limited_total{tier="1",limit="units"}': "0+5x60",
    }),
    quiet: moment("35m", { 'mailkind_limited_total{tier="0",limit="rate"}': "0+900x60" }),
  },
}

const caseOf = (name: string, { at, every = "1m", series }: Moment, firing: readonly string[]): AlertCase => ({
  ...{ name, at, every, firing, scraped: series },
})

test("each alert has a moment in which it fires and one in which it does not", async () => {
  expect(Object.keys(CASES).sort()).toEqual((await readAlertRules()).map(({ alert }) => alert).sort())
})

test("doctor and the alert call lists old at the same age", async () => {
  const [rule] = (await readAlertRules()).filter(({ alert }) => alert === "MailkindListsOld")
  expect(rule?.expr).toEndWith(` > ${LISTS_AGE_DAYS_MAX} * 86400`)
})

testRules("Prometheus takes the rules", async () => {
  expect(await runPromtool(["check", "rules", RULES_FILE])).toEqual({
    code: 0,
    printed: expect.stringContaining(`SUCCESS: ${Object.keys(CASES).length} rules found`),
  })
})

testRules("each alert fires in its moment, alone, and nothing fires in the other", async () => {
  const cases = Object.entries(CASES).flatMap(([alert, { fires, quiet }]) => [
    caseOf(`${alert} fires`, fires, [alert]),
    caseOf(`${alert} is quiet`, quiet, []),
  ])
  expect(await differingAlerts(cases)).toBe("")
})

testRules(
  "of two nodes the one with the fault is named, and what both read from the database is told once",
  async () => {
    const [a, b] = ['job="checks",instance="a"', 'job="checks",instance="b"']
    const of = (node: string, series: Moment["series"]): Moment["series"] =>
      Object.fromEntries(Object.entries(series).map(([name, values]) => [`${name}{${node}}`, values]))
    const both = (series: Moment["series"]) => ({ ...of(a, series), ...of(b, series) })
    const scraped = {
      ...of(a, { up: "1x60", mailkind_build_info: "1x60", mailkind_database_up: "1x60" }),
      ...of(b, { up: "1x60", mailkind_build_info: "1x60", mailkind_database_up: "0x60" }),
      ...both({ mailkind_outbox_oldest_waiting_seconds: "4000x60" }),
    }
    const down = {
      ...of(a, { up: "1x60", mailkind_build_info: "1x60" }),
      ...of(b, { up: "1x9 0x60", mailkind_build_info: "1x9" }),
    }
    const cases = [
      { name: "a database", scraped, firing: ["MailkindDatabaseAway@b", "MailkindMailsWait"] },
      { name: "a node that is down", scraped: down, firing: ["MailkindDown@b"] },
      {
        name: "both down",
        scraped: both({ up: "1x9 0x60", mailkind_build_info: "1x9" }),
        firing: ["MailkindDown@a", "MailkindDown@b"],
      },
      {
        name: "the only node is down",
        scraped: of(a, { up: "1x9 0x60", mailkind_build_info: "1x9" }),
        firing: ["MailkindDown@a"],
      },
      {
        name: "the target is gone",
        scraped: of(a, { up: "1x9", mailkind_build_info: "1x9" }),
        firing: ["MailkindDown"],
      },
    ]
    const state = { every: "1m", at: "40m", isOfNodes: true } as const
    expect(await differingAlerts(cases.map(each => ({ ...state, ...each })))).toBe("")
  },
)

testRules("a restart of a server with two workers fires nothing, at no moment", async () => {
  const scraped: Moment["series"] = {
    up: "1x9 0x1 1x30",
    mailkind_build_info: "1x9 _x1 1x30",
    mailkind_workers_missing: "0x9 _x1 2x1 0x30",
    mailkind_workers_ended_total: "3x9 _x1 0x30",
    'mailkind_process_start_time_seconds{worker="0"}': "1x9 _x2 700x30",
    'mailkind_process_start_time_seconds{worker="1"}': "1x9 _x2 700x30",
    mailkind_database_up: "1x9 _x2 1x30",
    mailkind_dns_up: "1x9 _x2 0x1 1x30",
    'mailkind_dns_questions_total{dns_outcome="records"}': "0+90x9 _x1 0+90x30",
    mailkind_log_lines_lost_total: "5x9 _x1 0x30",
    mailkind_clock_jumps_total: "1x9 _x1 0x30",
    mailkind_clock_trusted: "1x9 _x2 0x30",
    mailkind_request_log_dropped_total: "900x9 _x1 0x30",
    'mailkind_disk_free_bytes{directory="data"}': `${GIB}x9 _x2 0x1 ${GIB}x30`,
    'mailkind_disk_size_bytes{directory="data"}': `${9 * GIB}x9 _x2 0x1 ${9 * GIB}x30`,
  }
  const moments = ["9m", "11m", "12m", "14m", "20m", "35m"]
  const cases = moments.map(at => ({ name: `at ${at}`, every: "1m", at, scraped, firing: [] }) as const)
  expect(await differingAlerts(cases)).toBe("")
})
