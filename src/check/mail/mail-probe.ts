import type { Deadline, Expiring } from "../../base/concurrency.ts"
import { assert } from "../../base/errors.ts"
import { type Finding, known, NOT_QUERIED, unknown } from "../../base/finding.ts"
import type { Clock } from "../../base/outside-world.ts"
import { isSameOrSubdomain } from "../address/public-suffix.ts"
import type { CacheStatus } from "../cache-status.ts"
import { type AskDns, type CachedDnsAnswer, type DnsAnswer, type DnsQuestion, txtValues } from "../dns/dns-types.ts"
import type { DetectedSuites, MailEvidence } from "../verdict/evidence.ts"
import { ALL_QUESTIONS, areAsked, QUESTIONS } from "../verdict/evidence-need.ts"
import { askDmarcPolicy } from "./dmarc.ts"
import { HOSTS_TIMEOUT_MS, type HostAddresses, lookupHostAddresses, type ResolvedHost } from "./host-addresses.ts"
import {
  isNxdomain,
  isOfSuite,
  lookupLinkedSuites,
  lookupOtherSuite,
  mailEvidence,
  nameExists,
  needsIpv6Address,
  operatorOf,
} from "./mail-evidence.ts"
import { type MailHosts, parseMailHosts } from "./mail-hosts.ts"
import { QuestionBudget } from "./question-budget.ts"
import { selectSpfRecord } from "./spf.ts"
import { detectSuites, NO_INDICATORS, type SuiteIndicator } from "./suite-indicators.ts"

/** What DNS tells about a domain's mail. */
export type MailProbeResult = CacheStatus & {
  readonly mail: Finding<MailEvidence>
  readonly suites: Finding<DetectedSuites>
  /** The mail hosts of no known provider whose addresses were looked up, the most preferred first. */
  readonly hosts: readonly ResolvedHost[]
}

/**
 * Looks up a domain's mail records. `organisationalDomain` is the registrable domain; it may be the domain itself. Both are
 * A-labels, lower case, without a trailing dot. At the deadline, the records that are there make the result. It asks at most
 * `QUESTIONS_MAX` DNS questions, of which at most `HOST_QUESTIONS_MAX` are about the addresses of mail hosts, and at most
 * `FOREIGN_QUESTIONS_MAX` about other names outside the organisational domain; and besides at most `DMARC_QUESTIONS_MAX` less one
 * about the DMARC records of parents. It rejects only for a defect of ours.
 *
 * `asked` are the questions that its caller needs (`QUESTIONS`); absent: all. What was not asked about is `not_asked`. If
 * `needsSuites` says so of the mail hosts, suites are asked about all the same; absent: never.
 */
export type MailProbe = (
  domain: string,
  organisationalDomain: string,
  deadline: Deadline,
  asked?: number,
  needsSuites?: NeedsSuites,
) => Promise<MailProbeResult>

/** Whether a suite would change what the mail hosts show. */
export type NeedsSuites = (found: MailHosts, hosts: readonly ResolvedHost[]) => boolean

type MailProbeDeps = {
  readonly ask: AskDns
  /** Asks about the names at and below the domain, whose answers other domains do not need. Absent: `ask`. */
  readonly askOnce?: AskDns
  readonly clock: Clock
  /** Whether to ask for a proof that the suite which the MX names is the domain's: a few questions more. Absent: never. */
  readonly needsSuiteProof?: (domain: string, organisationalDomain: string) => boolean
}

/** Builds a mail probe. */
export const createMailProbe =
  (deps: MailProbeDeps): MailProbe =>
  (domain, organisationalDomain, deadline, asked = ALL_QUESTIONS, needsSuites = () => false) =>
    new MailLookup(deps, { domain, organisationalDomain, deadline, asked, needsSuites }).start()

type MailQuery = {
  readonly domain: string
  readonly organisationalDomain: string
  readonly deadline: Deadline
  readonly asked: number
  readonly needsSuites: NeedsSuites
}

/** Whose a question is. `isOptional`: the result can do without its answer, and a failure leaves the others cached. It makes the result fresh for `failureTtlMs`. */
type Share = { readonly isOptional: boolean; readonly failureTtlMs: number }

