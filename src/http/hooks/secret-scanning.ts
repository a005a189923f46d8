import { Elysia } from "elysia"
import type { Log } from "../../base/log.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { LeakedKeyRevocation } from "../../customers/keys/keys.ts"
import type { RateLimiter } from "../../customers/quota/rate/rate-limiter.ts"
import { type BodyReservations, readBytes } from "../request/body.ts"
import type { JsonResponses } from "../response/json-responses.ts"
import { Problem } from "../response/problem.ts"
import {
  isSignatureValid,
  type LeakItem,
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
  /** Whoever reports has no key of ours. */
  readonly keyless: RateLimiter
  readonly clientOf: (request: Request) => string
  readonly findReporterKey: FindReporterKey
  /** Revokes the secret key that the text is; what it resolves with is durable. */
  readonly revokeLeaked: (text: string) => Promise<LeakedKeyRevocation>
  readonly log: Log
  readonly loadShedder: BodyReservations
}

/**
 * POST /hooks/secret-scanning: the programme that scans public code for secrets reports what looks like a key of ours. Each
 * secret key of a report is revoked before the report is answered with a label an item.
 *
 * It is refused in this order: too many reports of one client address, no signature, too many of all, not signed by the
 * reporter, too large, not signed, no report. Nothing is parsed, and no key is looked for, before the signature holds.
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
  const received = async (request: Request): Promise<LeakReport> => {
    admitReport(
      keyless,
      `leak reports from ${clientOf(request)}`,
      LIMITS.leakReportsPerSecond,
      "from one client address",
    )
    const signature = signatureFromHeaders(request.headers)
    if (signature === null) throw invalidSignature()
    admitReport(keyless, "leak reports", LIMITS.leakReportsGlobalPerSecond, "altogether")
    return await readSignedReport(request, signature, findReporterKey, loadShedder)
  }
  return new Elysia({ normalize: false }).post(
    ROUTES.postSecretScanning.path,
    async ({ request }) => {
      const labels = await revokeAndLabel(await received(request), revokeLeaked, log)
      return responses.json(labels, responses.requestId(request))
    },
    { parse: "none" },
  )
}

function admitReport(rates: RateLimiter, subject: string, limit: number, whose: string): void {
  const { waitS } = rates.admit(subject, { perSecond: limit, burst: limit * LIMITS.burstFactor })
  if (waitS === 0) return
  throw new Problem("rate_limited", `At most ${limit} leak reports a second are taken ${whose}.`, {
    retry_after: waitS,
    limit,
  })
}

async function readSignedReport(
  request: Request,
  signature: ReportSignature,
  reporterKey: FindReporterKey,
  bodies: BodyReservations,
): Promise<LeakReport> {
  const found = await reporterKey(signature.identifier)
  if (found.kind === "unavailable")
    throw new Problem("internal_error", "The reporter's public keys cannot be had now; send the report again later.")
  if (found.kind === "unknown") throw invalidSignature()
  const body = await readBytes(request, LIMITS.bodyBytesMax, bodies)
  if (!isSignatureValid(body, signature, found.key)) throw invalidSignature()
  return parseLeakReport(body)
}

/**
 * One refusal for whatever a signature lacks: the request has no valid credentials (RFC 9110 §15.5.2). A 401 must name a
 * scheme that would do (§11.6.1); that of these reports has no registered name but its header's.
 */
const invalidSignature = (): Problem =>
  new Problem(
    "unauthorized",
    "A leak report needs `Github-Public-Key-Identifier`, which names a key of the reporter, and `Github-Public-Key-Signature`, the signature of the whole body by that key.",
    {},
    { "WWW-Authenticate": 'Github-Public-Key-Signature realm="mailkind leak reports"' },
  )

/**
 * Revokes what was leaked, and gives the labels in the order of the items. One that fails keeps no other from being revoked,
 * and then all of it rejects: a report may come again and does no harm.
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
  const count = (isMeant: (leak: LeakedKeyRevocation) => boolean): number => [...leaks.values()].filter(isMeant).length
  log("info", "a leak report was received", {
    items: items.length + unreadableCount,
    unreadable: unreadableCount,
    keys_revoked: count(leak => leak.kind === "revoked" && leak.isNew),
    keys_revoked_before: count(leak => leak.kind === "revoked" && !leak.isNew),
    no_secret_keys: count(leak => leak.kind === "no_secret_key"),
    failed: failures.length,
  })
  if (failures.length > 0) throw failures[0]
  return items.flatMap((item: LeakItem) => {
    const leak = leaks.get(item.token)
    return leak === undefined ? [] : [leakLabel(item, leak)]
  })
}
