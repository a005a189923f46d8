import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type Finding, known, unknown } from "../../../src/base/finding.ts"
import { askDmarcPolicy, DMARC_QUESTIONS_MAX } from "../../../src/check/mail/dmarc.ts"
import type { DmarcPolicy } from "../../../src/check/verdict/evidence.ts"
import { settled } from "../../support/time.ts"
import { asking, type ZoneRecords, zone } from "../../support/zone.ts"

const OWN = "TXT _dmarc.acme.com"
const BELOW = "TXT _dmarc.mail.acme.com"

/** What is asked, and what comes of it. `registrable`: absent: the last two labels. */
async function walk(
  records: ZoneRecords,
  domain = "acme.com",
  { exists = true, registrable = domain.split(".").slice(-2).join(".") } = {},
) {
  const { ask, requests: questions } = zone(records)
  const parents: string[] = []
  const policyOfAnswers = askDmarcPolicy(domain, registrable, (name, isParent, onAnswer) => {
    if (isParent) parents.push(name)
    asking(ask)({ name, type: "TXT" }, onAnswer)
  })
  await settled()
  return { policy: policyOfAnswers(() => exists), questions, parents, policyOfAnswers }
}

const policy = async (...parts: Parameters<typeof walk>) => (await walk(...parts)).policy
const said = (finding: Finding<DmarcPolicy | null>) => (finding.known ? finding.value : finding.cause)
const policyOf = async (...texts: readonly string[]) => said(await policy({ [OWN]: texts }))
/** The policy of a subdomain without a record, which exists or not. */
const below = async (text: string, exists = true) => said(await policy({ [OWN]: [text] }, "mail.acme.com", { exists }))