/** The domain's own records. */
const OWN: Share = { isOptional: false, failureTtlMs: 1000 }
/** Names to which they lead: a dead include matters little, and must not make a good result short-lived. */
const LINKED: Share = { isOptional: false, failureTtlMs: 5000 }
/** The addresses of mail hosts, which have a deadline of their own. */
const HOSTS: Share = { isOptional: true, failureTtlMs: 5000 }
/** Its parents' DMARC records. */
const PARENTS: Share = { isOptional: true, failureTtlMs: 5000 }

type OwnType = "MX" | "TXT" | "A" | "AAAA"

/** A question on its way. It is waited for until its answer, the deadline, or until its answer is not needed any more. */
type Asked = {
  readonly share: Share
  readonly onAnswer: (answer: Finding<CachedDnsAnswer>) => void
  answer: Finding<CachedDnsAnswer> | null
  isWaitedFor: boolean
}

/**
 * One lookup on its way. Each answer shows what else is needed, and the lookup ends when nothing is waited for. Until the deadline, answers are those
 * of DNS; from then on every question is `timed_out` at once, pending ones too. A defect ends it, wherever it is met; what comes later changes nothing.
 */
class MailLookup implements Expiring {
  readonly #deps: MailProbeDeps
  readonly #query: MailQuery
  readonly #result = Promise.withResolvers<MailProbeResult>()
  readonly #budget: QuestionBudget
  /** The time of all questions about mail hosts. Null: none was asked. */
  #hostsDeadline: Deadline | null = null
  readonly #allAsked: Asked[] = []
  /** How many questions, and searches of several, the result waits for; before any is asked, for the start. */
  #waitingCount = 1
  #hasEnded = false
  #areAllCached = true
  #freshUntilMs: number | null = null
  /** The questions about the domain's own records. */
  readonly #own: { [Type in OwnType]?: Asked } = {}
  /** Receive the domain's address, should it be its own mail host. */
  readonly #onAddress: ((answer: Finding<DnsAnswer>) => void)[] = []
  #dmarcPolicy: ReturnType<typeof askDmarcPolicy> | null = null
  /** What the MX records tell. Null: that is not known. */
  #hosts: MailHosts | null = null
  #hostAddresses: HostAddresses | null = null
  #isProofNeeded = false
  /** Whether the suites that linked records show are needed. Null: mail hosts will tell. */
  #needsSuites: boolean | null = null
  #spf: MailEvidence["spf"] = NOT_QUERIED
  /** Null: they are not looked up yet. */
  #linkedSuites: readonly SuiteIndicator[] | null = null

  constructor(deps: MailProbeDeps, query: MailQuery) {
    this.#deps = deps
    this.#query = query
    this.#budget = new QuestionBudget(query.organisationalDomain)
  }

  /** Asks at once what is needed in any case. */
  start(): Promise<MailProbeResult> {
    const { domain, organisationalDomain, deadline, asked } = this.#query
    deadline.add(this)
    try {
      this.#isProofNeeded = this.#deps.needsSuiteProof?.(domain, organisationalDomain) === true
      if (areAsked(asked, QUESTIONS.suites)) this.#needsSuites = true
      this.#askOwn("MX")
      if (this.#needsSuites) this.#askOwn("TXT")
      if (areAsked(asked, QUESTIONS.records)) {
        this.#askOwn("A")
        // The tree walk has a bound of its own, and a long name must not use up the share of what is linked.
        this.#dmarcPolicy = askDmarcPolicy(domain, organisationalDomain, (name, isParent, onAnswer) =>
          this.#ask({ name, type: "TXT" }, isParent ? PARENTS : OWN, onAnswer),
        )
      }
      this.#endWait()
    } catch (error) {
      this.#fail(error)
    }
    return this.#result.promise
  }

  /** The deadline: what is waited for is timed out. */
  expire(share: Share | null = null): void {
    for (const asked of this.#allAsked) if (share === null || asked.share === share) this.#end(asked, TIMED_OUT)
  }

  #ask(question: DnsQuestion, share: Share, onAnswer: Asked["onAnswer"]): void {
    this.#send(question, { share, onAnswer, answer: null, isWaitedFor: true })
  }

