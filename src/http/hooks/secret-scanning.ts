import type { Log } from "../../base/log.ts"
import { LIMITS } from "../../contract/limits.ts"
import type { LeakedKeyRevocation } from "../../customers/keys/keys.ts"
import type { RateLimiter } from "../../customers/quota/rate/rate-limiter.ts"
import { type RateSubject, rateSubject } from "../../customers/quota/rate/rate-subject.ts"
import { logOf } from "../exchange.ts"
import { type KeylessBodyReservations, readBytes } from "../request/body.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { Problem, rateLimited } from "../response/problem.ts"
import { handlers } from "../router.ts"
import {
  isSignatureValid,
  type LeakLabel,
  type LeakReport,
  leakLabel,
  parseLeakReport,
  type ReportSignature,
  signatureFromHeaders,
} from "./leak-report.ts"
import type { FindReporterKey } from "./reporter-keys.ts"

type SecretScanningDeps = {
  readonly responses: JsonResponses
  /** The rate limiter for requests without a key. */
  readonly keyless: RateLimiter
  readonly clientOf: (request: Request) => string
  readonly findReporterKey: FindReporterKey
  /** Revokes the text if it is a secret key. The revocation is durable when the promise resolves. */
  readonly revokeLeaked: (text: string) => Promise<LeakedKeyRevocation>
  readonly log: Log
  readonly loadShedder: KeylessBodyReservations
}

/**
 * POST /hooks/secret-scanning: a programme that scans public code for secrets reports texts that look like our keys. All secret
 * keys in a report are revoked before the response, which has a label for each item.
 *
 * Refusals, in this order: too many reports from one client address, no signature, too many reports in total, a key that is not
 * the reporter's, too many unfinished bodies, too large, a wrong signature, not a report. Nothing is parsed or looked up before the signature is verified.
 */
export function secretScanningRoute({
  responses,
  keyless,
  clientOf,
  findReporterKey,
  revokeLeaked,
  log,
  loadShedder,
}: SecretScanningDeps) {
  const readReport = async (request: Request): Promise<LeakReport> => {
    const client = clientOf(request)
    admitReport(keyless, rateSubject("leakReport", client), LIMITS.leakReportsPerSecond, "from one client address")
    const signature = signatureFromHeaders(request.headers)
    if (signature === null) throw invalidSignature()
    admitReport(keyless, rateSubject("leakReports"), LIMITS.leakReportsGlobalPerSecond, "altogether")
    const found = await findReporterKey(signature.identifier, client)
    return await readSignedReport(request, client, signature, found, loadShedder)
  }
  return handlers({
    postSecretScanning: async exchange => {
      const labels = await revokeAndLabel(await readReport(exchange.request), revokeLeaked, logOf(log, exchange))
      return responses.json(labels, exchange.id)
    },
  })
}

function admitReport(rates: RateLimiter, subject: RateSubject, limit: number, scope: string): void {
  const { waitS } = rates.admit(subject, { perSecond: limit, burst: limit * LIMITS.burstFactor })
  if (waitS > 0) throw rateLimited(`The limit is ${limit} leak reports per second ${scope}.`, waitS, limit)
}

async function readSignedReport(
  request: Request,
  client: string,
  signature: ReportSignature,
  found: Awaited<ReturnType<FindReporterKey>>,
  bodies: KeylessBodyReservations,
): Promise<LeakReport> {
  if (found.kind === "unavailable")
    throw new Problem("internal_error", "The reporter's public keys are unavailable. Send the report again later.")
  if (found.kind === "unknown") throw invalidSignature()
  const body = await bodies.readKeylessBody(client, () => readBytes(request, LIMITS.bodyBytesMax, bodies))
  if (!isSignatureValid(body, signature, found.key)) throw invalidSignature()
  return parseLeakReport(body)
}

/**
 * The one problem for every fault of a signature: the request has no valid credentials (RFC 9110 §15.5.2). A 401 must name a
 * scheme (§11.6.1). This one is not registered, so it has the name of its header.
 */
const invalidSignature = (): Problem =>
  new Problem(
    "unauthorized",
    "A leak report needs `Github-Public-Key-Identifier`, which names a key of the reporter, and `Github-Public-Key-Signature`, the signature of the complete body by that key.",
    {},
    { "WWW-Authenticate": 'Github-Public-Key-Signature realm="mailkind leak reports"' },
  )

/**
 * Revokes the leaked keys and gives the labels in the order of the items. When one revocation fails, the others are still made,
 * and then the whole report fails: the reporter may send it again, which does no harm.
 */
async function revokeAndLabel(
  { items, unreadableCount }: LeakReport,
  revokeLeaked: SecretScanningDeps["revokeLeaked"],
  log: Log,
): Promise<readonly LeakLabel[]> {
  const leaks = new Map<string, LeakedKeyRevocation>()
  const failures: unknown[] = []
  for (const token of new Set(items.map(item => item.token))) {
    try {
      leaks.set(token, await revokeLeaked(token))
    } catch (failure) {
      failures.push(failure)
    }
  }
  const count = (matches: (leak: LeakedKeyRevocation) => boolean): number => [...leaks.values()].filter(matches).length
  log("info", "leak report handled", {
    items: items.length + unreadableCount,
    unreadable: unreadableCount,
    keys_revoked: count(leak => leak.kind === "revoked" && leak.isNew),
    keys_revoked_before: count(leak => leak.kind === "revoked" && !leak.isNew),
    no_secret_keys: count(leak => leak.kind === "no_secret_key"),
    failed: failures.length,
  })
  if (failures.length > 0) throw failures[0]
  return items.flatMap(item => {
    const leak = leaks.get(item.token)
    return leak === undefined ? [] : [leakLabel(item, leak)]
  })
}
