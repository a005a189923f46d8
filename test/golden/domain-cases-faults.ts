import type { DomainCase } from "../support/domain-case.ts"

const ALL_SILENT = { "* @": "timed_out", "* _dmarc": "timed_out" } as const
const TENANT = "5c8d1f20-7a3b-4e69-8f04-91b2d7c6e35a"

/** What does not answer, and what is answered from a cache. */
// biome-ignore format: a case a line
export const FAULT_CASES: readonly DomainCase[] = [
  // Without its MX a domain has only its lists; without the rest it has its MX.
  { about: "MX timed out", input: "jane@basil-cove.com", records: { "MX @": "timed_out", "A @": ["198.51.99.1"], "TXT @": ["v=spf1 include:_spf.google.com -all"] } },
  { about: "MX timed out, under strict", input: "jane@borage-cove.com", policy: "strict", records: { "MX @": "timed_out", "A @": ["198.51.99.1"] } },
  { about: "MX timed out, under lenient", input: "jane@caper-cove.com", policy: "lenient", records: { "MX @": "timed_out", "A @": ["198.51.99.1"] } },
  { about: "MX refused by every server", input: "jane@caraway-cove.com", records: { "MX @": "unavailable", "A @": ["198.51.99.1"] } },
  { about: "MX timed out for a domain that resolves", input: "cardamom-cove.com", records: { "MX @": "timed_out", "A @": ["198.51.99.1"] } },
  { about: "TXT timed out: nothing is said of SPF", input: "jane@chervil-cove.com", records: { "MX @": ["1 aspmx.l.google.com"], "TXT @": "timed_out", "TXT _dmarc": ["v=DMARC1; p=reject"] } },
  { about: "DMARC timed out: nothing is said of it", input: "jane@chive-cove.com", records: { "MX @": ["1 aspmx.l.google.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc": "timed_out" } },
  { about: "the organisational domain's DMARC timed out", input: "jane@eu.cilantro-cove.com", records: { "MX @": ["10 mx.cilantro-cove.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc.cilantro-cove.com.": "timed_out" } },
  { about: "the top-level domain's DMARC timed out: nothing is said of DMARC, and all else stands", input: "jane@salsify-cove.com", records: { "MX @": ["10 mx.salsify-cove.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc.com.": "timed_out" } },
  { about: "the organisational domain's DMARC counts, though the top-level domain's timed out", input: "jane@eu.scorzonera-cove.com", records: { "MX @": ["10 mx.scorzonera-cove.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc.scorzonera-cove.com.": ["v=DMARC1; p=reject"], "TXT _dmarc.com.": "timed_out" } },
  { about: "the domain's own DMARC counts, though the other timed out", input: "jane@eu.clove-cove.com", records: { "MX @": ["10 mx.clove-cove.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc": ["v=DMARC1; p=reject"], "TXT _dmarc.clove-cove.com.": "timed_out" } },
  { about: "TXT timed out behind a gateway", input: "jane@cumin-cove.com", records: { "MX @": ["10 us-smtp-inbound-1.mimecast.com"], "TXT @": "unavailable", "CNAME autodiscover": ["autodiscover.outlook.com"] } },
  { about: "addresses timed out, the MX is there", input: "jane@dill-cove.com", records: { "MX @": ["10 mx.dill-cove.com"], "TXT @": ["v=spf1 mx -all"], "A @": "timed_out", "AAAA @": "timed_out" } },
  { about: "addresses timed out, a null MX is there", input: "jane@garlic-cove.com", records: { "MX @": ["0 ."], "A @": "timed_out", "AAAA @": "timed_out" } },
  { about: "no MX, and A timed out", input: "jane@ginger-cove.com", records: { "TXT @": ["v=spf1 -all"], "A @": "timed_out" } },
  { about: "no MX, A timed out, AAAA there", input: "jane@hyssop-cove.com", records: { "A @": "timed_out", "AAAA @": ["2a01:4f8::1"] } },
  { about: "no name by MX, and A timed out", input: "jane@lovage-cove.com", records: { "MX @": "no_name", "TXT @": "no_name", "A @": "timed_out", "AAAA @": "timed_out" } },
  { about: "a placeholder, and addresses timed out", input: "jane@mace-cove.com", records: { "MX @": ["0 ms12345678.msv1.invalid.outlook.com"], "A @": "timed_out", "AAAA @": "timed_out" } },
  { about: "everything timed out for an address", input: "jane@marjoram-cove.com", records: ALL_SILENT },
  { about: "everything timed out for a domain", input: "mint-cove.com", records: ALL_SILENT },
  { about: "everything timed out for a website, under lenient", input: "https://mustard-cove.com/", policy: "lenient", records: ALL_SILENT },
  { about: "DNS is silent, the tenant is told", input: "jane@nutmeg-cove.com", records: ALL_SILENT, identity: { tenant: TENANT, region: "EU" } },
  // From a cache.
  { about: "asked again: from a cache", input: "jane@oregano-cove.com", again: true, records: { "MX @": ["1 aspmx.l.google.com"], "TXT @": ["v=spf1 -all"], "TXT _dmarc": ["v=DMARC1; p=none"] } },
  { about: "asked again with a tenant: from a cache", input: "jane@paprika-cove.com", again: true, records: { "MX @": ["0 paprika-cove-com.mail.protection.outlook.com"] }, identity: { tenant: TENANT, region: "EU" } },
  { about: "NXDOMAIN asked again: from a cache", input: "jane@parsley-cove.com", again: true, records: {} },
  { about: "a failure asked again is not from a cache", input: "jane@pepper-cove.com", again: true, records: ALL_SILENT },
]
