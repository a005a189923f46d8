import type { LogLevel } from "./log-level.ts"

/** What a log line tells: its levels, its fields besides `time`, `level` and `worker`, and what it means to an operator. */
export type LogEvent = {
  readonly levels: readonly LogLevel[]
  readonly fields: readonly string[]
  readonly meaning: string
}

const event = (levels: LogLevel | readonly LogLevel[], fields: string, meaning: string): LogEvent => ({
  levels: typeof levels === "string" ? [levels] : levels,
  fields: fields === "" ? [] : fields.split(" "),
  meaning,
})

/** The fields that many lines have, each with what it tells. */
export const COMMON_FIELDS = {
  request_id: "The request.",
  trace_id: "The trace of the request, by its `traceparent` (W3C Trace Context).",
  fault: "The name of a fault, or the code of an error.",
  where: "A host and port, a URL without its path, or a path on the disk.",
  why: "The code of the error and its words.",
  remedy: "What to do.",
  seen: "The free space of a full disk, the owner of a file that cannot be used, or how many files and sockets are open.",
  error: "The name of an error.",
  at: "The frames of the stack, of a defect.",
  lasted_s: "How long an outage lasted.",
  failed_requests: "How many requests failed by it.",
  failed_tasks: "How many tasks in the background failed by it.",
} as const satisfies Readonly<Record<string, string>>

/** The fields of a line about work in the background that failed. */
export const BACKGROUND_FIELDS = ["error", "fault", "where", "why", "remedy", "at", "seen"] as const

/** Work in the background that failed. It is tried again. */
const failed = (meaning: string): LogEvent => event("error", BACKGROUND_FIELDS.join(" "), meaning)

/** The same, for a request. */
const ofRequest = (meaning: string): LogEvent => event("error", ["request_id", "trace_id", ...BACKGROUND_FIELDS].join(" "), meaning)

/** The fields of a line that tells of an outage. */
export const OUTAGE_FIELDS = ["where", "why", "remedy"] as const

/** An outage begins. An operator finds its cause from this line alone. */
const outage = (levels: LogLevel | readonly LogLevel[], fields: string, meaning: string): LogEvent => event(levels, `${fields} ${OUTAGE_FIELDS.join(" ")} seen`.trim(), meaning)

/** The fields of a line that tells that an outage is over. */
const ENDED = "fault where lasted_s failed_requests failed_tasks"

const TRIED_AGAIN = "The server tries again."
const LOST = "Lost: the process ended before it could write them."
const ONLY_OLD = "Old rows stay for now, and the server tries again."
const MAIL = "notice account"