describe("a record", () => {
  test("of the name itself gives its policy", async () => {
    expect(await policyOf("v=DMARC1; p=none")).toBe("none")
    expect(await policyOf("v=DMARC1; p=quarantine; rua=mailto:a@b.com")).toBe("quarantine")
    expect(await policyOf("v=DMARC1;p=reject;")).toBe("reject")
    expect(await policyOf("V = DMARC1 ;\tP = Reject ; pct=50")).toBe("reject")
    expect(await policyOf("v=DMARC1; rua=mailto:a@b.com; sp=none; p=reject")).toBe("reject")
    expect(await policyOf("other text", "v=DMARC1; p=reject", "v=spf1 -all")).toBe("reject")
  })

  test("is only a text whose first tag is the version of the RFC", async () => {
    for (const text of [
      "",
      "p=reject; v=DMARC1",
      " v=DMARC1; p=reject",
      "v=dmarc1; p=reject",
      "v=DMARC1p=reject",
      "v=DMARC2; p=reject",
      "v=DMARC10; p=reject",
      "DMARC1; p=reject",
    ])
      expect([text, await policyOf(text)]).toEqual([text, null])
    expect(await policyOf("v=dmarc1; p=reject", "v=DMARC1; p=none")).toBe("none")
  })

  test("has SP and HTAB as white space, and no other character", async () => {
    expect(await policyOf("v=DMARC1;\t p \t=\treject \t;rua= \tmailto:a@b.com\t")).toBe("reject")
    for (const odd of ["\u00a0", "\u000b", "\u000c", "\n", "\r", "\u2003", "\u3000", "\ufeff", "\u2028"]) {
      for (const text of [`v=DMARC1; p=reject${odd}`, `v=DMARC1; p=${odd}reject`, `v=DMARC1;${odd}p=reject`])
        expect([text, await policyOf(text)]).toEqual([text, null])
      for (const text of [`v=DMARC1${odd}; p=reject`, `v${odd}=DMARC1; p=reject`, `v=${odd}DMARC1; p=reject`])
        expect([text, await policyOf(text)]).toEqual([text, null])
      expect(await policyOf(`v=DMARC1; p=reject${odd}; rua=mailto:a@b.com`)).toBe("none")
      expect(await policyOf(`v=DMARC1; p=reject; sp=none${odd}; rua=${odd}mailto:a@b.com`)).toBeNull()
    }
  })

  test("that is not there, or not alone at its name, is none", async () => {
    expect(await policyOf()).toBeNull()
    expect(await policy({})).toEqual(known(null))
    expect(await policyOf("v=DMARC1; p=reject", "v=DMARC1; p=reject")).toBeNull()
  })

  test("with an invalid policy is `none` if reports are requested, else no policy", async () => {
    for (const tags of [
      ...["", "p=", "p=block", "p=reject; p=reject", "p", "p=reject; sp=block", "p=reject; sp="],
      ...["p=reject; np=block", "p=reject; np=", "p=reject; np=none; np=none", "sp=reject", "np=reject"],
    ]) {
      expect([tags, await policyOf(`v=DMARC1; ${tags}`)]).toEqual([tags, null])
      expect([tags, await policyOf(`v=DMARC1; ${tags}; rua=mailto:a@b.com`)]).toEqual([tags, "none"])
      expect([tags, await below(`v=DMARC1; ${tags}`)]).toEqual([tags, null])
      expect([tags, await below(`v=DMARC1; ${tags}; rua=mailto:a@b.com`)]).toEqual([tags, "none"])
    }
    expect(await policyOf("v=DMARC1")).toBeNull()
    expect(await policyOf("v=DMARC1; rua=b.com,https://b.com/r")).toBe("none")
    for (const rua of ["", "a@b.com", "mailto:", ",", ":x", "mailto: a"])
      expect([rua, await policyOf(`v=DMARC1; rua=${rua}`)]).toEqual([rua, null])
  })

  test("without a valid policy ends the search at the name: what is above does not hold", async () => {
    const above = { [OWN]: ["v=DMARC1; p=reject"] }
    expect(await policy({ ...above, [BELOW]: ["v=DMARC1; p=block"] }, "mail.acme.com")).toEqual(known(null))
  })

  test("holds whatever pct, rf and ri say, and whatever unknown tags do", async () => {
    for (const tags of ["pct=0", "pct=50", "pct=x", "rf=afrf; ri=1", "ri=; rf=", "x=y; t2=y; spp=none"])
      expect([tags, await policyOf(`v=DMARC1; p=reject; ${tags}`)]).toEqual([tags, "reject"])
  })

  test("that is tested holds one step weaker, in each of its policies", async () => {
    const weaker = { reject: "quarantine", quarantine: "none", none: "none" } as const
    for (const published of ["reject", "quarantine", "none"] as const) {
      const held = weaker[published]
      expect([published, await policyOf(`v=DMARC1; p=${published}; t=y`)]).toEqual([published, held])
      expect([published, await policyOf(`v=DMARC1; t = Y; p=${published}`)]).toEqual([published, held])
      expect([published, await below(`v=DMARC1; p=none; sp=${published}; t=y`)]).toEqual([published, held])
      expect([published, await below(`v=DMARC1; p=none; np=${published}; t=y`, false)]).toEqual([published, held])
      for (const t of ["n", "", "yes", "1", "y; t=y"])
        expect([t, await policyOf(`v=DMARC1; p=${published}; t=${t}`)]).toEqual([t, published])
    }
    expect(await policyOf("v=DMARC1; p=block; rua=mailto:a@b.com; t=y")).toBe("none")
  })
})

