import type { DnsQuestion } from "../../src/check/dns/dns-types.ts"
import type { OnDefect } from "../../src/check/evidence-defects.ts"
import { createMailProbe } from "../../src/check/mail/mail-probe.ts"
import { createNetworkProbe, type NetworkProbe } from "../../src/check/network-evidence.ts"
import type { FakeTime } from "./time.ts"
import { asking, MAIL_HOST_ADDRESS, written, zone } from "./zone.ts"

/** The budget of a check or a batch that asks this outside. */
export const BUDGET_MS = 3000

/** An outside whose DNS is made up, each question as it was put to it, and what becomes of domains that have a name for it. */
export type FakeNetwork = {
  readonly outside: (time: FakeTime, onDefect?: OnDefect) => NetworkProbe
  /** `TYPE name` in order. Nothing between it and the check shares or keeps a question. */
  readonly requests: readonly string[]
}

/**
 * Any domain has a mail host and a DMARC policy of its own, except those whose names begin with `silent`, which never answer, and with
 * `broken`, where asking throws.
 */
export function fakeNetwork(): FakeNetwork {
  const requests: string[] = []
  const answer = (question: DnsQuestion, time: FakeTime) => {
    requests.push(written(question))
    if (question.name.includes("silent")) return Promise.withResolvers<never>().promise
    if (question.name.includes("broken")) throw new TypeError("the packet of jane@broken.com")
    const { name } = question
    const records = { [`MX ${name}`]: [`10 mx.${name}`], [`A ${name}`]: [MAIL_HOST_ADDRESS] }
    const policy = name.startsWith("_dmarc.") ? { [`TXT ${name}`]: ["v=DMARC1; p=none"] } : {}
    return zone({ ...records, ...policy }, 300, time.clock).ask(question)
  }
  return {
    requests,
    outside: (time, onDefect) => {
      const mail = createMailProbe({ ask: asking(question => answer(question, time)), clock: time.clock })
      return createNetworkProbe({
        probeMail: ({ domain, organisationalDomain, asked }, budget) =>
          mail(domain, organisationalDomain, budget, asked),
        probeTenant: null,
        isUnavailable: () => false,
        ...(onDefect && { onDefect }),
        clock: time.clock,
        setTimer: time.later,
        timeoutMs: BUDGET_MS,
        nextTick: queueMicrotask,
        queryTimeoutMs: BUDGET_MS / 2,
      })
    },
  }
}
