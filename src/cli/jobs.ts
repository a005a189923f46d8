import { type Command, Option } from "commander"
import type { Clock } from "../base/outside-world.ts"
import { type ByteSource, type Streams, streamOf } from "../base/streams.ts"
import { escapeControls } from "../base/untrusted-text.ts"
import type { Job } from "../client/api-types.ts"
import type { Mailkind } from "../client/client.ts"
import { JobError, type MailkindJob, type UploadOptions } from "../client/jobs.ts"
import type { Reply } from "../client/outcome.ts"
import { JOB_FORMAT_NAMES, type JobFormat, LISTED_JOB_STATES } from "../contract/jobs.ts"
import { POLICY_NAMES, type Policy, RECOMMENDATIONS, type Recommendation } from "../contract/policies.ts"
import { readFileName } from "../rows/file-format.ts"
import { streamErrorMessage } from "./classify/results-writer.ts"
import { addTimeOptions, containsText, isWithin, type TimeFlags } from "./list-options.ts"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"
import {
  addServerOptions,
  readServerTarget,
  replyFailure,
  type ServerFlags,
  type ServerTarget,
  serverFailure,
} from "./server.ts"

/** What the commands of lists need. */
export type JobCommandDeps = {
  readonly output: Output
  readonly streams: Pick<Streams, "openSource" | "openSink" | "size" | "stdout">
  readonly clock: Clock
  readonly openServer: (server: ServerTarget) => Promise<Mailkind>
}

type JobFlags = ServerFlags & { readonly json: boolean }
type CreateFlags = JobFlags & {
  readonly format?: JobFormat
  readonly column?: string
  readonly header: boolean
  readonly delimiter?: string
  readonly skip?: string
  readonly encoding?: string
  readonly sheet?: string
  readonly force: boolean
  readonly policy?: Policy
  readonly workspace: boolean
  readonly name?: string
  readonly callback?: string
  readonly dryRun: boolean
  readonly wait: boolean
}
type ResultFlags = JobFlags & {
  readonly only?: string
  readonly out?: string
  readonly resume: boolean
  readonly force: boolean
}

/** Registers `jobs create`, `list`, `show`, `watch`, `results` and `delete`. They ask a server. */
export function registerJobCommands(root: Command, deps: JobCommandDeps): void {
  const group = root.command("jobs").description("Whole lists that a server checks: upload, watch, download.")
  const add = (name: string, description: string) =>
    addServerOptions(group.command(name).description(description)).option(...JSON_FLAG, false)
  add("create", "Upload a list, whose rows are checked in the background.")
    .argument("<file>", "the list, or - for the standard input")
    .addOption(new Option("--format <format>", "its format (by its name, else found)").choices(JOB_FORMAT_NAMES))
    .option("--column <name>", "the column or member with the inputs (found by its name)")
    .option("--delimiter <character>", "the character between the cells of a CSV list, such as ; or tab")
    .option("--no-header", "the CSV list has no line with the names of the columns")
    .option("--skip <n>", "so many lines stand above the header, or above the first row")
    .option("--encoding <name>", "the encoding of the list, such as utf-16le or windows-1252")
    .option("--sheet <name>", "the sheet of an .xlsx file, by name or number (default: the first one)")
    .option("--force", "read a list in which nothing looks like an address", false)
    .addOption(new Option("--policy <policy>", "how strict the recommendations are").choices(POLICY_NAMES))
    .option("--no-workspace", "skip the suite_b tenant look-ups")
    .option("--name <name>", "a name for the list")
    .option("--callback <url>", "a URL of https that gets a callback when the list is done, stops or fails")
    .option("--dry-run", "only show what the list would cost, for one unit", false)
    .option("--wait", "wait until the list is done", false)
    .action((file: string, flags: CreateFlags) => createJob(deps, file, flags))
  addTimeOptions(add("list", "List your jobs, newest first."))
    .addOption(new Option("--state <state>", "only jobs in this state").choices(LISTED_JOB_STATES))
    .option("--search <text>", "only jobs with this text in their name")
    .action((flags: JobListFlags) => listJobs(deps, flags))
  add("show", "Show how far a job is.")
    .argument("<id>", "the job's id, such as job_…")
    .action(async (id: string, flags: JobFlags) =>
      printJob(deps.output, (await ownJob(deps, id, flags)).body, flags.json),
    )
  add("watch", "Show how far a job is until it has ended.")
    .argument("<id>", "the job's id, such as job_…")
    .action(async (id: string, flags: JobFlags) => watchJob(deps, await ownJob(deps, id, flags), flags.json))
  add("results", "Download the results of a job. With --out, --json prints how many bytes there are.")
    .argument("<id>", "the job's id, such as job_…")
    .option("--only <recommendations>", `only these, separated by commas: ${RECOMMENDATIONS.join(", ")}`)
    .option("--out <file>", "write them to this file instead of the standard output")
    .option("--resume", "continue a file that was cut off", false)
    .option("--force", "replace an existing file", false)
    .action((id: string, flags: ResultFlags) => downloadResults(deps, id, flags))
  add("delete", "Delete a job with its list and results.")
    .argument("<id>", "the job's id, such as job_…")
    .action((id: string, flags: JobFlags) => deleteJob(deps, id, flags))
}