/** Every line of the log by what it says. Each log call names one of these, and the guide prints them. */
export const LOG_EVENTS = {
  // Requests
  "a request failed": event(["info", "debug"], "request_id trace_id route status code key_id account_id took_ms fault why", "A status from 500 on, but for `/v1/health`."),
  "a request failed by a defect": event("error", "request_id trace_id error at fault where why remedy seen", "A defect of the server, or a database that is damaged."),
  "a form from another origin was refused": event("warn", "request_id trace_id route origin base_url remedy", "It is not `MAILKIND_BASE_URL`."),
  "a request was refused": event("debug", "request_id trace_id route status code key_id account_id took_ms fault why", "A status from 400 to 499, or a failed health check."),
  "slow response": event("warn", "request_id trace_id route status took_ms tier category degraded waited_ms waited_for", "A status below 500, after `MAILKIND_SLOW_MS`. A single check waited `waited_ms` of it for what `waited_for` names: `dns`, `identity`, `homepage and registry`."),
  "response sent": event("debug", "request_id trace_id route status took_ms tier category degraded waited_ms waited_for", "Any other response."),
  "more failed responses": event("info", "count slowest_ms", "So many more failed in the last second."),
  "more slow responses": event("warn", "count slowest_ms", "So many more were slow in the last second."),
  "evidence was not read": event(["error", "debug"], "fault error why at", "A defect of the server. The evidence that `fault` names counts as unavailable."),
  "a tool of an agent failed": event("error", "request_id trace_id error why at", "A defect. The agent got an error."),
  "leak report handled": event("info", "request_id trace_id items unreadable keys_revoked keys_revoked_before no_secret_keys failed", "A leak reporter sent keys."),
  "the leak reporter's public keys were not fetched": outage("warn", "", "Its reports are refused until they are."),
  "the request log was not exported": ofRequest("The download broke off."),
  "account export failed": ofRequest("The download broke off."),
  "lines of the log were lost": event("warn", "count remedy", "Nobody read them for too long: 8 MiB waited."),
  // Faults
  "requests fail": outage("error", "fault", "The first response fails by a fault of the database or its disk."),
  "the connections to the database": event("info", "processes connections_max is_pooled wants_notifications", "At most, with or without those on which notifications are to come."),
  "no notifications come from the database": outage("warn", "fault", "Changes are noticed within a second."),
  "notifications come from the database again": event("info", ENDED, "Changes are noticed at once."),
  "the database does not answer": outage("error", "fault", "An outage begins."),
  "the database answers again": event("info", ENDED, "The outage has ended."),
  "the database accepts no writes": outage("error", "fault", "An outage begins: it is a standby or read-only, or nothing could be written to SQLite for ten seconds."),
  "the database accepts writes again": event("info", ENDED, "The outage has ended."),
  "this server is cut off from a database that others reach": event("warn", "where remedy seen", "It is not ready until the database answers it. `where` is the other server."),
  "the clock is in doubt": outage("warn", "fault", "It has jumped, or differs by a minute. Nothing is deleted for its age."),
  "the clock is no longer in doubt": event("info", ENDED, "What is too old is deleted again."),
  "DNS does not answer": outage("warn", "fault", "Verdicts use the lists alone. `why` names each server. `fault` is `dns_silent`, `dns_refused`, `dns_failing`, `dns_denying` or `dns_unnamed`."),
  "DNS answers again": event("info", ENDED, "At least `failed_tasks` domains were checked without DNS: those that were looked up after it was noticed."),
  "the limit of open files is low": event("warn", "why remedy", "At the start: with many requests at once, clients may wait."),
  "files and sockets run out": outage("error", "fault", "Nine tenths are open. At the limit, clients wait."),
  "files and sockets are free again": event("info", ENDED, "Less than eight tenths are open."),
  "a fault continues": event("warn", `${ENDED} why seen`, "Once a minute, if something has failed by it since the last one. A fault that is no outage lasts to its last failure, by `lasted_s`."),
  "a fault is over": event("info", ENDED, "Nothing has failed by it for a minute."),
  // Start and end
  "the start waits for the database": outage("warn", "fault wait_s", "It ends with an error after `wait_s`."),
  "the database answers": event("info", ENDED, "The start continues."),
  "others can use the data directory": event("warn", "found remedy", "It holds hashes of keys and emails of accounts."),
  "mails may be read or changed on their way to the mail server": event("warn", "where remedy seen", "The connection to it is not encrypted."),
  "the first key is not used, since there are accounts": event("info", "", "`MAILKIND_FIRST_KEY` is for an empty database: unset it."),
  "the settings were read again": event("info", "changed", "`changed` names the settings that the server has taken."),
  "some settings need a restart": event("warn", "changed remedy", "A running server cannot take them."),
  "the settings are faulty and stay as they were": event("error", "faults", "SIGHUP came. Each fault says where it stands."),
  "a backup was written": event("info", "file bytes", "Every page of it was read back."),
  "no backup was written": outage(["error", "debug"], "", "It is tried again after ten minutes. Older backups stay."),
  "old backups were not removed": outage("error", "", "The disk may become full."),
  "the backups were not counted": failed("A metric shows an old value."),
  "a deletion of an account was not recorded beside the database": failed("A restore of an older backup may bring the account back."),
  stopping: event("info", "asked_by", "By a signal, or by the server that takes over."),
  "stopping at once": event("warn", "asked_by", "By a second signal. Open requests are lost."),
  "every line is logged": event("info", "", "SIGUSR2 came."),
  "the log is as it was set": event("info", "", "SIGUSR2 came again."),
  "metrics are served as soon as their port is free": event("warn", "why", "Another process has the port."),
  "metrics are not served": event("error", "why remedy", "Their port stayed taken for five minutes after a takeover."),
  "metrics are served now": event("info", "", "The port became free."),
  // Workers and takeovers
  "a worker listens": event("info", "pid", "It serves."),
  "a worker ended and is replaced": event("error", "pid exit_code killed_by why after_ms remedy", "Another starts after `after_ms`."),
  "a worker ended while another server takes over": event("error", "pid exit_code killed_by", "It is replaced if the takeover fails."),
  "a worker hangs and is killed": event("error", "pid why remedy", "Silent for six seconds in which it could run, or a minute held up."),
  "a worker is held up": event("warn", "pid why remedy", "It waits for a processor or a disk, and is not killed for a minute."),
  "a worker did not stop in time and is killed": event("error", "pid after_ms", "Its requests in flight are lost."),
  "a worker did not stop cleanly": event("error", "pid exit_code killed_by", "Data that it held may be lost."),
  "the previous server has ended": event("info", "", "The takeover is complete."),
  "the previous server has not ended yet": event("warn", "remedy", "It still answers requests."),
  "the previous server continues, because this one was late; stop the previous one": event("error", "remedy", "Both run."),
  "connections that are being opened now may be lost": event("warn", "", "The system cannot route them during a takeover."),
  "no server can take over from this one": event("warn", "where remedy seen", "No socket can be created in the data directory."),
  // Lists
  "the lists were refreshed": event("info", "version", "`version` is in use."),
  "another process refreshes the lists": event("info", "", "This node uses what it brings."),
  "the lists were not refreshed": outage(["warn", "error"], "", "The last good copies are in use."),
  "no new lists were built; the current ones stay in use": outage("error", "", "The downloads made no valid lists."),
  "a source of the lists could not be used": outage("warn", "source outcome", "Its last good copy is in use, if there is one."),
  "a part of the past of a source of the lists is missing": event("warn", "source why", "The next refresh continues where this one stopped."),
  "names of a source of the lists were left out": event("warn", "source count why", "No such list can hold them."),
  "the lists were reloaded": event("info", "version", "New lists are in use."),
  "the current lists stay in use": outage("error", "", "New lists could not be read."),
  "the refreshed lists are damaged; the last good copy is used": outage("warn", "", "A refresh follows."),
  "a file of the lists was changed on the disk": outage("error", "", "Verdicts do not change: they come from memory."),
  "a file of the lists was replaced by its copy in memory": event("info", "where", "It is undamaged again."),
  "a file of the lists could not be written": outage("error", "", "It is tried again within minutes."),
  "the server starts without the lists of the other nodes": outage("warn", "", "It uses those that it has, and tries again."),
  "the lists of all nodes cannot be used here; the current ones stay in use": outage("error", "fault", "Verdicts may differ from those of other nodes."),
  "the lists of all nodes are in use here again": event("info", ENDED, "Verdicts are those of the other nodes."),
  "the lists of all nodes were not looked up": failed(TRIED_AGAIN),
  "the RDAP bootstrap is not fresh": outage("warn", "", "Ages of domains come from the last good copy."),
  // Mails
  "a mail was sent": event("debug", MAIL, "The mail server took it."),
  "a mail was refused permanently": event("warn", `${MAIL} reply where remedy`, "It is not tried again."),
  "a mail was tried for days and is given up": event("warn", `${MAIL} reply where remedy`, "It is not tried again."),
  "a mail of another version was found, which may send it": event("warn", "notice", "A newer version wrote it."),
  "a process ended while it was sending a mail": event("info", "", "The mail is sent again, perhaps twice."),
  "no mail can be sent now": outage("warn", "fault", "All emails wait, those for sign-ins ten minutes at most."),
  "mails can be sent again": event("info", ENDED, "The mail server has not failed for ten seconds."),
  "mails that could not be sent for a month were deleted": event("warn", "count", "Their receivers never got them."),
  "a mail for a sign-in was sent": event("debug", "", "The mail server took it."),
  "a mail for a sign-in was refused permanently": event("warn", "where reply remedy", "The visitor gets none."),
  "a mail for a sign-in could not be sent in time": event(["warn", "debug"], "where reply", "Its link has expired."),
  "too many mails for sign-ins are under way, and one is not sent": event("warn", "fault held remedy", "The mail server is too slow."),
  "sign-in requested; no mail server is set, so here are the link and the code": event("info", "link code", "Set `MAILKIND_SMTP_URL` in production."),
  "the number of nodes that share the limits has changed": event("info", "nodes came ended fell_silent", "Other nodes came, ended, or were not heard of for 15 seconds: by `MAILKIND_NODE_URL`, or their id. One that fell silent was killed, stands still, or cannot reach the database."),
  "this process stood still": event("warn", "lasted_s remedy", "It answered nothing for five seconds or more. Other nodes count one that is silent for 15 seconds as gone."),
  "the database is in an earlier state": event("warn", "fault where remedy", "It was restored, or a failover lost writes."),
  "settings differ from those of another node": event("warn", "fault where settings remedy", "Nodes act differently."),
  "another server runs with the identity of this one": event("warn", "where remedy seen", "They share a data directory, or it was copied."),
  "the id of this node cannot be kept in its data directory": failed("After a restart this server counts as another node for 15 seconds."),
  "what this node has seen of the database cannot be kept in its data directory": failed("A restore of the database while it is stopped goes unnoticed."),
  "a callback failed and is sent again": event(["warn", "debug"], "account job where result untold remedy", "`where` is the receiver, `result` its status, or why there is none. Each hour, the first failure of a receiver: of four of an account and twenty in all at most. `untold` others had no line since the last one."),
  "a callback was not delivered": event("info", "account job where result ending remedy", "The receiver is gone, or has failed for a day."),
  // Work in the background
  "a mail could not be written": failed(TRIED_AGAIN),
  "claims on mails were not renewed": failed(TRIED_AGAIN),
  "the outbox was not read or written": failed(TRIED_AGAIN),
  "mails about new terms or expiring keys were not queued": failed(TRIED_AGAIN),
  "old mails were not deleted": failed(ONLY_OLD),
  "old answers to repeated requests were not deleted": failed(ONLY_OLD),
  "mails about used units were not queued": failed(TRIED_AGAIN),
  "a mail for a sign-in could not be written": failed("The visitor gets no mail."),
  "an address that signs in was not checked": failed("The address is accepted unchecked."),
  "the mails in the outbox were not counted": failed("A metric shows an old value."),
  "the jobs were not counted": failed("A metric shows an old value."),
  "usage was not written": failed(TRIED_AGAIN),
  "usage that was not written is lost": failed(LOST),
  "old usage, keys and reports were not deleted": failed(ONLY_OLD),
  "traffic was not written": failed(TRIED_AGAIN),
  "old traffic was not deleted": failed(ONLY_OLD),
  "the last use of keys was not written": failed(TRIED_AGAIN),
  "the last use of keys is lost": failed(LOST),
  "the networks of keys were not written": failed(TRIED_AGAIN),
  "the networks of keys are lost": failed(LOST),
  "old networks of keys were not deleted": failed(ONLY_OLD),
  "requests were not logged": failed(TRIED_AGAIN),
  "logged requests that were not written are lost": failed(LOST),
  "old logged requests were not deleted": failed(ONLY_OLD),
  "units were not leased ahead, or not given back": failed("The next request leases units itself."),
  "changes of other processes were not read": failed("A revoked key may work for up to a minute."),
  "terms were not read": failed("Those that were read last apply."),
  "corrections were not read": failed("Those that were read last apply."),
  "expired sign-ins and sessions were not deleted": failed(ONLY_OLD),
  "expired data of free checks was not deleted": failed(ONLY_OLD),
  "the use of deleted accounts was not deleted": failed(ONLY_OLD),
  "old acts of administrators and suspensions were not deleted": failed(ONLY_OLD),
  "stored results of deep checks were not read": failed("Deep checks ask the network again."),
  "results of deep checks were not written": failed(TRIED_AGAIN),
  "old results of deep checks were not deleted": failed(ONLY_OLD),
  "observations of mail hosts were not read": failed(TRIED_AGAIN),
  "observations of mail hosts were not written": failed(TRIED_AGAIN),
  "listed domains were not compared": failed(TRIED_AGAIN),
  "old observations of mail hosts were not deleted": failed(ONLY_OLD),
  "the heartbeats of nodes were not read or written": failed("Other nodes may count this one as dead."),
  "the heartbeat of this node was not deleted: other nodes count it until it times out": failed("For 15 seconds each node admits less."),
  "the clock was not confirmed": failed(TRIED_AGAIN),
  "jobs were not looked for": failed(TRIED_AGAIN),
  "old jobs were not removed": failed(TRIED_AGAIN),
  "the lease of jobs was not renewed": failed("Another node may take over these jobs."),
  "the folder with the lists of jobs cannot be used": failed("No list is received or checked."),
  "a job was interrupted": event("error", `job ${BACKGROUND_FIELDS.join(" ")}`, "The job continues where it stopped."),
  "a list is given up, since it ended its process twice": event("error", "job row remedy", "Its state is `failed`, and `row` is the likely cause."),
  "the folder with the lists of jobs belongs to another database": failed("No list is received or checked."),
  "other servers use another folder for the lists of jobs": failed("No list is received or checked."),
  "callbacks were not sent": failed(TRIED_AGAIN),
  "the result of a callback was not recorded": failed("The callback is sent again, with the same id."),
} as const satisfies Readonly<Record<string, LogEvent>>

/** What a log line says. */
export type LogMessage = keyof typeof LOG_EVENTS
