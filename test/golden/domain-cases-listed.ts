import type { DomainCase } from "../support/domain-case.ts"

const ALL_SILENT = { "* @": "timed_out", "* _dmarc": "timed_out" } as const
const TENANT = "5c8d1f20-7a3b-4e69-8f04-91b2d7c6e35a"

/** Domains that lists know, with what they publish or without an answer. */
// biome-ignore format: a case a line
export const LISTED_CASES: readonly DomainCase[] = [
  { about: "gmail.com shows no suite_a", input: "jane@gmail.com", listed: ["personal"], records: { "MX @": ["5 gmail-smtp-in.l.google.com", "10 alt1.gmail-smtp-in.l.google.com", "20 alt2.gmail-smtp-in.l.google.com"], "TXT @": ["v=spf1 redirect=_spf.google.com"], "TXT _spf.google.com.": ["v=spf1 include:_netblocks.google.com ~all"], "TXT _dmarc": ["v=DMARC1; p=none; sp=quarantine; rua=mailto:mailauth-reports@google.com"], "A @": ["198.51.99.1"] } },
  { about: "outlook.com shows no suite_b, though a tenant would be told", input: "jane@outlook.com", listed: ["personal"], records: { "MX @": ["5 outlook-com.olc.protection.outlook.com"], "TXT @": ["v=spf1 include:spf2.outlook.com include:spf.protection.outlook.com ~all"], "TXT _dmarc": ["v=DMARC1; p=none"] }, identity: { tenant: "9188040d-6c67-4c5b-b112-36a304b66dad" } },
  { about: "gmail.com for a domain", input: "gmail.com", policy: "lenient", listed: ["personal"], records: { "MX @": ["5 gmail-smtp-in.l.google.com"] } },
  { about: "a personal domain, degraded", input: "jane@hotmail.com", listed: ["personal"], records: ALL_SILENT },
  { about: "a personal domain, degraded, under strict", input: "jane@yahoo.com", policy: "strict", listed: ["personal"], records: ALL_SILENT },
  { about: "a personal domain that DNS denies", input: "jane@web.de", listed: ["personal"], records: {} },
  { about: "a university on suite_b", input: "jane@ethz.ch", listed: ["education"], records: { "MX @": ["10 ethz-ch.mail.protection.outlook.com"], "TXT @": ["v=spf1 include:spf.protection.outlook.com -all"], "TXT _dmarc": ["v=DMARC1; p=quarantine"] }, identity: { tenant: TENANT, region: "EU", realm: "Managed" } },
  { about: "a university's faculty on suite_a", input: "jane@cs.mit.edu", listed: ["education_suffix"], records: { "MX @": ["1 aspmx.l.google.com"] } },
  { about: "a government body on suite_b's cloud for governments", input: "jane@nasa.gov", listed: ["government_suffix"], records: { "MX @": ["0 nasa-gov.mail.protection.office365.us"], "TXT @": ["v=spf1 include:spf.protection.office365.us -all"], "TXT _dmarc": ["v=DMARC1; p=reject"] }, identity: { tenant: TENANT, region: "USGov", realm: "Managed" } },
  { about: "a government body, degraded", input: "jane@bund.de", listed: ["government"], records: ALL_SILENT },
  { about: "a known organisation with null MX: no address there works", input: "jane@stripe.com", listed: ["organisation"], records: { "MX @": ["0 ."], "A @": ["198.51.99.1"] } },
  { about: "a known organisation with null MX, for a domain", input: "stripe.com", listed: ["organisation"], records: { "MX @": ["0 ."], "A @": ["198.51.99.1"] } },
  { about: "a known organisation on suite_a", input: "jane@shopify.com", listed: ["organisation"], records: { "MX @": ["1 aspmx.l.google.com"], "TXT @": ["v=spf1 include:_spf.google.com ~all"] } },
  { about: "a known organisation behind own hosts", input: "jane@siemens.com", listed: ["organisation"], records: { "MX @": ["10 mx1.siemens.com"] } },
  { about: "a known organisation, degraded", input: "jane@bosch.com", listed: ["organisation"], records: ALL_SILENT },
  { about: "a known organisation, degraded, under lenient", input: "jane@netflix.com", policy: "lenient", listed: ["organisation"], records: ALL_SILENT },
  { about: "a disposable domain with its hosts", input: "jane@mailinator.com", listed: ["disposable"], records: { "MX @": ["1 mail.mailinator.com", "1 mail2.mailinator.com"] }, identity: { tenant: TENANT } },
  { about: "a disposable domain, degraded, under lenient", input: "jane@yopmail.com", policy: "lenient", listed: ["disposable"], records: ALL_SILENT },
  { about: "a relay behind amazon", input: "jane@mozmail.com", listed: ["relay"], records: { "MX @": ["10 inbound-smtp.us-west-2.amazonaws.com"], "TXT @": ["v=spf1 include:amazonses.com -all"] }, identity: { tenant: TENANT } },
  { about: "a relay with its own hosts, under strict", input: "jane@duck.com", policy: "strict", listed: ["relay"], records: { "MX @": ["10 smtp-inbound1.duck.com"] } },
  { about: "the group service's domain", input: "friends@googlegroups.com", records: { "MX @": ["5 gmr-smtp-in.l.google.com"], "TXT @": ["v=spf1 redirect=_spf.google.com"] } },
]