describe("a name without a record", () => {
  test("has the policy for subdomains of its organisational domain, else its policy", async () => {
    expect(await below("v=DMARC1; p=reject")).toBe("reject")
    expect(await below("v=DMARC1; p=reject; sp=none")).toBe("none")
    expect(await below("v=DMARC1; p=none; sp=quarantine")).toBe("quarantine")
    expect(await policyOf("v=DMARC1; p=reject; sp=none")).toBe("reject")
  })

  test("has the policy for names that do not exist, if it does not and there is one", async () => {
    const record = "v=DMARC1; p=none; sp=quarantine; np=reject"
    expect([await below(record, true), await below(record, false)]).toEqual(["quarantine", "reject"])
    const strict = "v=DMARC1; p=reject; np=none"
    expect([await below(strict, true), await below(strict, false)]).toEqual(["reject", "none"])
    expect(await below("v=DMARC1; p=none; sp=quarantine", false)).toBe("quarantine")
    expect(await below("v=DMARC1; p=reject", false)).toBe("reject")
    expect(said(await policy({ [OWN]: [record] }, "acme.com", { exists: false }))).toBe("none")
  })

  test("is not looked at for its existence if that decides nothing", async () => {
    for (const text of ["v=DMARC1; p=reject", "v=DMARC1; p=none; sp=reject; np=reject"]) {
      const { policyOfAnswers } = await walk({ [OWN]: [text] }, "mail.acme.com")
      const exists = () => {
        throw new Error("it decides nothing")
      }
      expect(policyOfAnswers(exists)).toEqual(known("reject"))
    }
  })

  test("has what stands above if several records stand at it or between", async () => {
    const above = { [OWN]: ["v=DMARC1; p=reject; sp=quarantine"] }
    expect(await policy({ ...above, [BELOW]: ["v=DMARC1; p=none", "v=DMARC1; p=none"] }, "mail.acme.com")).toEqual(
      known("quarantine"),
    )
    expect(await policy({ ...above, [BELOW]: ["v=DMARC1; psd=n", "v=DMARC1; psd=n"] }, "eu.mail.acme.com")).toEqual(
      known("quarantine"),
    )
    expect(await policy({ ...above, [BELOW]: ["something"] }, "mail.acme.com")).toEqual(known("quarantine"))
    const top = { "TXT _dmarc.com": ["v=DMARC1; p=reject; psd=y"], [OWN]: ["v=DMARC1; p=none", "v=DMARC1; p=none"] }
    expect(await policy(top, "mail.acme.com")).toEqual(known("reject"))
  })

  test("does not have its parent's policy if it has a record itself", async () => {
    const above = { [OWN]: ["v=DMARC1; p=reject"] }
    expect(await policy({ ...above, [BELOW]: ["v=DMARC1; p=none"] }, "mail.acme.com")).toEqual(known("none"))
    expect(await policy({ ...above, [BELOW]: ["v=DMARC1; p=none; sp=reject"] }, "mail.acme.com")).toEqual(known("none"))
  })

  test("has the record with the fewest labels among several, whatever the public suffixes are", async () => {
    const records = {
      "TXT _dmarc.b.acme.co.uk": ["v=DMARC1; p=none"],
      "TXT _dmarc.acme.co.uk": ["v=DMARC1; p=reject; sp=quarantine"],
    }
    expect(await policy(records, "a.b.acme.co.uk", { registrable: "acme.co.uk" })).toEqual(known("quarantine"))
    expect(await policy(records, "a.b.acme.co.uk", { registrable: "b.acme.co.uk" })).toEqual(known("quarantine"))
    const between = { "TXT _dmarc.eu.acme.com": ["v=DMARC1; p=reject"] }
    expect(await policy(between, "a.eu.acme.com")).toEqual(known("reject"))
  })

  test("has the record of the nearest parent that ends the walk", async () => {
    const records = {
      "TXT _dmarc.b.acme.com": ["v=DMARC1; p=reject; sp=none"],
      "TXT _dmarc.c.b.acme.com": ["v=DMARC1; p=none; sp=quarantine; psd=n"],
      [OWN]: ["v=DMARC1; p=reject; psd=n"],
    }
    expect(await policy(records, "a.c.b.acme.com")).toEqual(known("quarantine"))
    expect(await policy(records, "a.b.acme.com")).toEqual(known("reject"))
    const suffix = { ...records, "TXT _dmarc.c.b.acme.com": ["v=DMARC1; p=none; psd=y"] }
    expect(await policy(suffix, "a.c.b.acme.com")).toEqual(known("none"))
    expect(await policy(suffix, "d.a.c.b.acme.com")).toEqual(known("none"))
    for (const psd of ["u", "", "x", "y; psd=y", "yes"]) {
      const open = { ...records, "TXT _dmarc.c.b.acme.com": [`v=DMARC1; p=none; psd=${psd}`] }
      expect([psd, await policy(open, "a.c.b.acme.com")]).toEqual([psd, known("reject")])
    }
  })

  test("has no policy of a public suffix whose registrants it stands below, if that one has a record", async () => {
    const suffix = { "TXT _dmarc.bank": ["v=DMARC1; p=reject; sp=reject; np=quarantine; psd=Y"] }
    expect(await policy(suffix, "acme.bank")).toEqual(known("reject"))
    expect(await policy(suffix, "mail.acme.bank")).toEqual(known("reject"))
    expect(await policy(suffix, "acme.bank", { exists: false })).toEqual(known("quarantine"))
    expect(await policy(suffix, "bank", { registrable: "bank" })).toEqual(known("reject"))
    const both = { ...suffix, "TXT _dmarc.acme.bank": ["v=DMARC1; p=none"] }
    expect(await policy(both, "acme.bank")).toEqual(known("none"))
    expect(await policy(both, "mail.acme.bank")).toEqual(known("none"))
    const invalid = { ...suffix, "TXT _dmarc.acme.bank": ["v=DMARC1; p=block"] }
    expect(await policy(invalid, "mail.acme.bank")).toEqual(known(null))
    // The organizational domain is acme.bank, which has none; the record between does not count.
    const between = { ...suffix, "TXT _dmarc.eu.acme.bank": ["v=DMARC1; p=none"] }
    expect(await policy(between, "a.eu.acme.bank")).toEqual(known("reject"))
  })
})

