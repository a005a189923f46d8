import { describe, expect, test } from "bun:test"
import { parseSettings, SETTINGS, unknownSetting } from "../../src/config/settings.ts"
import { TIER_MAX } from "../../src/contract/tiers.ts"

const valueFrom = (name: string, text: string): unknown => {
  const read = parseSettings({ [name]: text })
  return read.kind === "read" ? Reflect.get(read.settings, name) : read.faults
}
const isRefused = (name: string, text: string): boolean => parseSettings({ [name]: text }).kind === "faulty"

test("an empty environment gives every default", () => {
  const read = parseSettings({ PATH: "/bin", HOME: "/root" })
  expect(read.kind).toBe("read")
  if (read.kind === "read") {
    expect(read.settings.MAILKIND_PORT).toBe(8080)
    expect(Object.keys(read.settings)).toEqual(Object.keys(SETTINGS))
  }
})

test("every fault is told at once, each with its setting's name", () => {
  const read = parseSettings({
    MAILKIND_PORT: "70000",
    MAILKIND_LOG: "loud",
    MAILKIND_PROT: "1",
    MAILKIND_BASE_URL: "ftp://x",
  })
  expect(read.kind === "faulty" && read.faults.map(fault => fault.split(" ")[0])).toEqual([
    "MAILKIND_PROT",
    "MAILKIND_PORT",
    "MAILKIND_BASE_URL",
    "MAILKIND_LOG",
  ])
})

test("a name with a slip is told which setting it may mean", () => {
  const read = parseSettings({ MAILKIND_PROT: "1" })
  expect(read.kind === "faulty" && read.faults[0]).toContain("MAILKIND_PORT")
})

test("a setting of an earlier version is told with what replaces it, in the environment as in a file", () => {
  const read = parseSettings({ MAILKIND_METRICS_ALLOW: "10.0.0.0/8", MAILKIND_PRICING: "Free." })
  expect(read.kind === "faulty" && read.faults).toEqual([
    "MAILKIND_METRICS_ALLOW is no setting any more. MAILKIND_METRICS opens a listener for metrics: limit who reaches it by its address or a firewall",
    "MAILKIND_PRICING is no setting any more. Write the text into `pricing.md` in the data directory",
  ])
  expect(unknownSetting("backup_keep")).toBe(
    "backup_keep is no setting any more. The backups of the last week are kept, and at least seven",
  )
})

test("a setting that is empty counts as not set", () => {
  expect(valueFrom("MAILKIND_PORT", "")).toBe(8080)
  expect(valueFrom("MAILKIND_HOST", "  ")).toBe("127.0.0.1")
})

test("a fault never repeats the value, which may be a secret", () => {
  for (const name of Object.keys(SETTINGS)) {
    const read = parseSettings({ [name]: "s3cret\u0000://hunter2@@" })
    if (read.kind === "faulty") expect(read.faults.join()).not.toContain("hunter2")
  }
})

