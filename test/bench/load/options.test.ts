import { describe, expect, test } from "bun:test"
import { readOptions, WrongUse } from "../../../bench/load/options.ts"

describe("readOptions", () => {
  test("without options it is a GET over 64 connections for ten seconds", () => {
    expect(readOptions(["http://127.0.0.1:8080/"])).toMatchObject({
      method: "GET",
      connections: 64,
      durationMs: 10_000,
      warmupMs: 1000,
      requestsMax: null,
      pace: null,
      inputs: { kind: "none" },
      trustsAnybody: false,
      json: false,
    })
  })

  test("bodies make it a POST, unless a method is given", () => {
    expect(readOptions(["http://localhost/", "--bodies", "-"]).method).toBe("POST")
    expect(readOptions(["http://localhost/", "--bodies", "-", "--method", "PUT"]).method).toBe("PUT")
  })

  test("queries make it a GET to the path of the URL", () => {
    const { inputs, method } = readOptions(["http://localhost/v1/check", "--queries", "-"])
    expect([inputs, method]).toEqual([{ kind: "queries", file: "-" }, "GET"])
  })

  test("a key is sent as a bearer's, beside other headers", () => {
    const { headers } = readOptions(["http://localhost/", "--key", "svc_live_x", "--header", "X-B: 2"])
    expect(headers).toEqual({ Authorization: "Bearer svc_live_x", "X-B": "2" })
  })

  test("a rate makes it an open loop, in which ten thousand may wait unless told otherwise", () => {
    expect(readOptions(["http://localhost/", "--rate", "2.5"]).pace).toEqual({ perSecond: 2.5, waitingMax: 10_000 })
    expect(readOptions(["http://localhost/", "--rate", "9", "--waiting", "1"]).pace?.waitingMax).toBe(1)
  })

  test("a mix is read with its shares, and is posted", () => {
    const { inputs, method } = readOptions(["https://localhost", "--mix", "check=80,batch=10, domain=9.5,url=0.5"])
    expect(inputs).toEqual({ kind: "mix", mix: { check: 80, batch: 10, domain: 9.5, url: 0.5 } })
    expect(method).toBe("POST")
  })

  test("headers are read at their first colon", () => {
    const { headers } = readOptions([
      "http://localhost/",
      "--header",
      "Authorization: Bearer a:b",
      "--header",
      "X-B: 2",
    ])
    expect(headers).toEqual({ Authorization: "Bearer a:b", "X-B": "2" })
  })

  test.each([
    "http://127.0.0.1/",
    "http://127.8.8.8:1/",
    "http://[::1]:80/",
    "http://localhost/",
    "http://2130706433/",
  ])("%s is the loopback", address => {
    expect(readOptions([address]).url.protocol).toBe("http:")
  })

  test.each([
    "http://example.com/",
    "http://10.0.0.1/",
    "http://127.0.0.1.example.com/",
    "http://localhost.example.com/",
    "http://0.0.0.0/",
  ])("%s is refused, unless any address is allowed", address => {
    expect(() => readOptions([address])).toThrow("is not a loopback address")
    expect(readOptions([address, "--any-address"]).url.href).toBe(address)
  })

  test.each([
    [[]],
    [["http://localhost/", "http://localhost/"]],
    [["ftp://localhost/"]],
    [["http://jane:secret@localhost/"]],
    [["http://localhost/", "--method", "HEAD"]],
    [["http://localhost/", "--method", "GE T"]],
    [["http://localhost/", "--key", "two words"]],
    [["http://localhost/", "--key", ""]],
    [["http://localhost/", "--key", "k", "--header", "authorization: Bearer k"]],
    [["http://localhost/", "--rate", "0"]],
    [["http://localhost/", "--rate", "1000001"]],
    [["http://localhost/", "--waiting", "10"]],
    [["http://localhost/", "--rate", "10", "--waiting", "0"]],
    [["http://localhost/", "--mix", "check=1", "--bodies", "-"]],
    [["http://localhost/", "--queries", "-", "--bodies", "-"]],
    [["http://localhost/?a=1", "--queries", "-"]],
    [["http://localhost/", "--mix", "check=1", "--method", "PUT"]],
    [["http://localhost/v1/check", "--mix", "check=1"]],
    [["http://localhost/?a=1", "--mix", "check=1"]],
    [["http://localhost/", "--mix", ""]],
    [["http://localhost/", "--mix", "check"]],
    [["http://localhost/", "--mix", "check=0"]],
    [["http://localhost/", "--mix", "check=1,check=2"]],
    [["http://localhost/", "--mix", "toString=1"]],
    [["localhost:8080"]],
    [["http://localhost/", "--connections", "0"]],
    [["http://localhost/", "--connections", "4097"]],
    [["http://localhost/", "--connections", "1.5"]],
    [["http://localhost/", "--duration", "0"]],
    [["http://localhost/", "--duration", "86401"]],
    [["http://localhost/", "--warmup", ""]],
    [["http://localhost/", "--requests", "0"]],
    [["http://localhost/", "--header", "no colon"]],
    [["http://localhost/", "--unheard-of"]],
  ])("%j is a wrong use", args => {
    expect(() => readOptions(args)).toThrow(WrongUse)
  })
})