describe("questions", () => {
  const asked = async (...parts: Parameters<typeof walk>) =>
    (await walk(...parts)).questions.map(question => question.replace("TXT _dmarc.", ""))
  const deep = (labels: number) => [...Array.from({ length: labels - 2 }, () => "a"), "acme", "com"].join(".")

  test("stop with the record of the name itself, and of the registrable domain if that ends the walk", async () => {
    const record = ["v=DMARC1; p=none"]
    expect(await asked({ [OWN]: record })).toEqual(["acme.com"])
    expect(await asked({ [BELOW]: record }, "mail.acme.com")).toEqual(["mail.acme.com", "acme.com"])
    expect(await asked({})).toEqual(["acme.com", "com"])
    expect(await asked({ [OWN]: record }, "a.mail.acme.com")).toEqual([
      ...["a.mail.acme.com", "acme.com"],
      ...["mail.acme.com", "com"],
    ])
    for (const psd of ["y", "n"])
      expect(await asked({ [OWN]: [`v=DMARC1; p=none; psd=${psd}`] }, "a.mail.acme.com")).toEqual([
        ...["a.mail.acme.com", "acme.com"],
        "mail.acme.com",
      ])
    expect(await asked({}, "acme.co.uk", { registrable: "acme.co.uk" })).toEqual(["acme.co.uk", "co.uk", "uk"])
    expect(await asked({}, "uk", { registrable: "uk" })).toEqual(["uk"])
  })

  test("about the name and its registrable domain, and then about all others, are sent at the same time", async () => {
    const { ask, requests } = zone({})
    askDmarcPolicy("a.b.mail.acme.com", "acme.com", (name, _, onAnswer) => asking(ask)({ name, type: "TXT" }, onAnswer))
    expect(requests.splice(0)).toEqual(["TXT _dmarc.a.b.mail.acme.com", OWN])
    await settled()
    expect(requests).toEqual(["TXT _dmarc.b.mail.acme.com", BELOW, "TXT _dmarc.com"])
  })

  test("are eight at most: from eight labels on the walk goes on with the last seven", async () => {
    for (const labels of [1, 2, 3, 6, 7, 8, 9, 10, 121, 122]) {
      const domain = labels === 1 ? "com" : deep(labels)
      const { questions, parents } = await walk({}, domain)
      // A name of 122 labels leaves no room for `_dmarc` before it.
      expect([labels, questions.length]).toEqual([labels, labels === 122 ? 7 : Math.min(labels, DMARC_QUESTIONS_MAX)])
      expect(parents.toSorted((one, other) => other.length - one.length)).toEqual(
        Array.from({ length: Math.min(labels, DMARC_QUESTIONS_MAX) - 1 }, (_, at, of = domain.split(".")) =>
          ["_dmarc", ...of.slice(Math.max(1, labels - 7) + at)].join("."),
        ),
      )
    }
  })

  test("about a name that is too long are not sent, and its parents are asked", async () => {
    const long = `${"a".repeat(60)}.${"a".repeat(60)}.${"a".repeat(60)}.${"a".repeat(60)}.com`
    const { policy: found, questions } = await walk({ "TXT _dmarc.com": ["v=DMARC1; p=reject"] }, long)
    expect(found).toEqual(known("reject"))
    expect(questions).toHaveLength(4)
  })
})

