import type { DomainCase } from "../support/domain-case.ts"

/** Names that say what they are in words that hardly anyone else uses, and what is known beside them. */
// biome-ignore format: a case a line
export const PATTERN_CASES: readonly DomainCase[] = [
  { about: "a town by its name, with mail of its own", input: "jane@cityofappleford.us", records: { "MX @": ["10 mx.cityofappleford.us"] } },
  { about: "a school by its name, under strict", input: "jane@gymnasium-appleford.de", policy: "strict", records: { "MX @": ["10 mx.gymnasium-appleford.de"] } },
  { about: "a host below a town's name", input: "jane@clerk.townofappleford.org", records: { "MX @": ["10 mx.townofappleford.org"] } },
  { about: "a town by its name, with an address only", input: "jane@mairie-appleford.fr", records: { "A @": ["198.51.99.1"] } },
  { about: "a town's name as a website", input: "http://www.cm-appleford.pt/", records: { "A @": ["198.51.99.1"] } },
  { about: "a town's name without mail host and address", input: "jane@gmina-appleford.pl", records: { "TXT @": ["v=spf1 -all"] } },
  { about: "a town's name that does not exist", input: "jane@villageofappleford.com", records: {} },
  { about: "a school with mail at suite_a: known mail comes first", input: "jane@lycee-appleford.fr", records: { "MX @": ["1 aspmx.l.google.com"] } },
  { about: "a town's name on the disposable list: a listing wins", input: "jane@townofstonington.com", listed: ["disposable"], records: { "MX @": ["10 mx.townofstonington.com"] } },
  { about: "a town's name under a suffix that is free", input: "jane@cityofappleford.eu.cc", listed: ["free_subdomain"], records: { "MX @": ["10 mx.cityofappleford.eu.cc"] } },
  { about: "a town's name below another's", input: "jane@cityofappleford.acme-village.us", records: { "MX @": ["10 mx.acme-village.us"], "A mx.acme-village.us.": ["20.1.2.3"] } },
  { about: "a driving school, which is none", input: "jane@fahrschule-appleford.de", records: { "MX @": ["10 mx.fahrschule-appleford.de"] } },
  { about: "a town's name while DNS is away", input: "jane@countyofappleford.org", records: { "MX @": "timed_out", "A @": "timed_out", "AAAA @": "timed_out", "TXT @": "timed_out" } },
]