/** The client that the options name. */
async function clientOf({ openServer }: JobCommandDeps, flags: ServerFlags): Promise<Mailkind> {
  const server = readServerTarget(flags, false)
  if (server === null) throw new CommandError("The command needs --server, and --key-file with a secret key of it.", 2)
  return await openServer(server)
}

/** The result of a reply. Throws the failure as a `CommandError`. */
function resultOf<R>(reply: Reply<R>): R {
  if (reply.outcome === "answered") return reply.result
  throw replyFailure(reply)
}

const ownJob = async (deps: JobCommandDeps, id: string, flags: ServerFlags): Promise<MailkindJob> =>
  resultOf(await (await clientOf(deps, flags)).jobs.get(id))

async function createJob(deps: JobCommandDeps, file: string, flags: CreateFlags): Promise<void> {
  const { output } = deps
  const { format, column, header, delimiter, encoding, sheet, force, policy, workspace, name, callback } = flags
  const { dryRun, wait, json: asJson } = flags
  const client = await clientOf(deps, flags)
  const options: UploadOptions = {
    format: format ?? readFileName(file).format ?? undefined,
    ...{ column, delimiter, encoding, sheet, policy, name, callback, skip: readSkip(flags.skip) },
    ...(force ? { force } : {}),
    ...(header ? {} : { header }),
    ...(workspace ? {} : { workspace }),
  }
  const list = streamOf(copiesOf(await opened("read", file, () => deps.streams.openSource(file))))
  if (dryRun) {
    const estimate = resultOf(await client.jobs.estimate(list, options))
    if (asJson) return printJson(output, estimate)
    return printTable(output, [
      ["rows", String(estimate.rows)],
      ["unique domains", String(estimate.unique_domains)],
      ["units needed", String(estimate.units_needed)],
      ["units left", estimate.units_left === null ? "unlimited, or not known" : String(estimate.units_left)],
      ["columns", estimate.columns.map(escapeControls).join(", ")],
    ])
  }
  const job = resultOf(await client.jobs.create(list, options))
  if (wait) return await watchJob(deps, job, asJson)
  printJob(output, job.body, asJson)
}

/** The number of lines that `--skip` names; undefined: none is named. */
function readSkip(text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d{1,9}$/.test(text)) throw new CommandError("--skip takes a whole number.", 2)
  return text === undefined ? undefined : Number(text)
}

/** A file that `open` opens. Throws a `CommandError` where the system refuses. */
async function opened<T>(verb: "read" | "write", path: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    const says = streamErrorMessage(error, path)
    if (says === null) throw error
    throw new CommandError(`Cannot ${verb} ${escapeControls(path)}: ${says}.`)
  }
}

/** The chunks of a source, which reuses its buffer. */
async function* copiesOf({ chunks }: ByteSource): AsyncGenerator<Uint8Array, undefined> {
  for await (const chunk of chunks) yield chunk.slice()
}

type JobListFlags = JobFlags & TimeFlags & { readonly state?: string; readonly search?: string }

async function listJobs(deps: JobCommandDeps, flags: JobListFlags): Promise<void> {
  const { output, clock } = deps
  const { state, search } = flags
  const isInTime = isWithin(flags, clock())
  const jobs = resultOf(await (await clientOf(deps, flags)).jobs.list()).filter(
    job =>
      (state === undefined || job.state === state) &&
      containsText(job.name ?? "", search) &&
      isInTime(Date.parse(job.created_at)),
  )
  if (flags.json) return printJson(output, jobs)
  if (jobs.length === 0) return output.line("There are no jobs.")
  printTable(
    output,
    jobs.map(job => [job.id, job.state, rowsOf(job), job.created_at, escapeControls(job.name ?? "")]),
  )
}