describe("a failed question", () => {
  const record = ["v=DMARC1; p=reject"]

  test("that decides leaves the policy unknown", async () => {
    expect(await policy({ [OWN]: "timed_out" })).toEqual(unknown("timed_out"))
    expect(await policy({ [BELOW]: "unavailable", [OWN]: record }, "mail.acme.com")).toEqual(unknown("unavailable"))
    expect(await policy({ [OWN]: "timed_out" }, "mail.acme.com")).toEqual(unknown("timed_out"))
    expect(await policy({ [BELOW]: record, [OWN]: "timed_out" }, "mail.acme.com")).toEqual(known("reject"))
    expect(await policy({ [BELOW]: "timed_out", [OWN]: record }, "a.mail.acme.com")).toEqual(unknown("timed_out"))
    expect(await policy({ [BELOW]: record, [OWN]: "timed_out" }, "a.mail.acme.com")).toEqual(unknown("timed_out"))
    const ended = { [BELOW]: ["v=DMARC1; p=reject; psd=n"], [OWN]: "timed_out" } as const
    expect(await policy(ended, "a.mail.acme.com")).toEqual(known("reject"))
  })

  test("about a public suffix decides only if there is no record below it", async () => {
    const silent = { "TXT _dmarc.com": "timed_out" } as const
    expect(await policy(silent)).toEqual(unknown("timed_out"))
    expect(await policy(silent, "mail.acme.com")).toEqual(unknown("timed_out"))
    expect(await policy({ ...silent, [OWN]: record })).toEqual(known("reject"))
    expect(await policy({ ...silent, [OWN]: record }, "mail.acme.com")).toEqual(known("reject"))
    expect(await policy({ ...silent, [BELOW]: record }, "a.mail.acme.com")).toEqual(known("reject"))
  })
})