describe("values", () => {
  test("a port is 0 to 65535", () => {
    expect(valueFrom("MAILKIND_PORT", "0")).toBe(0)
    expect(valueFrom("MAILKIND_PORT", "65535")).toBe(65_535)
    for (const text of ["-1", "65536", "80.5", "0x50", "1e3", "eighty"])
      expect(isRefused("MAILKIND_PORT", text)).toBe(true)
  })

  test("a tier is one of the tiers", () => {
    expect(valueFrom("MAILKIND_DEFAULT_TIER", String(TIER_MAX))).toBe(TIER_MAX)
    expect(isRefused("MAILKIND_DEFAULT_TIER", String(TIER_MAX + 1))).toBe(true)
  })

  test("workers are a number from 1 to 128, or auto", () => {
    for (const [text, workers] of [
      ["1", 1],
      ["128", 128],
      ["auto", "auto"],
    ] as const)
      expect(valueFrom("MAILKIND_WORKERS", text)).toBe(workers)
    for (const text of ["0", "129", "-1", "2.5", "two", "1e2", "0x2", "AUTO"])
      expect(isRefused("MAILKIND_WORKERS", text)).toBe(true)
  })

  test("a base URL has no credentials, query or fragment and loses its last slash", () => {
    expect(valueFrom("MAILKIND_BASE_URL", "https://api.example.com/mk/")).toBe("https://api.example.com/mk")
    for (const text of [
      "api.example.com",
      "https:api.example.com",
      "https://u:p@example.com",
      "https://example.com?x",
      "https://example.com#x",
    ])
      expect(isRefused("MAILKIND_BASE_URL", text)).toBe(true)
  })

  test("a source of lists is a URL with the slashes of its scheme, and a file is one of this host, by its whole path", () => {
    for (const address of ["file:/etc/own", "file:///etc/own", "file://localhost/etc/own", "https://lists.example/own"])
      expect(isRefused("MAILKIND_LISTS_SOURCES", `own=${address}`)).toBe(false)
    for (const address of ["file:own", "file:../own", "file://etc/own", "https:lists.example", "lists.example"])
      expect(isRefused("MAILKIND_LISTS_SOURCES", `own=${address}`)).toBe(true)
  })

  test("trusted proxies are addresses and prefixes", () => {
    expect(valueFrom("MAILKIND_TRUSTED_PROXIES", "10.0.0.0/8, ::1,192.0.2.1")).toEqual([
      "10.0.0.0/8",
      "::1",
      "192.0.2.1",
    ])
    for (const text of ["proxy", "10.0.0.0/33", "10.0.0.0/", "::1/129", "10.0.0.0/8/8"])
      expect(isRefused("MAILKIND_TRUSTED_PROXIES", text)).toBe(true)
  })

  test("DNS servers are addresses with optional ports, or off", () => {
    for (const text of ["off", "127.0.0.1", "127.0.0.1:5353", "::1", "[::1]:5353,9.9.9.9"])
      expect(isRefused("MAILKIND_DNS_SERVERS", text)).toBe(false)
    for (const text of ["dns.example", "127.0.0.1:0", "127.0.0.1:70000", "[::1]:x"])
      expect(isRefused("MAILKIND_DNS_SERVERS", text)).toBe(true)
  })

  test("a mail server is a URL with a host, and perhaps a user, a password and a port", () => {
    for (const text of [
      "smtp://localhost",
      "smtp://127.0.0.1:1025/",
      "smtps://[::1]:465",
      "smtp://me:p%40ss@mx.example.com:65535",
      "smtps://key-only@mx_1.example.com",
      "smtp://mx.example.com?tls=required",
      "smtps://me:pw@mx.example.com:465/?tls=required",
    ])
      expect([text, isRefused("MAILKIND_SMTP_URL", text)]).toEqual([text, false])
    for (const text of [
      "mx.example.com",
      "http://mx.example.com",
      "smtp://",
      "smtp://me:pass@",
      "smtp://me:p@ss@mx.example.com",
      "smtp://mx.example.com:65536",
      "smtp://mx.example.com/path",
      "smtp://mx.example.com?pool=false",
      "smtp://mx.example.com?tls=optional",
      "smtp://mx.example.com?tls=",
      "smtp://mx.example.com?tls=required&pool=false",
      "smtp://mx.example.com?tls=required#x",
      "smtp://:pass@mx.example.com",
      "smtps://:@mx.example.com",
      "smtp://@mx.example.com",
      "smtp://mx example.com",
    ])
      expect([text, isRefused("MAILKIND_SMTP_URL", text)]).toEqual([text, true])
  })

  test("the sender of mails is an address, alone or behind a name", () => {
    for (const text of [
      "notices@example.com",
      "mailkind <notices@example.com>",
      "<notices@example.com>",
      '"Acme, Inc." <notices@example.com>',
    ])
      expect([text, isRefused("MAILKIND_MAIL_FROM", text)]).toEqual([text, false])
    for (const text of [
      "mailkind",
      "notices@example.com, joe@example.com",
      "Acme, Inc. <notices@example.com>",
      "mailkind notices@example.com",
      "me <a@b.example>, <c@d.example>",
      "a@b.example\r\nBcc: x@y.example",
    ])
      expect([text, isRefused("MAILKIND_MAIL_FROM", text)]).toEqual([text, true])
  })

  test("a secret never prints", () => {
    const read = parseSettings({ MAILKIND_SMTP_URL: "smtps://user:hunter2@mail.example.com" })
    expect(
      read.kind === "read" &&
        `${JSON.stringify(read.settings)}${Bun.inspect(read.settings)}${String(read.settings.MAILKIND_SMTP_URL)}`,
    ).not.toContain("hunter2")
    expect(read.kind === "read" && read.settings.MAILKIND_SMTP_URL?.reveal()).toContain("hunter2")
  })
})