const rowsOf = ({ rows: { done, total } }: Job): string => `${done} of ${total} rows`

function printJob(output: Output, job: Job, asJson: boolean): void {
  if (asJson) {
    printJson(output, job)
    return
  }
  const { id, state, reason, units_used: units, by_recommendation: by, seconds_left: left } = job
  printTable(output, [
    ["id", id],
    ["state", reason === null ? state : `${state}: ${reason}`],
    ["rows", rowsOf(job)],
    ["recommendations", RECOMMENDATIONS.map(name => `${by[name] ?? 0} ${name}`).join(", ")],
    ["units used", String(units)],
    ...(left === null ? [] : [["seconds left", String(left)]]),
  ])
}

/** A line for each change on the standard error, and the job at its end. A job that failed fails the command. */
async function watchJob({ output }: JobCommandDeps, job: MailkindJob, asJson: boolean): Promise<void> {
  let [last, told] = [job.body, ""]
  try {
    for await (const now of job.progress()) {
      last = now
      const line = `${now.id}: ${now.state}${now.reason === null ? "" : ` (${now.reason})`}, ${rowsOf(now)}`
      if (line !== told) output.stderrLine(line)
      told = line
    }
  } catch (error) {
    throw failureOf(error)
  }
  printJob(output, last, asJson)
  if (last.state === "failed")
    throw new CommandError(`The job failed: ${last.reason}. Its results so far can be downloaded.`)
}

const failureOf = (error: unknown): unknown => {
  if (!(error instanceof JobError)) return error
  const { failure } = error
  return failure.problem === undefined || failure.because !== "refused"
    ? serverFailure(failure)
    : new CommandError(escapeControls(failure.problem.detail))
}

async function downloadResults(deps: JobCommandDeps, id: string, flags: ResultFlags): Promise<void> {
  const { streams, output } = deps
  const { out } = flags
  const kept = out === undefined ? keptWithoutFile(flags) : await keptBytes(streams, out, flags)
  const only = flags.only?.split(",").map(name => recommendationOf(name.trim()))
  const job = await ownJob(deps, id, flags)
  const sink = out === undefined ? streams.stdout : await opened("write", out, () => streams.openSink(out, kept))
  let bytes = kept
  try {
    for await (const chunk of job.results({ only, from: kept })) {
      await sink.write(chunk)
      bytes += chunk.length
    }
  } catch (error) {
    const failure = failureOf(error)
    if (out !== undefined && error instanceof JobError)
      output.stderrLine(`${escapeControls(out)} has the first ${error.received} bytes. --resume continues.`)
    const says = streamErrorMessage(error, out)
    throw out === undefined || says === null
      ? failure
      : new CommandError(`Cannot write ${escapeControls(out)}: ${says}. --resume continues.`)
  } finally {
    await sink.close()
  }
  if (flags.json && out !== undefined) printJson(output, { id: job.id, bytes })
}

function keptWithoutFile({ resume }: ResultFlags): number {
  if (resume) throw new CommandError("--resume needs --out.", 2)
  return 0
}

/** How many bytes of a file stay. Throws for one that is there and neither continued nor replaced. */
async function keptBytes({ size }: JobCommandDeps["streams"], out: string, flags: ResultFlags): Promise<number> {
  const present = (await size(out)) ?? 0
  if (present > 0 && !flags.resume && !flags.force)
    throw new CommandError(`${escapeControls(out)} exists already. --force replaces it, --resume continues.`, 2)
  return flags.resume ? present : 0
}

function recommendationOf(name: string): Recommendation {
  const known = RECOMMENDATIONS.find(each => each === name)
  if (known === undefined)
    throw new CommandError(`--only takes ${RECOMMENDATIONS.join(", ")}, not \`${escapeControls(name)}\`.`, 2)
  return known
}

async function deleteJob(deps: JobCommandDeps, id: string, flags: JobFlags): Promise<void> {
  resultOf(await (await ownJob(deps, id, flags)).delete())
  if (flags.json) printJson(deps.output, { id, deleted: true })
  else deps.output.line(`${escapeControls(id)} and its results are deleted.`)
}
