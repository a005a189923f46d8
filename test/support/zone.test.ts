import { describe, expect, test } from "bun:test"
import { known, unknown } from "../../src/base/finding.ts"
import type { DnsRecordType } from "../../src/check/dns/dns-types.ts"
import { zone } from "./zone.ts"

describe("the zone that tests ask", () => {
  const { resolver, ask, requests } = zone({
    "MX example.com": ["10 MX.example.com.", "0 ."],
    "A mx.example.com": ["192.0.2.1"],
    "TXT example.com": ["v=spf1 -all"],
    "SRV _s._tcp.deep.example.com": ["1 2 443 host.example.com"],
    "CNAME www.example.com": ["mx.example.com"],
    "CNAME astray.example.com": ["gone.example"],
    "CNAME a.loop.example": ["b.loop.example"],
    "CNAME b.loop.example": ["a.loop.example"],
    "MX dead.example": "timed_out",
    "* lame.example": "unavailable",
    "A gone.example": "no_name",
  })
  const reply = async (line: string) => {
    const [type = "", name = ""] = line.split(" ")
    const finding = await resolver({ name, type: type as DnsRecordType }) // the tests below name types only
    return finding.known ? finding.value.outcome : finding.cause
  }

  test("records come as they are written, names in lower case and without the last dot", async () => {
    expect(await resolver({ name: "example.com", type: "MX" })).toEqual(
      known({
        outcome: "records",
        records: [
          { type: "MX", preference: 10, exchange: "mx.example.com" },
          { type: "MX", preference: 0, exchange: "" },
        ],
        ttlS: 300,
      }),
    )
    const srv = await resolver({ name: "_s._tcp.deep.example.com", type: "SRV" })
    expect(srv.known && srv.value.records).toEqual([
      { type: "SRV", priority: 1, port: 443, target: "host.example.com" },
    ])
  })

  test("a name that is there without the type is told from one that is not there", async () => {
    expect(await reply("A example.com")).toBe("no_data")
    expect(await reply("TXT deep.example.com")).toBe("no_data")
    expect(await reply("TXT none.example.com")).toBe("no_name")
    expect(await reply("MX gone.example")).toBe("no_name")
  })

  test("an alias is followed, and a loop of them is a failure", async () => {
    expect(await reply("A www.example.com")).toBe("records")
    expect(await reply("TXT www.example.com")).toBe("no_data")
    expect(await reply("A astray.example.com")).toBe("no_data")
    expect(await reply("A a.loop.example")).toBe("unavailable")
  })

  test("faults are as named, for one type or for all", async () => {
    expect(await resolver({ name: "dead.example", type: "MX" })).toEqual(unknown("timed_out"))
    expect(await reply("A dead.example")).toBe("no_data")
    expect(await reply("TXT lame.example")).toBe("unavailable")
  })

  test("it counts what it was asked, and its answers tell how long they hold", async () => {
    requests.length = 0
    expect(await ask({ name: "", type: "NS" })).toEqual(
      known({
        outcome: "no_data",
        records: [],
        ttlS: 300,
        isCached: false,
        freshUntilMs: Date.UTC(2026, 0, 1) + 300_000,
      }),
    )
    expect(requests).toEqual(["NS ."])
  })
})