describe("the examples of RFC 9989", () => {
  /** What the RFC leaves open in its records: each has its own policy, so that it shows which one holds. */
  const plain = (own: DmarcPolicy, others: DmarcPolicy) => [`v=DMARC1; p=${own}; sp=${others}`]
  const names = async (records: ZoneRecords, domain: string) => {
    const { policy: found, questions } = await walk(records, domain)
    const inOrder = questions.map(question => question.slice(4)).toSorted((one, other) => other.length - one.length)
    return [said(found), inOrder]
  }

  test("§4.10: a name of fourteen labels takes eight questions", async () => {
    expect(await names({}, "a.b.c.d.e.f.g.h.i.j.mail.example.com")).toEqual([
      null,
      [
        "_dmarc.a.b.c.d.e.f.g.h.i.j.mail.example.com",
        "_dmarc.g.h.i.j.mail.example.com",
        "_dmarc.h.i.j.mail.example.com",
        "_dmarc.i.j.mail.example.com",
        "_dmarc.j.mail.example.com",
        "_dmarc.mail.example.com",
        "_dmarc.example.com",
        "_dmarc.com",
      ],
    ])
  })

  test("§4.10.2: the record with the fewest labels, psd=n, and psd=y at the top-level domain", async () => {
    const mail = { "TXT _dmarc.mail.example.com": plain("reject", "quarantine") }
    const both = { ...mail, "TXT _dmarc.example.com": plain("reject", "none") }
    expect(said(await policy(both, "a.mail.example.com"))).toBe("none")
    const ended = { ...both, "TXT _dmarc.mail.example.com": ["v=DMARC1; p=reject; sp=quarantine; psd=n"] }
    expect(said(await policy(ended, "a.mail.example.com"))).toBe("quarantine")
    const top = { "TXT _dmarc.com": ["v=DMARC1; p=none; sp=reject; psd=y"] }
    expect(said(await policy(top, "a.mail.example.com"))).toBe("reject")
    const suffix = { ...both, "TXT _dmarc.example.com": ["v=DMARC1; p=none; sp=none; psd=y"] }
    expect(said(await policy(suffix, "a.mail.example.com"))).toBe("quarantine")
  })

  test("B.2: monitoring, reports to others, and a subdomain that is tested first", async () => {
    const reports = "rua=mailto:dmarc-feedback@example.com"
    expect(await policyOf(`v=DMARC1; p=none; ${reports}`)).toBe("none")
    expect(await policyOf(`v=DMARC1; p=none; ${reports}; ruf=mailto:auth-reports@example.com`)).toBe("none")
    expect(await policyOf(`v=DMARC1; p=none; ${reports}; ruf=mailto:auth-reports@thirdparty.example.net`)).toBe("none")
    const two = `${reports},mailto:tld-test@thirdparty.example.net`
    const testing = (text: string) => policy({ "TXT _dmarc.test.example.com": [text] }, "test.example.com")
    expect(said(await testing(`v=DMARC1; p=quarantine; ${two}; t=y`))).toBe("none")
    expect(said(await testing(`v=DMARC1; p=reject; ${two}`))).toBe("reject")
    // What authorises reports is no policy: it stands below _report, and its record has none.
    expect(await policyOf("v=DMARC1;")).toBeNull()
  })

  test("B.3: the author domain's own record holds", async () => {
    const records = { "TXT _dmarc.example.com": ["v=DMARC1; p=reject; aspf=r; rua=mailto:dmarc-feedback@example.com"] }
    expect(await names(records, "example.com")).toEqual(["reject", ["_dmarc.example.com"]])
  })

  const simple = {
    "TXT _dmarc.example.com": plain("reject", "quarantine"),
    "TXT _dmarc.signing.example.com": plain("none", "none"),
  }

  test("B.4.1: simple organizational and policy domain", async () => {
    expect(said(await policy(simple, "example.com"))).toBe("reject")
    expect(said(await policy(simple, "signing.example.com"))).toBe("none")
    // Below signing.example.com the record with the fewest labels holds.
    expect(said(await policy(simple, "a.signing.example.com"))).toBe("quarantine")
  })

  test("B.4.2: a deep walk finds the record of example.com in eight questions", async () => {
    expect(await names(simple, "a.b.c.d.e.f.g.h.i.j.k.example.com")).toEqual([
      "quarantine",
      [
        "_dmarc.a.b.c.d.e.f.g.h.i.j.k.example.com",
        "_dmarc.g.h.i.j.k.example.com",
        "_dmarc.h.i.j.k.example.com",
        "_dmarc.i.j.k.example.com",
        "_dmarc.j.k.example.com",
        "_dmarc.k.example.com",
        "_dmarc.example.com",
        "_dmarc.com",
      ],
    ])
    const skipped = { ...simple, "TXT _dmarc.f.g.h.i.j.k.example.com": ["v=DMARC1; p=none; psd=n"] }
    expect(said(await policy(skipped, "a.b.c.d.e.f.g.h.i.j.k.example.com"))).toBe("quarantine")
  })

  test("B.4.3: a public suffix with psd=y", async () => {
    const records = {
      "TXT _dmarc.bank.example": ["v=DMARC1; p=none; sp=reject; psd=y"],
      "TXT _dmarc.giant.bank.example": plain("quarantine", "none"),
    }
    const registrable = { registrable: "bank.example" }
    expect(said(await policy(records, "giant.bank.example", registrable))).toBe("quarantine")
    expect(said(await policy(records, "mail.giant.bank.example", registrable))).toBe("none")
    expect(said(await policy(records, "mail.mega.bank.example", registrable))).toBe("reject")
    expect(said(await policy(records, "mega.bank.example", registrable))).toBe("reject")
    const { questions } = await walk(records, "mail.mega.bank.example", registrable)
    expect(questions).not.toContain("TXT _dmarc.example")
  })
})

test("no text makes it throw", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async text =>
      [null, "none", "quarantine", "reject"].includes(await policyOf(`v=DMARC1; ${text}`)),
    ),
  )
})
