import type { Stopwatch } from "../base/outside-world.ts"
import type { Resolver } from "../check/dns/dns-types.ts"
import { type CanaryOutcome, probeCanary } from "../check/dns/resolver/canary-guard.ts"
import { DNS_REMEDIES, type DnsOutage, dnsOutageOf, faultText, type SeenOutage } from "../check/dns/resolver/outage.ts"
import { ROOT_QUESTION } from "../check/dns/resolver/resolver-chain.ts"
import type { ServerFault } from "../check/dns/resolver/server-health.ts"
import type { DownloadResult } from "../check/fetch/download.ts"
import type { IdentityResponse } from "../check/tenant/identity-endpoint.ts"
import { SMTP_STEP_REMEDIES } from "../customers/notices/mailer.ts"
import { MAIL_PROTECTION_REMEDY, type SmtpCheckResult } from "../customers/notices/smtp-mailer.ts"
import { type DiagnosticResult, failed, ok, warning } from "./diagnostics.ts"

/** An endpoint, the setting that names it, and whether the operator has set it. */
export type DiagnosedEndpoint = {
  readonly setting: string
  readonly isConfigured: boolean
  /** What does not work without it, in a sentence. */
  readonly consequence: string
}

/** Asks the identity endpoint of each cloud. The answer that it knows no tenant (400) is fine. */
export async function diagnoseIdentity(
  endpoint: DiagnosedEndpoint,
  bases: readonly string[],
  ask: (base: string) => Promise<IdentityResponse>,
): Promise<DiagnosticResult> {
  const found = await Promise.all(bases.map(async base => ({ host: urlHost(base), reply: await ask(base) })))
  const isWell = found.every(({ reply }) => isIdentityAnswer(reply))
  const seen = `${found.map(({ host, reply }) => `${host} ${replyText(reply)}`).join("; ")}.`
  return isWell ? ok(seen) : unavailableEndpoint(endpoint, seen)
}

/** Downloads a document and checks it. `problemIn` says what is wrong with its text, or returns `null`. */
export async function diagnoseDocument(
  endpoint: DiagnosedEndpoint,
  url: string,
  download: () => Promise<DownloadResult>,
  problemIn: (text: string) => string | null,
): Promise<DiagnosticResult> {
  const answer = await download()
  const host = urlHost(url)
  if (answer.kind !== "taken")
    return unavailableEndpoint(
      endpoint,
      `${host}: ${answer.kind === "failed" ? answer.message : "It answers that nothing changed."}`,
    )
  const problem = problemIn(answer.text)
  return problem === null
    ? ok(`${host} gave one that can be read.`)
    : unavailableEndpoint(endpoint, `${host}: ${problem}`)
}

/** A missing endpoint only degrades results, which is a warning. One that the operator has configured must work. */
function unavailableEndpoint(
  { setting, isConfigured, consequence }: DiagnosedEndpoint,
  seen: string,
): DiagnosticResult {
  if (isConfigured) return failed(seen, `Set ${setting} to an address that answers. ${consequence}`)
  return warning(seen, `Let this host reach it by https, or set ${setting} to another address. ${consequence}`)
}

const isIdentityAnswer = (reply: IdentityResponse): boolean =>
  reply.kind === "answered" || (reply.kind === "refused" && reply.status === 400)

function replyText(reply: IdentityResponse): string {
  if (isIdentityAnswer(reply)) return "answers"
  if (reply.kind === "refused") return `answers with status ${reply.status}`
  return reply.kind === "timed_out" ? "does not answer" : "cannot be reached, or its answer cannot be read"
}

const urlHost = (url: string): string => URL.parse(url)?.host ?? "an invalid address"

