import { join } from "node:path"

/** What a judge says of an address; `refused`: it is disposable or invalid, and the judge does not tell which. */
export type PeerVerdict = "fine" | "disposable" | "invalid" | "refused"

/** Judges one address. */
export type Judge = (address: string) => PeerVerdict | Promise<PeerVerdict>

/** Somebody whom one may ask about an address, and what they can be asked. */
export type Peer = {
  readonly description: string
  /** Whether it can be asked if an address is one at all. */
  readonly seesInvalid: boolean
  /** Loads everything that it needs. Nothing of it is loaded before. */
  readonly load: () => Promise<Judge>
}

const PACK = join(import.meta.dir, "../../data/build/lists.pack")

/** This project, and what people use today. Nobody asks the network. */
export const PEERS = {
  mailkind: { description: "lists alone, up to the JSON of the full result", seesInvalid: true, load: ourJudge },
  mailchecker: { description: "isValid: one answer for both questions", seesInvalid: true, load: mailchecker },
  "deep-email-validator": {
    description: "regex, typo and disposable; MX and SMTP off",
    seesInvalid: true,
    load: deepValidator,
  },
  "disposable-email-domains": { description: "its names in a Set", seesInvalid: false, load: domainSet },
} as const satisfies Record<string, Peer>
export type PeerName = keyof typeof PEERS
export const PEER_NAMES = Object.keys(PEERS) as readonly PeerName[] // the keys are those of PEERS

async function ourJudge(): Promise<Judge> {
  const { detectSubjectKind: kindOf, parseSubject } = await import("../../src/check/address/parse-subject.ts")
  const {
    createCheck: checking,
    NO_CORRECTIONS,
    NO_OWN_LIST_MATCH: NO_STANDING,
  } = await import("../../src/check/check.ts")
  const { OFFLINE_DEEP_PROBE: NEVER_DEEP } = await import("../../src/check/deep-evidence.ts")
  const { openLists } = await import("../../src/check/domain-lookup.ts")
  const { offlineNetworkProbe: offline } = await import("../../src/check/network-evidence.ts")
  const { fullResultJson: fullText } = await import("../../src/check/result/result.ts")
  const opened = openLists(Bun.mmap(PACK), true)
  if (opened.kind === "refused") throw new Error(opened.message)
  const { lists } = opened
  const stopwatch = (): number => performance.now()
  const check = checking({
    activeLists: () => lists,
    networkProbe: offline,
    deepProbe: NEVER_DEEP,
    corrections: NO_CORRECTIONS,
    clock: Date.now,
    stopwatch,
  })
  return async address => {
    const subject = parseSubject(kindOf(address), address, "mailkind.test")
    const outcome = await check({
      subject,
      policy: "b2b",
      isDeep: false,
      includeTenant: true,
      ownListMatch: NO_STANDING,
    })
    // Whoever asks a server gets the whole result as text, so it is written here too.
    if (fullText(outcome, "req_0123456789abcdefghijkl") === "") throw new Error("nothing was written")
    const { category } = outcome.judged.verdict
    return category === "disposable" || category === "invalid" ? category : "fine"
  }
}

async function mailchecker(): Promise<Judge> {
  const { isValid } = await import("mailchecker")
  return address => (isValid(address) ? "fine" : "refused")
}

async function deepValidator(): Promise<Judge> {
  const { validate } = await import("deep-email-validator")
  const offlineParts = { validateRegex: true, validateTypo: true, validateDisposable: true }
  const onlineParts = { validateMx: false, validateSMTP: false }
  return async address => {
    const { valid, reason } = await validate({ email: address, ...offlineParts, ...onlineParts })
    if (valid) return "fine"
    return reason === "disposable" ? "disposable" : "invalid"
  }
}

async function domainSet(): Promise<Judge> {
  const { default: domains } = await import("disposable-email-domains/index.json")
  const held = new Set(domains)
  return address => (held.has(address.slice(address.lastIndexOf("@") + 1).toLowerCase()) ? "disposable" : "fine")
}
