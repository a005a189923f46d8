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
      json: false,
    })
  })

  test("bodies make it a POST, unless a method is given", () => {
    expect(readOptions(["http://localhost/", "--bodies", "-"]).method).toBe("POST")
    expect(readOptions(["http://localhost/", "--bodies", "-", "--method", "PUT"]).method).toBe("PUT")
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
    [["https://localhost/"]],
    [["localhost:8080"]],
    [["http://localhost/", "--connections", "0"]],
    [["http://localhost/", "--connections", "4097"]],
    [["http://localhost/", "--connections", "1.5"]],
    [["http://localhost/", "--duration", "0"]],
    [["http://localhost/", "--duration", "601"]],
    [["http://localhost/", "--warmup", ""]],
    [["http://localhost/", "--requests", "0"]],
    [["http://localhost/", "--header", "no colon"]],
    [["http://localhost/", "--unheard-of"]],
  ])("%j is a wrong use", args => {
    expect(() => readOptions(args)).toThrow(WrongUse)
  })
})