/** The result of trying the mail server. `isProtected`: nobody on the way can read or change a mail. */
export function diagnoseMailServer(trial: SmtpCheckResult, isProtected: boolean): DiagnosticResult {
  const { where } = trial
  if (trial.kind === "refused")
    return warning(`${where} asks to try the sender later (reply ${trial.reply}).`, SMTP_STEP_REMEDIES.sender)
  if (trial.kind === "unavailable") {
    const reply = trial.reply === null ? "" : `, reply ${trial.reply}`
    return failed(`${where} failed at the step ${trial.step} (${trial.cause}${reply}).`, SMTP_STEP_REMEDIES[trial.step])
  }
  const how = trial.isEncrypted ? "by TLS" : "without TLS"
  const logIn = trial.isLoggedIn ? "It accepted the login" : "No login is set"
  const seen = `${where} was reached ${how}. ${logIn}, and it takes the sender.`
  return isProtected ? ok(seen) : warning(`${seen} Its identity is not proven.`, MAIL_PROTECTION_REMEDY)
}

/** A DNS server as the setting names it, a resolver that asks only this server, and what was wrong with the last reply. */
type DiagnosedDnsServer = {
  readonly name: string
  readonly resolver: Resolver
  readonly faults: () => readonly ServerFault[]
}

type DiagnosedResolvers = {
  readonly servers: readonly DiagnosedDnsServer[]
  readonly canaries: readonly string[]
  /** How long a question waits for a server before it is sent again. */
  readonly attemptMs: number
  readonly stopwatch: Stopwatch
}

/**
 * Asks each server for the canaries, or for the root if there are none. One known canary is enough. Its words are those of the log. A server is
 * slow if its fastest answer comes when the question was sent again already.
 */
export async function diagnoseResolvers({
  servers,
  canaries,
  attemptMs,
  stopwatch,
}: DiagnosedResolvers): Promise<DiagnosticResult> {
  if (servers.length === 0) return failed("The system has no DNS server.", "Set MAILKIND_DNS_SERVERS.")
  const found = await Promise.all(
    servers.map(async ({ name, resolver, faults }) => {
      let fastestMs = Number.POSITIVE_INFINITY
      const timed: Resolver = async question => {
        const startedAt = stopwatch()
        const finding = await resolver(question)
        if (finding.known) fastestMs = Math.min(fastestMs, stopwatch() - startedAt)
        return finding
      }
      const fate = await canaryFateAt(timed, canaries)
      return { name, outage: dnsOutageOf(SEEN[fate], faults()), fastestMs }
    }),
  )
  const seen = `${found.map(({ name, outage, fastestMs }) => `${name} ${stateText(outage, fastestMs)}`).join("; ")}.`
  const dead = found.flatMap(({ outage }) => outage ?? [])
  const isSlow = found.some(({ outage, fastestMs }) => outage === null && fastestMs >= attemptMs)
  const remedies = [...dead.map(({ kind }) => DNS_REMEDIES[kind]), ...(isSlow ? [slowRemedy(attemptMs)] : [])]
  const remedy = [...new Set(remedies)].join(" ")
  if (remedies.length === 0) return ok(seen)
  return dead.length === found.length ? failed(seen, remedy) : warning(seen, remedy)
}

const SEEN: { readonly [F in CanaryOutcome]: SeenOutage | null } = { alive: null, denied: "denying", silent: "silent" }

const slowRemedy = (attemptMs: number): string =>
  `Name a nearer resolver in MAILKIND_DNS_SERVERS: a check waits for several answers, and after ${Math.round(attemptMs)} ms, a third of MAILKIND_DNS_TIMEOUT_MS, each question is sent again.`

const stateText = (outage: DnsOutage | null, fastestMs: number): string =>
  outage === null
    ? `knows the canaries (${Math.ceil(fastestMs)} ms)`
    : outage.faults.map(fault => faultText(outage.kind, fault)).join("; ")

async function canaryFateAt(resolver: Resolver, canaries: readonly string[]): Promise<CanaryOutcome> {
  if (canaries.length === 0) {
    const finding = await resolver(ROOT_QUESTION)
    if (!finding.known) return finding.cause === "timed_out" ? "silent" : "denied"
    return finding.value.outcome === "records" ? "alive" : "denied"
  }
  const fates = await Promise.all(canaries.map(name => probeCanary(name, resolver)))
  if (fates.includes("alive")) return "alive"
  return fates.includes("silent") ? "silent" : "denied"
}
