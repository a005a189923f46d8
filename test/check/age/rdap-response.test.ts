import { expect, test } from "bun:test"
import fc from "fast-check"
import { parseInstant, parseRegistration } from "../../../src/check/age/rdap-response.ts"
import { REGISTRY_ANSWERS } from "./registry-answers.ts"

const NOW = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000

const facts = (json: unknown, domain = "acme.com") => parseRegistration(json, domain, NOW)
const at = (text: string) => ({ kind: "registered", registeredAtMs: Date.parse(text) }) as const
const UNTOLD = { kind: "no_date" } as const
const UNREADABLE = { kind: "unreadable" } as const

const registered = (eventDate: unknown) => ({
  ldhName: "acme.com",
  events: [{ eventAction: "registration", eventDate }],
})

for (const { registry, domain, answer, registered: when } of REGISTRY_ANSWERS)
  test(`${registry}: the date is read as the registry means it`, () => {
    expect(facts(answer, domain)).toEqual(when === null ? UNTOLD : at(when))
  })

test("a response about another domain, or about no domain, is unreadable", () => {
  const events = [{ eventAction: "registration", eventDate: "2020-01-01T00:00:00Z" }]
  expect(facts({ ldhName: "other.com", events })).toEqual(UNREADABLE)
  expect(facts({ ldhName: "com", events })).toEqual(UNREADABLE)
  expect(facts({ ldhName: "www.acme.com", events })).toEqual(UNREADABLE)
  expect(facts({ ldhName: "", events })).toEqual(UNREADABLE)
  expect(facts({ unicodeName: "bücher.com", events })).toEqual(UNREADABLE)
  expect(facts({ objectClassName: "entity", ldhName: "acme.com", events })).toEqual(UNREADABLE)
  expect(facts({ objectClassName: "domain", events })).toEqual(at("2020-01-01T00:00:00Z"))
})

test("a response that is no object is unreadable", () => {
  for (const json of [null, 1, "acme.com", true, [], [registered("2020-01-01T00:00:00Z")]])
    expect(facts(json)).toEqual(UNREADABLE)
  expect(facts({})).toEqual(UNTOLD)
})

test("an error with status 200 counts as an error", () => {
  const about = registered("2020-01-01T00:00:00Z")
  expect(facts({ errorCode: 404, title: "Not Found" })).toEqual(UNTOLD)
  expect(facts({ errorCode: "404" })).toEqual(UNTOLD)
  for (const errorCode of [400, 429, 500, "?", {}, []]) expect(facts({ ...about, errorCode })).toEqual(UNREADABLE)
  expect(facts({ ...about, errorCode: null })).toEqual(at("2020-01-01T00:00:00Z"))
})

test("malformed events are skipped", () => {
  const good = { eventAction: " registration ", eventDate: " 2020-01-01T00:00:00Z " }
  const events = [null, 1, "registration", [], {}, { eventAction: 7 }, { eventAction: "registration" }, good]
  expect(facts({ events })).toEqual(at("2020-01-01T00:00:00Z"))
  for (const other of ["reregistration", "registrations", "transfer", "registration expiration", ""])
    expect(facts({ events: [{ ...good, eventAction: other }] })).toEqual(UNTOLD)
  for (const strange of [null, "2020-01-01", 7, {}]) expect(facts({ events: strange })).toEqual(UNTOLD)
})

test("of several registrations the earliest counts, and impossible ones are ignored", () => {
  const events = ["0001-01-01T00:00:00Z", "2015-01-01T00:00:00Z", "2012-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
  const all = { events: events.map(eventDate => ({ eventAction: "registration", eventDate })) }
  expect(facts(all)).toEqual(at("2012-01-01T00:00:00Z"))
})

test("a date counts from 1980 on, and up to a day ahead of our clock", () => {
  expect(facts(registered("1980-01-01T00:00:00Z"))).toEqual(at("1980-01-01T00:00:00Z"))
  expect(facts(registered("1979-12-31T23:59:59Z"))).toEqual(UNTOLD)
  expect(facts(registered("1970-01-01T00:00:00Z"))).toEqual(UNTOLD)
  expect(facts(registered(new Date(NOW + DAY_MS).toISOString()))).toEqual({
    kind: "registered",
    registeredAtMs: NOW + DAY_MS,
  })
  expect(facts(registered(new Date(NOW + DAY_MS + 1000).toISOString()))).toEqual(UNTOLD)
})

test("dates are read in the format of RFC 3339, and as registries write them", () => {
  const noon = Date.UTC(2020, 1, 29, 12, 30, 5)
  for (const written of [
    "2020-02-29T12:30:05Z",
    "2020-02-29t12:30:05z",
    "2020-02-29 12:30:05",
    "2020-02-29T12:30:05",
    "2020-02-29T12:30:05.999Z",
    "2020-02-29T12:30:05,5Z",
    "2020-02-29T13:30:05+01:00",
    "2020-02-29T13:30:05+0100",
    "2020-02-29T13:30:05+01",
    "2020-02-29T07:00:05-05:30",
    "2020-03-01T00:30:05+12:00",
    "2020-02-29 12:30:05 UTC",
    "2020-02-29T13:30:05+01:00[Europe/Paris]",
    " 2020-02-29T12:30:05Z\n",
  ])
    expect([written, parseInstant(written)]).toEqual([written, noon])
  expect(parseInstant("2020-02-29T12:30Z")).toBe(noon - 5000)
  expect(parseInstant("2020-02-29")).toBe(Date.UTC(2020, 1, 29))
  expect(parseInstant("2016-12-31T23:59:60Z")).toBe(Date.UTC(2017, 0, 1))
})

test("an impossible date or time is no date", () => {
  for (const written of [
    "2021-02-29T00:00:00Z",
    "2020-13-01",
    "2020-00-01",
    "2020-01-00",
    "2020-01-32",
    "2020-01-01T24:00:00Z",
    "2020-01-01T00:60:00Z",
    "2020-01-01T00:00:61Z",
    "2020-01-01T00:00:00+24:00",
    "2020-01-01T00:00:00+01:60",
    "0020-01-01",
    "20200101",
    "01/02/2020",
    "yesterday",
    "",
    "REDACTED",
    1_577_836_800,
    null,
    undefined,
    {},
    "2020-01-01T00:00:00Z2021",
  ])
    expect([written, parseInstant(written)]).toEqual([written, null])
})

test("every formatted instant is parsed back", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date("1980-01-01"), max: new Date("2100-01-01"), noInvalidDate: true }), date => {
      expect(parseInstant(date.toISOString())).toBe(Math.floor(date.getTime() / 1000) * 1000)
    }),
  )
})

test("no JSON makes it throw", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (json, events) => {
      facts(json)
      facts({ ldhName: "acme.com", events })
    }),
  )
})
