/// <reference lib="esnext.disposable" />
import type { CheckResult, Policy } from "../client/api-types.ts"

export type { Category, CheckResult, Policy, Reason, Recommendation } from "../client/api-types.ts"

/** The options of `openMailkind`. Without any, DNS is asked through the servers of the system. */
export type OpenOptions = {
  /** DNS servers as `address` or `address:port`. `"off"`: the network is not used. Absent: the servers of the system. */
  readonly dns?: "off" | readonly string[] | undefined
  /** Time limit of one DNS question, in milliseconds, from 50 to 10,000. Absent: 1,500. */
  readonly dnsTimeoutMs?: number | undefined
  /** Time limit of all network requests of one check, in milliseconds, from 50 to 30,000. Absent: 3,000. */
  readonly checkTimeoutMs?: number | undefined
  /** Names that a working DNS server must know. If it denies them all, its answers are not believed. `"off"`: they always are. */
  readonly dnsCanaries?: "off" | readonly string[] | undefined
  /** Base address of the suite_b tenant look-up. `"off"`: tenants are not looked up. Absent: the real one. */
  readonly identityUrl?: string | undefined
  /** Addresses and domains that are blocked, as on the block list of an account: `acme.com`, `*.acme.com`, `jane@acme.com`. */
  readonly block?: readonly string[] | undefined
  /** Addresses and domains that are allowed, written in the same way. A blocked one stays blocked. */
  readonly allow?: readonly string[] | undefined
  /** The policy of checks that name none. Absent: `b2b`. */
  readonly policy?: Policy | undefined
  /** About how many domains that recur are remembered; twice as many at most. Absent: 5,000. */
  readonly cachedDomains?: number | undefined
  /** How much memory DNS answers take at most which many domains share, in bytes. Absent: 12 MiB. */
  readonly dnsCacheBytes?: number | undefined
  /** A file of lists to use instead of those of the package. It must not change while it is in use. */
  readonly listsFile?: string | undefined
}

/** What is checked and how: the body of `POST /v1/check`. Give exactly one of `email`, `domain` and `url`. */
export type CheckMembers = {
  readonly email?: string | undefined
  readonly domain?: string | undefined
  readonly url?: string | undefined
  readonly policy?: Policy | undefined
  /** Look up the age and the homepage of the domain too. */
  readonly deep?: boolean | undefined
  /** `false`: the suite_b tenant is not looked up. */
  readonly workspace?: boolean | undefined
  /** `false`: DNS is asked only for what decides the verdict. `mail`, `workspace` and `integrations` hold only that. */
  readonly mail?: boolean | undefined
}

/** An open check. Several can be open at the same time, and each has its own options and caches. */
export type OpenMailkind = AsyncDisposable & {
  /** The version of the lists. */
  readonly listsVersion: string
  /**
   * Checks one address, domain or URL, as `POST /v1/check` does. A text is an address if it has an `@`, a URL if it has a `/`, and else
   * a domain, as an item of a batch is: every text gets a result, which may be `invalid`. Rejects with a `MailkindError` for wrong
   * members (`invalid_input`) and after `close` (`closed`). A failed look-up never rejects: the result is `degraded`.
   */
  readonly check: (
    input: string | CheckMembers,
    options?: Omit<CheckMembers, "email" | "domain" | "url">,
  ) => Promise<CheckResult>
  /** Waits for the checks that run, then closes the sockets. Can be called more than once. */
  readonly close: () => Promise<void>
}

/** Why a `MailkindError` was thrown. */
export type MailkindErrorCode = "lists_missing" | "lists_damaged" | "invalid_option" | "invalid_input" | "closed"

/** What a program did wrong, or what is wrong with the lists. The message says what to do, and never holds an address. */
export declare class MailkindError extends Error {
  override readonly name: "MailkindError"
  readonly code: MailkindErrorCode
  constructor(code: MailkindErrorCode, message: string)
}

/** Opens the check. Rejects with a `MailkindError` for a wrong option, and for lists that are missing or damaged. */
export declare function openMailkind(options?: OpenOptions): Promise<OpenMailkind>