  #send(question: DnsQuestion, asked: Asked): void {
    const { ask, askOnce = ask } = this.#deps
    const { deadline, domain } = this.#query
    this.#allAsked.push(asked)
    this.#waitingCount++
    if (deadline.isExpired || (asked.share === HOSTS && this.#hostsDeadline?.isExpired)) this.#end(asked, TIMED_OUT)
    else (isSameOrSubdomain(question.name, domain) ? askOnce : ask)(question, answer => this.#end(asked, answer))
  }

  #end(asked: Asked, answer: Finding<CachedDnsAnswer>): void {
    if (!asked.isWaitedFor || this.#hasEnded) return
    asked.isWaitedFor = false
    asked.answer = answer
    const { isOptional, failureTtlMs } = asked.share
    const untilMs = answer.known ? answer.value.freshUntilMs : this.#deps.clock() + failureTtlMs
    this.#freshUntilMs = Math.min(this.#freshUntilMs ?? untilMs, untilMs)
    this.#areAllCached &&= answer.known ? answer.value.isCached : isOptional
    try {
      asked.onAnswer(answer)
      this.#endWait()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Asks about a record of the domain's own, once. */
  #askOwn(type: OwnType): Asked {
    let asked = this.#own[type]
    if (asked === undefined) {
      asked = { share: OWN, onAnswer: () => this.#advance(), answer: null, isWaitedFor: true }
      this.#own[type] = asked
      this.#send({ name: this.#query.domain, type }, asked)
    }
    return asked
  }

  /** Asks what the answers about the domain's own records show to be needed, each time one is there. */
  #advance(): void {
    const { MX: mx, A: a } = this.#own
    if (a !== undefined && a.answer !== null) for (const receive of this.#onAddress.splice(0)) receive(a.answer)
    if (mx?.answer?.known !== true) return
    const isFirst = this.#hosts === null
    this.#hosts ??= parseMailHosts(mx.answer.value.records)
    // A broken server may deny a name for one record type only.
    if (isNxdomain(mx.answer)) this.#askOwn("TXT")
    if (!this.#hosts.acceptsMail) this.#askAddresses(mx.answer, this.#hosts)
    if (isFirst) this.#lookUpHosts(this.#hosts)
    this.#lookUpLinked(this.#hosts)
  }

  /** Asks for the addresses of a domain without a mail host. */
  #askAddresses(mx: Finding<DnsAnswer>, { isNullMx }: MailHosts): void {
    // At the same time as A, since an address must not come later to those who ask for none at first. Of a name that MX denies, A that
    // is under way already shows whether AAAA is worth a question.
    if (!isNullMx && !(areAsked(this.#query.asked, QUESTIONS.records) && isNxdomain(mx))) this.#askOwn("AAAA")
    const { answer: a } = this.#askOwn("A")
    if (a === null) return
    if (!isNullMx && needsIpv6Address(mx, a)) this.#askOwn("AAAA")
    else if (this.#own.AAAA !== undefined) {
      this.#own.AAAA.answer = null
      if (this.#own.AAAA.isWaitedFor) this.#endWait()
      this.#own.AAAA.isWaitedFor = false
    }
  }

  /** They are asked about before all other linked records, so that their questions are there. */
  #lookUpHosts(hosts: MailHosts): void {
    const { asked, needsSuites } = this.#query
    if (!hosts.acceptsMail) this.#budget.takeAddress()
    if (this.#needsSuites === null) {
      // Their names may show the need, and then nothing has to wait for their addresses.
      const named = hosts.accepting.filter(({ provider }) => provider === null).map(mx => ({ ...mx, addresses: [] }))
      const isOfProvenSuite = areAsked(asked, QUESTIONS.proof) && isOfSuite(hosts.operatedBy)
      if (isOfProvenSuite || needsSuites(hosts, named)) this.#needsSuites = true
    }
    const onEnd = (found: HostAddresses): void => {
      this.#hostAddresses = found
      this.#needsSuites ??= needsSuites(hosts, found.hosts)
      this.#lookUpLinked(hosts)
    }
    lookupHostAddresses((question, onAnswer) => this.#askHost(question, onAnswer), hosts.accepting, this.#budget, onEnd)
  }

  /** The domain may be its own mail host. */
  #askHost(question: DnsQuestion, onAnswer: (answer: Finding<DnsAnswer>) => void): void {
    if (question.type === "A" && question.name === this.#query.domain) {
      const { answer } = this.#askOwn("A")
      if (answer === null) this.#onAddress.push(onAnswer)
      else onAnswer(answer)
      return
    }
    if (this.#hostsDeadline === null) {
      this.#hostsDeadline = this.#query.deadline.ofPart(HOSTS_TIMEOUT_MS)
      this.#hostsDeadline.add({ expire: () => this.expire(HOSTS) })
    }
    this.#ask(question, HOSTS, onAnswer)
  }

  /** Looks up the suites to which other records lead, as soon as it is known whether they are needed and the SPF record is there. */
  #lookUpLinked(hosts: MailHosts): void {
    const { domain } = this.#query
    if (this.#needsSuites === null || this.#linkedSuites !== null) return
    const txt = this.#needsSuites ? this.#askOwn("TXT").answer : NOT_QUERIED
    if (txt === null || this.#linkedSuites !== null) return
    this.#linkedSuites = NO_INDICATORS
    this.#spf = txt.known ? known(selectSpfRecord(txtValues(txt.value))) : txt
    // A question that is not asked is no failure, and must not make the result short-lived: it is counted inside the limit.
    const resolver = this.#budget.limit(question => new Promise(resolve => this.#ask(question, LINKED, resolve)))
    const found = this.#needsSuites
      ? lookupLinkedSuites(resolver, domain, this.#isProofNeeded, hosts, this.#spf)
      : lookupOtherSuite(resolver, domain, hosts)
    if (!(found instanceof Promise)) {
      this.#linkedSuites = found
      return
    }
    this.#waitingCount++
    const end = (suites: readonly SuiteIndicator[]): void => {
      this.#linkedSuites = suites
      this.#endWait()
    }
    found.then(end).catch((error: unknown) => this.#fail(error))
  }

  #endWait(): void {
    this.#waitingCount--
    if (this.#waitingCount > 0 || this.#hasEnded) return
    this.#result.resolve(this.#found())
    this.#leave()
  }

  #fail(error: unknown): void {
    this.#result.reject(error)
    this.#leave()
  }

  #leave(): void {
    this.#hasEnded = true
    this.#query.deadline.delete(this)
    this.#hostsDeadline?.cancel()
  }

  #found(): MailProbeResult {
    const freshUntilMs = this.#freshUntilMs ?? this.#deps.clock()
    const status = { isCached: this.#freshUntilMs !== null && this.#areAllCached, freshUntilMs }
    const { MX, TXT, A, AAAA } = this.#own
    const mx = MX?.answer ?? TIMED_OUT
    const [hosts, addresses] = [this.#hosts, this.#hostAddresses]
    if (!mx.known) return { ...status, mail: mx, suites: mx, hosts: [] }
    assert(hosts !== null && addresses !== null, "an MX answer is read when it comes")
    const isAddressUsed = !hosts.acceptsMail || areAsked(this.#query.asked, QUESTIONS.records)
    const a = isAddressUsed ? (A?.answer ?? null) : null
    const records = { mx, txt: TXT?.answer ?? null, a, aaaa: AAAA?.answer ?? null }
    const linkedSuites = this.#linkedSuites ?? NO_INDICATORS
    const operatedBy = operatorOf(hosts, records, addresses, linkedSuites)
    const otherSuite = operatedBy === "other_suite" ? (hosts.provider?.key ?? null) : null
    const policies = {
      isUnreachable: addresses.areUnreachable,
      spf: this.#spf,
      dmarcPolicy: this.#dmarcPolicy?.(() => nameExists(records)) ?? NOT_QUERIED,
    }
    return {
      ...status,
      mail: mailEvidence(records, { ...hosts, operatedBy }, policies),
      suites: known(detectSuites([...hosts.indicators, ...linkedSuites], otherSuite)),
      hosts: addresses.hosts,
    }
  }
}

const TIMED_OUT: Finding<never> = unknown("timed_out")
